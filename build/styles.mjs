// Builds what browsers get besides scripts: people.css, console.css, document.css, the sprite of the icons that pages use, the favicon and the font.
// Sources: views/styles/ and the color table of src/base/http/pages/tokens.ts (docs/decisions/0043-styles-are-built.md).
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { compile, optimize, Polyfills } from '@tailwindcss/node';
import { Scanner } from '@tailwindcss/oxide';
import { transform } from 'esbuild';

/** The packages whose files are part of the output. */
export const stylePackages = ['tailwindcss', 'daisyui', '@fontsource-variable/inter', '@iconify-json/lucide'];

/** Returns the files of dist/assets: name -> content. Throws when a style sheet has an error or an icon does not exist. */
export async function styles(root) {
  const tokens = await tokenTable(root);
  const fonts = fontFiles(root);
  const replaced = {
    'tokens.css': customProperties(tokens),
    'font.css': fonts.map(fontFace).join('\n'),
  };
  const names = ['people.css', 'console.css', 'document.css'];
  const sheets = await Promise.all(names.map((name) => styleSheet(root, name, replaced)));
  return new Map([
    ...names.map((name, index) => [name, sheets[index]]),
    ['icons.svg', sprite(root)],
    ['icon.svg', favicon(tokens)],
    ...fonts.map(({ name, content }) => [`${name}.woff2`, content]),
  ]);
}

async function styleSheet(root, name, replaced) {
  const base = path.join(root, 'views', 'styles');
  const source = readFileSync(path.join(base, name), 'utf8').replace(
    /@import "(tokens|font)\.css";/g,
    (_, part) => replaced[`${part}.css`],
  );
  const compiler = await compile(source, {
    base,
    from: path.join(base, name),
    onDependency() {},
    // The oldest browsers that are supported (docs/decisions/0043-styles-are-built.md) know color-mix() and @property.
    polyfills: Polyfills.None,
  });
  const scanner = new Scanner({ sources: compiler.sources });
  return optimize(compiler.build(scanner.scan()), { file: name, minify: true }).code;
}

async function tokenTable(root) {
  const source = readFileSync(path.join(root, 'src/base/http/pages/tokens.ts'), 'utf8');
  const { code } = await transform(source, { loader: 'ts', format: 'esm' });
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).tokens;
}

// No light-dark(): a browser from before 2024 would lose every color, and a sign-in page must be readable in all.
function customProperties(tokens) {
  const set = (index) =>
    Object.entries(tokens)
      .map(([name, pair]) => `--${name}: ${pair[index]};`)
      .join(' ');
  return `:root { color-scheme: light; ${set(0)} }
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { color-scheme: dark; ${set(1)} } }
:root[data-theme="dark"] { color-scheme: dark; ${set(1)} }`;
}

/** The font in parts: browsers load the letters of, say, Polish only for a page that has them. The last part wins where ranges overlap. */
function fontFiles(root) {
  const ranges = JSON.parse(packaged(root, '@fontsource-variable/inter/unicode.json'));
  return [
    ['inter-ext', 'latin-ext'],
    ['inter', 'latin'],
  ].map(([name, part]) => ({
    name,
    content: packaged(root, `@fontsource-variable/inter/files/inter-${part}-wght-normal.woff2`),
    range: ranges[part],
  }));
}

function fontFace({ name, content, range }) {
  return `@font-face { font-family: "Inter Variable"; font-display: swap; font-weight: 100 900;
  src: url("${name}.${hashOf(content)}.woff2") format("woff2"); unicode-range: ${range}; }`;
}

/** The icons that templates and source files name, always as `icon: 'name'`. */
function sprite(root) {
  const { icons, aliases } = JSON.parse(packaged(root, '@iconify-json/lucide/icons.json'));
  const symbols = usedIcons(root).map((name) => {
    const icon = icons[name] ?? icons[aliases[name]?.parent];
    if (!icon) throw new Error(`Lucide has no icon ${name}`);
    return `<symbol id="${name}" viewBox="0 0 24 24">${icon.body}</symbol>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join('')}</svg>`;
}

function usedIcons(root) {
  const files = ['views', 'src'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true })
      .filter((file) => /\.(eta|ts)$/.test(file) && !file.startsWith('generated'))
      .map((file) => path.join(root, folder, file)),
  );
  const names = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bicon: '([a-z0-9-]+)'/g)].map(([, name]) => name),
  );
  return [...new Set(names)].sort();
}

function favicon(tokens) {
  const [light, dark] = tokens['brand-ink'];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Gatehouse</title><style>path{fill:none;stroke:${light};stroke-width:3;stroke-linecap:round;stroke-linejoin:round}@media (prefers-color-scheme:dark){path{stroke:${dark}}}</style><path d="M4 28V15.5a12 12 0 0 1 24 0V28"/><path d="M11 28V16a5 5 0 0 1 10 0v12"/></svg>`;
}

/** The hash in the name under which src/base/http/pages/assets.ts serves a file. */
function hashOf(content) {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}

function packaged(root, file) {
  return readFileSync(path.join(root, 'node_modules', file));
}
