// The folder and the version of this package, the same from src/ and from the bundle in dist/.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** The folder that holds views/, prisma/ and package.json. */
export const packageRoot = folderOfPackage(import.meta.dirname);

/** The folder of the templates and assets. */
export const viewsDir = path.join(packageRoot, 'views');

/** The folders of the files that browsers load: scripts, and what `npm run build` makes (style sheets, icons, font). */
export const assetDirs = [path.join(viewsDir, 'assets'), path.join(packageRoot, 'dist', 'assets')];

/** Returns the version in package.json. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/** The file of a module of src/ that a worker thread loads, such as `config-file/parse-task.ts`: the source, or its bundle in dist/. */
export function workerModule(source: string): URL {
  const isBundled = !import.meta.url.endsWith('.ts');
  const file = isBundled ? path.join('dist', source.replace(/\.m?[jt]s$/, '.js')) : path.join('src', source);
  return pathToFileURL(path.join(packageRoot, file));
}

function folderOfPackage(from: string): string {
  let folder = from;
  while (!existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error(`no package.json above ${from}`);
    folder = parent;
  }
  return folder;
}
