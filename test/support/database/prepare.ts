// Runs prepare-database.ts in a process of its own: the two projects prepare at the same time, and the migration
// engine (one WebAssembly memory) serves one database at a time.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

/** Migrates the database and returns the rows of signing_keys for it as JSON. */
export async function prepare(url: string): Promise<string> {
  const program = path.join(import.meta.dirname, 'prepare-database.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program, url]);
  return stdout;
}
