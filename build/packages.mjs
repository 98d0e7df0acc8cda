// The packages that are not bundled, because they load native code or WebAssembly from their folder or because browsers get
// their files. What they need at run time is copied to dist/node_modules.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

/** Package -> the files and folders that are needed, `package.json` aside. */
const needed = {
  '@phc/format': ['index.js'],
  '@prisma/schema-engine-wasm': ['schema_engine_bg.js', 'schema_engine_bg.wasm'],
  '@simplewebauthn/browser': ['dist/bundle/index.umd.min.js', 'esm/index.js'],
  altcha: [
    'dist/external/altcha.js',
    'dist/external/altcha.min.js',
    'dist/external/altcha.css',
    'dist/workers/pbkdf2.js',
  ],
  argon2: ['argon2.cjs', 'build/Release/argon2.node', `prebuilds/${process.platform}-${process.arch}`],
  'better-sqlite3': ['lib', 'build/Release/better_sqlite3.node'],
  bindings: ['bindings.js'],
  'file-uri-to-path': ['index.js'],
  'libxml2-wasm': ['lib'],
  'node-gyp-build': ['index.js', 'node-gyp-build.js'],
};
const unused = /\.map$|\.d\.[cm]?ts$/;

/** The names of the packages that the bundle imports from node_modules. */
export const runtimePackages = Object.keys(needed);

/** Every file to copy, and where it goes in a folder `node_modules`. */
export function copiedFiles(root) {
  return runtimePackages.flatMap((name) => {
    const folder = path.join(root, 'node_modules', name);
    const entries = ['package.json', ...licenseFiles(folder), ...needed[name]];
    return entries
      .flatMap((entry) => filesOf(folder, entry))
      .map((file) => ({ from: path.join(folder, file), to: path.join(name, file) }));
  });
}

/** Replaces the folder `target`. */
export function copyPackages(root, target) {
  rmSync(target, { recursive: true, force: true });
  for (const { from, to } of copiedFiles(root)) {
    mkdirSync(path.dirname(path.join(target, to)), { recursive: true });
    copyFileSync(from, path.join(target, to));
  }
}

/** The files of a package that hold its license. */
export function licenseFiles(folder) {
  return readdirSync(folder).filter((name) => /^(licen[cs]e|notice|copying)/i.test(name));
}

// An entry that is not there belongs to another platform: argon2 is either compiled here or has a prebuilt binary.
function filesOf(folder, entry) {
  const file = path.join(folder, entry);
  if (!existsSync(file)) return [];
  if (statSync(file).isFile()) return [entry];
  return readdirSync(file, { recursive: true })
    .map((name) => path.join(entry, name))
    .filter((name) => !unused.test(name) && statSync(path.join(folder, name)).isFile());
}
