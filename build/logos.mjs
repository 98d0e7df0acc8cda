// Writes src/generated/logos.ts: the logos that the presets of applications and connections name, as paths on a grid of 24. They are those
// of Simple Icons under CC0; what has another license, or is not there, has a letter. Does nothing when nothing changed.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const target = path.join(root, 'src', 'generated', 'logos.ts');

const icons = await import('simple-icons').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  // A checkout whose packages are older than package.json still builds the rest.
  process.stderr.write(
    'Logos are left out, letters take their place: the package simple-icons is missing. Run "npm install".\n',
  );
  return {};
});
const bySlug = new Map(Object.values(icons).map((icon) => [icon.slug, icon]));

const products = readdirSync(path.join(root, 'views', 'products')).flatMap((file) => yamlOf('products', file));
const { presets: connections } = yamlOf('connections', 'presets.yaml');
const named = [...products.map(({ id, logo }) => [id, logo]), ...connections.map(({ logo }) => [logo, logo])];
const used = new Map(named.filter(([, slug]) => bySlug.get(slug) && !bySlug.get(slug).license).sort());

const content = `// Made by build/logos.mjs from the npm package simple-icons (CC0).

/** By the id of the preset of an application, or the \`logo\` of a connection. */
export const logos: Readonly<Record<string, string>> = {
${[...used].map(([name, slug]) => `  ${JSON.stringify(name)}: ${JSON.stringify(bySlug.get(slug).path)},`).join('\n')}
};
`;
if (read(target) !== content) {
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, content);
}

function yamlOf(...names) {
  return parse(readFileSync(path.join(root, 'views', ...names), 'utf8'));
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
