// `npm run build`: bundles the server, the command line and the worker threads into dist/, with the files of packages that are
// read at run time, so that dist/ runs without node_modules, renders docs/ into dist/documents.json, and builds the style sheets into
// dist/assets. Each part does nothing when nothing changed since the last build.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';
import { licenses } from './licenses.mjs';
import { copiedFiles, copyPackages } from './packages.mjs';
import { stylePackages, styles } from './styles.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dist = path.join(root, 'dist');
const entry = path.join(dist, 'main.js');
const assets = path.join(dist, 'assets');
const manifest = path.join(dist, 'build.json');

if (newest(['docs', 'build']) > changedAt(path.join(dist, 'documents.json'))) await buildDocuments();
if (newest(['views', 'src', 'build']) > changedAt(path.join(assets, 'console.css'))) await buildStyles();
if (newest(['src', 'build']) > changedAt(entry)) await build();

async function buildDocuments() {
  const { documents } = await import('./docs.mjs').catch((error) => {
    // A checkout whose packages are older than package.json still builds the rest.
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || process.env.npm_lifecycle_event === 'prepack') throw error;
    process.stderr.write(`/docs is left out: ${error.message}. Run "npm install".\n`);
    return {};
  });
  if (!documents) return;
  const { chapters, pictures } = documents(root);
  for (const [name, content] of pictures) write(path.join(assets, name), content);
  for (const name of documentPictures()) if (!pictures.has(name)) rmSync(path.join(assets, name));
  write(path.join(dist, 'documents.json'), chapters);
  const now = new Date();
  utimesSync(path.join(dist, 'documents.json'), now, now);
}

function documentPictures() {
  return readdirSync(assets).filter((name) => name.startsWith('docs-'));
}

async function buildStyles() {
  const files = await styles(root);
  for (const [name, content] of files) write(path.join(assets, name), content);
  const wanted = new Set([...files.keys(), ...documentPictures()]);
  for (const name of readdirSync(assets)) if (!wanted.has(name)) rmSync(path.join(assets, name));
  const now = new Date();
  utimesSync(path.join(assets, 'console.css'), now, now);
}

async function build() {
  const { files, inputs } = await bundle(root);
  const shipped = [...stylePackages, 'simple-icons']
    .map((name) => path.join('node_modules', name, 'package.json'))
    .filter((file) => changedAt(path.join(root, file)) > 0);
  files.set('LICENSES.txt', licenses(root, [...inputs, ...shipped]));
  for (const [name, content] of files) write(path.join(dist, name), content);
  copyPackages(root, path.join(dist, 'node_modules'));
  removeOld([...files.keys()]);
  // Last, because tests and the next build compare it with the sources.
  utimesSync(entry, new Date(), new Date());
}

/** Removes what neither this build nor the one before it wrote: a running server may still load chunks of the latter. */
function removeOld(current) {
  const before = read(manifest) ?? { current: [], previous: [] };
  const isSame = current.toString() === before.current.toString();
  const previous = isSame ? before.previous : before.current;
  write(manifest, JSON.stringify({ current, previous }));
  const wanted = new Set([...current, ...previous, 'build.json', 'documents.json']);
  const written = filesIn(dist).map((file) => path.relative(dist, file));
  for (const file of written) {
    if (!wanted.has(file) && !/^(node_modules|assets)\b/.test(file)) rmSync(path.join(dist, file));
  }
}

function write(file, content) {
  const bytes = Buffer.from(content);
  if (changedAt(file) > 0 && readFileSync(file).equals(bytes)) return;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, bytes);
}

/** When the newest input in these folders, or a package, changed; a folder changes when a file in it is added or removed. */
function newest(folders) {
  const sources = folders.map((folder) => path.join(root, folder));
  const installed = path.join(root, 'node_modules', '.package-lock.json');
  const inputs = [...sources.flatMap(filesAndFoldersIn), installed, ...copiedFiles(root).map(({ from }) => from)];
  return Math.max(...inputs.map(changedAt));
}

function filesIn(folder) {
  return filesAndFoldersIn(folder).filter((file) => statSync(file).isFile());
}

function filesAndFoldersIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return [folder, ...entries.map(({ parentPath, name }) => path.join(parentPath, name))];
}

function changedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function read(file) {
  return changedAt(file) > 0 ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
