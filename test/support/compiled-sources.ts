// Tests load src/ as plain modules of Node: esbuild compiles it once per change, in a second, instead of Vitest module by module, in
// each run that finds no cache. Node's imports are bindings; those of Vitest are a getter, or a proxy, at each use, which takes 12
// to 18 % of the CPU time of a file.
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin as Compiler } from 'esbuild';
import type { ParsedStack } from 'vitest';
import type { Plugin } from 'vitest/config';
import { filesUnder } from './source/imports.ts';

const root = path.resolve(import.meta.dirname, '../..');
const sources = path.join(root, 'src');
/** The same for each state of src/, because Vitest keeps what the imports of a test file lead to. */
const folder = path.join(root, 'node_modules/.cache/gatehouse/src');
/** The state of src/ that was compiled. */
const stateFile = path.join(folder, 'state');

/** What Vitest must not transform. */
export const compiledFiles = /\/node_modules\/\.cache\/gatehouse\//;

/** Compiles src/ unless that was done since its last change; imports of it lead to the compiled files. */
export async function compiledSources(): Promise<Plugin> {
  const files = filesUnder(sources, '.ts');
  const changed = Math.max(...[...files, import.meta.filename].map((file) => statSync(file).mtimeMs));
  const state = `${files.length} files, ${changed}`;
  if (!isCompiled(state)) await compile(files, state);
  return {
    name: 'compiled-sources',
    enforce: 'pre',
    resolveId(specifier, importer) {
      if (!importer || !specifier.startsWith('.')) return undefined;
      const compiled = path.join(folder, path.relative(sources, path.resolve(path.dirname(importer), specifier)));
      const file = compiled.replace(/\.ts$/, '.mjs');
      return file.startsWith(folder) && specifier.endsWith('.ts') && existsSync(file) ? file : undefined;
    },
  };
}

const isCompiled = (state: string) => existsSync(stateFile) && readFileSync(stateFile, 'utf8') === state;

/** Beside the folder, which it then takes the place of: another run never finds half of the files. */
async function compile(files: readonly string[], state: string): Promise<void> {
  const making = `${folder}-${process.pid}`;
  await build({
    entryPoints: [...files],
    outbase: sources,
    outdir: making,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: `node${process.versions.node}`,
    sourcemap: true,
    sourcesContent: false,
    plugins: [oneByOne],
  });
  writeFileSync(path.join(making, path.basename(stateFile)), state);
  const old = `${making}-old`;
  try {
    if (existsSync(folder) && !isCompiled(state)) renameSync(folder, old);
    renameSync(making, folder);
  } catch (error) {
    // Another run has compiled the same at the same moment.
    if (!isCompiled(state)) throw error;
  }
  for (const left of [old, making]) rmSync(left, { recursive: true, force: true });
}

/** Compiles each file apart, and leaves it where it was in its own eyes. */
const oneByOne: Compiler = {
  name: 'one-by-one',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.{1,2}\// }, ({ kind, path: specifier }) =>
      kind === 'entry-point' ? undefined : { path: specifier.replace(/\.ts$/, '.mjs'), external: true },
    );
    onLoad({ filter: /\.ts$/ }, ({ path: file }) => ({
      contents: readFileSync(file, 'utf8')
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file)))
        .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(file))),
      loader: 'ts',
    }));
  },
};

const maps = new Map<string, SourceMap>();

/** Shows the place in src/ in a stack trace (`onStackTrace` of Vitest). */
export function showSource(_error: unknown, frame: ParsedStack): void {
  if (!compiledFiles.test(frame.file)) return;
  const map = maps.get(frame.file) ?? new SourceMap(JSON.parse(readFileSync(`${frame.file}.map`, 'utf8')));
  maps.set(frame.file, map);
  const origin = map.findOrigin(frame.line, frame.column);
  if (!('fileName' in origin)) return;
  const file = fileURLToPath(new URL(origin.fileName, pathToFileURL(frame.file)));
  Object.assign(frame, { file, line: origin.lineNumber, column: origin.columnNumber });
}
