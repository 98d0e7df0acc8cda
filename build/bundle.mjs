// Bundles src/ with esbuild. The server and the command line are bundled apart: one bundle for both would split what they
// share into some 200 small files, and each costs the start of the server time.
// A bundle instead of 1,500 modules halves the start, and dist/ runs without node_modules. Paths come from base/platform/package.ts, because
// import.meta.url says nothing about folders of src/ in a bundle. It is not minified: one line is one statement, for stack traces.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { leanEngine } from './engine.mjs';
import { firstUse, packagesAtFirstUse } from './first-use.mjs';
import { lineTables } from './line-tables.mjs';
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
    run(root, ['main.ts'], { splitting: true, chunkNames: 'server/[name]-[hash]', plugins: [firstUse, ...plugins] }),
    run(root, ['cli.ts'], { splitting: true, chunkNames: 'commands/[name]-[hash]' }),
    run(root, workers, {}),
    run(root, [], packagesAtFirstUse),
  ]);
  const outputs = results.flatMap(({ outputFiles }) => outputFiles);
  const maps = new Map(outputs.filter(({ path: file }) => file.endsWith('.map')).map((map) => [map.path, map.text]));
  const tables = lineTables(root);
  const files = new Map();
  for (const { path: file, contents, text } of outputs.filter(({ path: name }) => !maps.has(name))) {
    const name = path.relative(path.join(root, 'dist'), file);
    const map = maps.get(`${file}.map`);
    files.set(name, map ? plainAscii(text, name) : contents);
    if (map) files.set(`${name}.lines`, tables.add(file, text, map));
  }
  files.set('sources.json', JSON.stringify(tables.sources));
  return { files, inputs: new Set(results.flatMap(({ metafile }) => Object.keys(metafile.inputs))) };
}

// V8 stores a text with one other character in two bytes each: 12 MB instead of 6. esbuild escapes them but in comments.
function plainAscii(text, name) {
  const foreign = /\P{ASCII}/u;
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    if (!foreign.test(line)) continue;
    if (!/^\s*(\*|\/\/|\/\*)|\S.*\/\/[^'"`]*$/.test(line)) throw new Error(`${name}:${index + 1}: not ASCII: ${line}`);
    lines[index] = line.replace(/\P{ASCII}/gu, '?');
  }
  return lines.join('\n');
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
    // Not minified: a line is one statement, which the line tables need.
    legalComments: 'none', // LICENSES.txt has them all
    sourcemap: 'external',
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
    // tsx loads TypeScript in worker threads of tests; pg-native is optional, and not installed.
    external: [...runtimePackages, 'tsx', 'pg-native'],
    banner: { js: requireInModules },
    plugins,
    ...options,
  });
}

/** CommonJS packages call `require` for modules of Node; an ES module has none. */
const requireInModules =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);";

/**
 * Prisma embeds its query compiler as 2 MB of base64 in JavaScript, which would stay in memory beside the compiled code. Here it
 * is a file. The generated client passes the text to `Buffer.from`, which takes bytes as well.
 */
const wasmAsFile = {
  name: 'wasm-as-file',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\.wasm-base64\.mjs$/ }, ({ path: module }) => ({
      contents: `import { readFileSync } from 'node:fs';
        import file from ${JSON.stringify(`wasm-in:${module}`)};
        export const wasm = readFileSync(new URL(file, import.meta.url));`,
    }));
    onResolve({ filter: /^wasm-in:/ }, ({ path: name }) => ({
      path: name.slice('wasm-in:'.length).replace('.wasm-base64.mjs', '.wasm'),
      namespace: 'wasm',
    }));
    onLoad({ filter: /.*/, namespace: 'wasm' }, ({ path: name }) => {
      const module = readFileSync(name.replace('.wasm', '.wasm-base64.mjs'), 'utf8');
      const [, base64] = /"([\w+/=]{1000,})"/.exec(module) ?? [];
      if (!base64) throw new Error(`no WebAssembly for ${name}`);
      return { contents: Buffer.from(base64, 'base64'), loader: 'file' };
    });
  },
};

/**
 * Prisma's graph of query parameters has 1,500 objects with some twenty numbers of up to 1,400 as keys, for which V8 reserves an array
 * each, 10 MB together. With one key that no array can hold they become hash tables of 1 MB together.
 */
const sparseEdges = {
  name: 'sparse-edges',
  setup({ onLoad }) {
    onLoad({ filter: /@prisma\/client\/runtime\/client\.m?js$/ }, ({ path: file }) => {
      const [before, ...rest] = readFileSync(file, 'utf8').split(EMPTY_EDGES);
      if (rest.length !== 2) throw new Error(`${file} reads its graph of query parameters in another way`);
      return { contents: [before, ...rest].join(EMPTY_EDGES.replace('{}', '{4294967294:void 0}')) };
    });
  },
};
const EMPTY_EDGES = 'o={};for(let s=0;s<i;s++){let a=';

/**
 * The engine gives each request an accessor of its own, `ctx.oidc`. V8 stores such an accessor in the map of the object, which is old from
 * the beginning, so that each collection of young objects took the whole request for a living one. A plain property holds nothing.
 */
const plainContext = {
  name: 'plain-context',
  setup({ onLoad }) {
    onLoad({ filter: /oidc-provider\/lib\/helpers\/initialize_app\.js$/ }, ({ path: file }) => {
      const [before, ...rest] = readFileSync(file, 'utf8').split(ACCESSOR);
      if (rest.length !== 1) throw new Error(`${file} creates its context in another way`);
      return { contents: [before, ...rest].join(PLAIN_PROPERTY) };
    });
  },
};
const ACCESSOR = `    let oidcCtx;
    Object.defineProperty(ctx, 'oidc', {
      get: () => {
        oidcCtx ||= new this.OIDCContext(ctx);
        return oidcCtx;
      },
    });
`;
const PLAIN_PROPERTY = `    Object.defineProperty(ctx, 'oidc', { value: new this.OIDCContext(ctx) });
`;

/** Zod's index exports its messages in fifty languages. */
const englishOnly = {
  name: 'english-only',
  setup({ onLoad }) {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

const plugins = [wasmAsFile, sparseEdges, plainContext, englishOnly, leanEngine];
