// The licenses of the packages in the bundle, which a copy of them must contain.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { licenseFiles } from './packages.mjs';

/** Returns the text of all licenses; `inputs` are the files in the output, relative to `root`. */
export function licenses(root, inputs) {
  const folders = new Set([...inputs].map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]));
  return [...folders]
    .filter((folder) => folder !== undefined && !folder.startsWith('wasm:'))
    .sort()
    .map((folder) => textOf(path.join(root, folder)))
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function textOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const texts = licenseFiles(folder).map((file) => readFileSync(path.join(folder, file), 'utf8').trim());
  return `${name} ${version} (${license ?? 'see below'})\n\n${texts.join('\n\n')}\n`;
}
