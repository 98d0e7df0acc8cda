// The tables of docs/roles.md, from which the tests of the built-in roles are made.
import { readFileSync } from 'node:fs';

export const builtIn = ['admin', 'user-manager', 'application-manager', 'auditor', 'support'] as const;
export type BuiltIn = (typeof builtIn)[number];

const cellsOf = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replace(/^`([^`]+)`$/, '$1'));

/** The rows of the table whose first column has this heading: its first cell, and the others by the heading of their column. */
function rowsOf(heading: string): [first: string, cells: Record<string, string>][] {
  const [, table = ''] = readFileSync('docs/roles.md', 'utf8').split(`\n| ${heading} |`);
  const [head = '', , ...lines] = (table.split('\n\n')[0] ?? '').split('\n');
  const columns = cellsOf(`|${head}`);
  return lines.map((line) => {
    const [first = '', ...cells] = cellsOf(line);
    return [first, Object.fromEntries(cells.map((cell, index) => [columns[index], cell]))];
  });
}

/** Permission -> the built-in roles that contain it. */
export function permissionTable(): Map<string, BuiltIn[]> {
  const listed = rowsOf('Resource').map(([resource, cells]) => ({
    resource,
    actionsOf: (role: BuiltIn) => cells[role]?.split(', ') ?? [],
  }));
  return new Map(
    listed.flatMap(({ resource, actionsOf }) =>
      actionsOf('admin').map((action) => [
        `gatehouse.${resource}:${action}`,
        builtIn.filter((role) => actionsOf(role).includes(action)),
      ]),
    ),
  );
}

/** Action on a user -> built-in role -> on which users. */
export function actionsOnUsers(): Map<string, Record<BuiltIn, string>> {
  return new Map(
    rowsOf('Action on a user').flatMap(([actions, cells]) => {
      const users = { admin: 'everybody', 'application-manager': 'nobody', ...cells } as Record<BuiltIn, string>;
      return actions.split('; ').map((action) => [action, users] as const);
    }),
  );
}

/** Another action -> the built-in roles that it is allowed for. */
export function otherActions(): Map<string, string[]> {
  return new Map(
    rowsOf('Other action').flatMap(([actions, { 'Allowed for': roles = '' }]) =>
      actions.split('; ').map((action) => [action, roles.replaceAll('`', '').split(', ')] as const),
    ),
  );
}
