// Reads what a TypeScript file imports, without running it: the architecture test judges the tree by it, and
// the test configuration finds the tests that open a database.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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

// What these offer differs by database. A browser sees none of it, so browser tests run on SQLite alone.
const databaseModules = ['database.ts', 'postgres.ts', 'idp.ts'];
const browserModules = ['browser.ts'];
// Costly, and about hashes, exit codes, addresses and messages rather than what is stored.
const onceIsEnough = [
  'cli/process.test.ts',
  'credentials/equal-time.test.ts',
  'flows/saml-identifiers.test.ts',
  'flows/saml-settings.test.ts',
  'logout/wrong-answers.test.ts',
  'reset/host-header.test.ts',
  'signin/imported-hash.test.ts',
];

/** The tests to repeat on PostgreSQL: they reach a database, directly or through a helper, and no browser. */
export function databaseTests(folder: string): string[] {
  const reaches = (file: string, modules: string[], seen = new Set<string>()): boolean => {
    if (seen.has(file) || !existsSync(file)) return false;
    seen.add(file);
    if (modules.some((name) => file === path.join(folder, 'support', name))) return true;
    return importsOf(file).some(
      (found) => found.file?.startsWith(`${folder}${path.sep}`) && reaches(found.file, modules, seen),
    );
  };
  const isRepeated = (file: string) => !onceIsEnough.includes(path.relative(folder, file));
  return filesUnder(folder, '.test.ts').filter(
    (file) => isRepeated(file) && reaches(file, databaseModules) && !reaches(file, browserModules),
  );
}
