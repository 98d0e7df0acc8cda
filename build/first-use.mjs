// Packages that the server loads when they are first used, because most servers never use them: each is a CommonJS file of its own, which
// `require` loads at once, so that its callers need not wait. The command line and the worker threads have them in their bundles.

/** Package -> what the server imports of it; `default` is the whole. */
const packages = {
  'intl-messageformat': ['IntlMessageFormat'],
  samlify: ['default'],
  yaml: ['Document', 'LineCounter', 'isMap', 'isNode', 'isPair', 'isScalar', 'parseDocument', 'stringify'],
  'pino-pretty': ['prettyFactory'],
};
const FOLDER = 'first-use';

/** Options of esbuild for the files of these packages. */
export const packagesAtFirstUse = {
  entryPoints: Object.fromEntries(Object.keys(packages).map((name) => [`${FOLDER}/${name}`, name])),
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  banner: {},
};

/** Replaces each package by functions that load its file when they are called. */
export const firstUse = {
  name: 'first-use',
  setup({ initialOptions: { absWorkingDir: root }, onLoad, onResolve }) {
    const filter = new RegExp(`^(${Object.keys(packages).join('|')})$`);
    onResolve({ filter }, ({ path }) => ({ path, namespace: FOLDER }));
    onLoad({ filter: /.*/, namespace: FOLDER }, ({ path: name }) => ({
      contents: contentsOf(name, packages[name]),
      resolveDir: root,
    }));
  },
};

function contentsOf(name, imports) {
  return `import path from 'node:path';
    import { packageRoot } from './src/base/platform/package.ts';
    let loaded;
    const load = () => (loaded ??= require(path.join(packageRoot, 'dist', '${FOLDER}', '${name}.cjs')));
    const later = (find) => new Proxy(function () {}, {
      apply: (_target, self, values) => Reflect.apply(find(), self, values),
      construct: (_target, values) => Reflect.construct(find(), values),
      get: (_target, key) => Reflect.get(find(), key),
    });
    ${imports
      .map((one) =>
        one === 'default' ? 'export default later(load);' : `export const ${one} = later(() => load().${one});`,
      )
      .join('\n')}`;
}
