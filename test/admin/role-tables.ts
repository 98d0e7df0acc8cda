// The tables of docs/roles.md, from which the tests of the built-in roles are made.
import { readFileSync } from 'node:fs';

export const builtIn = ['admin', 'user-manager', 'application-manager', 'auditor', 'support'] as const;
export type BuiltIn = (typeof builtIn)[number];

/** Row -> built-in role -> cell, of the tables whose first column has this heading. */
export function tableOf(heading: string): Map<string, Record<BuiltIn, string>> {
  const lines = readFileSync('docs/roles.md', 'utf8').split('\n');
  const cellsOf = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const rows = new Map<string, Record<BuiltIn, string>>();
  let columns: string[] | undefined;
  for (const line of lines) {
    const [first = '', ...cells] = line.startsWith('|') ? cellsOf(line) : [];
    if (!line.startsWith('|')) columns = undefined;
    else if (first === heading && cells.includes('`admin`')) columns = cells.map((cell) => cell.replaceAll('`', ''));
    else if (columns && !first.startsWith('---')) {
      const named = columns.map((role, index) => [role, cells[index] ?? '']);
      rows.set(first.replace(/^`(\S+)`$/, '$1'), Object.fromEntries(named) as Record<BuiltIn, string>);
    }
  }
  return rows;
}

/** Permission -> the built-in roles that contain it. */
export function permissionTable(): Map<string, BuiltIn[]> {
  const rows = [...tableOf('Permission')];
  return new Map(rows.map(([permission, cells]) => [permission, builtIn.filter((role) => cells[role] === 'yes')]));
}
