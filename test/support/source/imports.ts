// Reads what a TypeScript file imports, without running it: the architecture test judges the tree by it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Import {
  /** As written: `koa`, `node:fs`, `../keys/keyring.ts`. */
  specifier: string;
  /** The imported file for a relative specifier, relative to the working directory. */
  file?: string;
  typeOnly: boolean;
  line: number;
}

const statement =
  /^[ \t]*(?:import|export)\s+(type\s+)?(?:[^'"();]*?\bfrom\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;

/** Every static import, re-export and `import()` of a literal in the file. */
export function importsOf(file: string): Import[] {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(statement)].map((match) => {
    const specifier = match[2] ?? match[3] ?? '';
    return {
      specifier,
      file: specifier.startsWith('.') ? path.normalize(path.join(path.dirname(file), specifier)) : undefined,
      typeOnly: match[1] !== undefined,
      line: source.slice(0, match.index).split('\n').length,
    };
  });
}

/** Every file under the folder whose name ends so, sorted. */
export function filesUnder(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => path.join(folder, name))
    .sort();
}
