// The folder and the version of this package, the same from src/ and from dist/.
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The folder that holds views/, prisma/ and package.json. */
export const packageRoot = path.resolve(import.meta.dirname, '../..');

/** The folder of the templates and assets. */
export const viewsDir = path.join(packageRoot, 'views');

/** Returns the version in package.json. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  return version;
}
