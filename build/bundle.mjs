// Bundles src/ with esbuild. The server and the command line are bundled apart: one bundle for both would split what they
// share into some 200 small files, and each costs the start of the server time.
// A bundle instead of 1,500 modules halves the start, and dist/ runs without node_modules. Paths come from base/platform/package.ts, because
// import.meta.url says nothing about folders of src/ in a bundle.
import path from 'node:path';
import { build } from 'esbuild';
import { leanEngine } from './engine.mjs';
import { runtimePackages } from './packages.mjs';

/** Modules that worker threads load (`workerModule` in src/base/platform/package.ts). */
const workers = [
  'applications/brand/images/task.ts',
  'config-file/parse-task.ts',
  'people/credentials/workers/bcrypt.mjs',
  'people/credentials/workers/strength.mjs',
  'people/credentials/workers/thread.mjs',
];

/**
 * Returns the files of dist/ (path relative to dist/ -> content) and the source files that they were made from, relative to
 * `root`. Throws when a file cannot be bundled.
 */
export async function bundle(root) {
  const results = await Promise.all([
    run(root, ['main.ts'], { splitting: true, chunkNames: 'server/[name]-[hash]' }),
    run(root, ['cli.ts'], { splitting: true, chunkNames: 'commands/[name]-[hash]' }),
    run(root, workers, {}),
  ]);
  const outputs = results.flatMap(({ outputFiles }) => outputFiles);
  const files = new Map(
    outputs.map(({ path: file, contents }) => [path.relative(path.join(root, 'dist'), file), contents]),
  );
  return { files, inputs: new Set(results.flatMap(({ metafile }) => Object.keys(metafile.inputs))) };
}

function run(root, entries, options) {
  return build({
    absWorkingDir: root,
    entryPoints: entries.map((file) => path.join('src', file)),
    outbase: 'src',
    outdir: 'dist',
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    legalComments: 'none', // LICENSES.txt has them all
    sourcemap: 'external', // base/platform/source-stack.ts reads one when an error is logged
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
    // tsx loads TypeScript in worker threads of tests; pg-native is optional, and not installed.
    external: [...runtimePackages, 'tsx', 'pg-native'],
    banner: { js: requireInModules },
    plugins: [leanEngine],
    ...options,
  });
}

/** CommonJS packages call `require` for modules of Node; an ES module has none. */
const requireInModules =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);";
