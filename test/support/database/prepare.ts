// Runs prepare-database.ts in a process of its own: the two projects prepare at the same time, and the migration
// engine (one WebAssembly memory) serves one database at a time.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { FirstAdmin } from '../../../src/config-file/first-admin.ts';

export interface Prepared {
  /** Rows of signing_keys as JSON. */
  signingKeys: string;
  /** The administrator of the installed database, with the temporary password. */
  firstAdmin: FirstAdmin;
}

/** Makes an empty, migrated database, and one as after the first start of a server. */
export async function prepare(url: string, installedUrl: string): Promise<Prepared> {
  const program = path.join(import.meta.dirname, 'prepare-database.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program, url, installedUrl]);
  return JSON.parse(stdout);
}
