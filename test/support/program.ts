// The programs of src in a process of their own: compiled, as `npm test` has just built them and as they ship, which starts three
// times as fast; the sources where something changed since the build.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

let isBuilt: boolean | undefined;

/** The arguments for Node that start a program, before its own arguments. */
export function programArguments(name: 'main' | 'cli'): string[] {
  isBuilt ??= changedAt('dist/main.js') >= Math.max(...sources().map(changedAt));
  return isBuilt
    ? [path.resolve(`dist/${name}.js`)]
    : ['--import', import.meta.resolve('tsx'), path.resolve(`src/${name}.ts`)];
}

function sources(): string[] {
  const files = readdirSync('src', { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => path.join(entry.parentPath, entry.name));
}

function changedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
