// What `npm run build` makes of views/styles: small enough, without anything from elsewhere, and with colors from one table.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createAssets } from '../../../src/base/http/pages/assets.ts';
import { hueOf, initials, tokens } from '../../../src/base/http/pages/tokens.ts';
import { t } from '../../../src/base/texts/text.ts';
import { filesUnder } from '../../support/source/imports.ts';

const built = (name: string) => readFileSync(`dist/assets/${name}`, 'utf8');
const kilobytes = (name: string) => gzipSync(built(name), { level: 9 }).length / 1000;
const templates = filesUnder('views', '.eta');
const sheets = filesUnder('views/styles', '.css');
const scripts = filesUnder('views/assets', '.js');

/** One line for each match, without comments. */
function matches(files: readonly string[], pattern: RegExp): string[] {
  return files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .replace(/<%\/\*[\s\S]*?\*\/%>|\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ''))
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
  );
}

describe('the built files', () => {
  it('have style sheets within 10 KB gzipped for the pages of people and 15 KB for the console', () => {
    expect(kilobytes('people.css')).toBeLessThanOrEqual(10);
    expect(kilobytes('console.css')).toBeLessThanOrEqual(15);
  });

  it.each(['people.css', 'console.css'])(
    'load only the font in %s, under the names that the server gives it',
    (name) => {
      const { url } = createAssets({ dirs: ['dist/assets'], extra: {} });
      const loaded = [...built(name).matchAll(/url\(["']?([^)"']+)/g)].map(([, address = '']) => address);
      const files = loaded.filter((address) => !address.startsWith('data:'));
      expect(files.map((address) => `/assets/${address}`)).toEqual([url('inter-ext.woff2'), url('inter.woff2')]);
      expect(built(name)).not.toContain('@import');
    },
  );

  it('have the classes of an error reference, which stays in one line and is selected by a click', () => {
    const html = t('error-page.reference', { number: 'K7F3-2Q9M' }).toHtml();
    const classes = /class="([^"]+)"/.exec(html)?.[1]?.split(' ') ?? [];
    expect(classes).toHaveLength(2);
    for (const name of classes) expect(built('people.css')).toContain(`.${name}{`);
  });

  it('have the edge of every kind of field that the pages of people use', () => {
    const others = ['views/admin/', 'views/api/', 'views/mail/', 'views/partials/console/'];
    const people = templates.filter((file) => !others.some((folder) => file.startsWith(folder)));
    const html = people.map((file) => readFileSync(file, 'utf8')).join('\n');
    const used = ['input', 'select', 'textarea', 'checkbox'].filter((kind) => html.includes(`class="${kind}`));
    expect(used).toEqual(['input', 'select', 'textarea', 'checkbox']);
    for (const kind of used) expect(built('people.css')).toMatch(new RegExp(`\\.${kind}\\{[^}]*border:`));
  });

  it('have every icon that a template uses in the sprite', () => {
    const used = templates.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\bicon: '([\w-]+)'/g)]);
    const symbols = new Set([...built('icons.svg').matchAll(/<symbol id="([\w-]+)"/g)].map(([, id]) => id));
    expect(used.map(([, name]) => name).filter((name) => !symbols.has(name))).toEqual([]);
  });
});

describe('the sources', () => {
  const isMail = (file: string) => file.startsWith('views/mail/');
  const pages = templates.filter((file) => !isMail(file));

  it('name no color outside of src/base/http/pages/tokens.ts', () => {
    const color = /(?<![&\w/"'([])#[0-9a-f]{3,8}\b|\b(rgba?|hsla?|oklch|oklab|lab|lch)\(/i;
    expect(matches([...templates, ...sheets, ...scripts], color)).toEqual([]);
  });

  it('set no style in a page or from a script', () => {
    expect(matches(pages, /\sstyle\s*=|<style\b/)).toEqual([]);
    expect(matches(scripts, /\.style\b|cssText|setAttribute\(.style/)).toEqual([]);
  });

  it('use logical sides, so that a page can run from right to left', () => {
    const property =
      /\b(left|right)\s*:|(margin|padding|border|inset)-(left|right)\b|(float|clear|text-align):\s*(left|right)/;
    expect(matches(sheets, property)).toEqual([]);
    const utility =
      /["'\s:](-?(m|p|scroll-m|scroll-p)[lr]-|-?(left|right)-|text-(left|right)\b|border-[lr]\b|rounded-[lr]\b)/;
    expect(matches(pages, utility)).toEqual([]);
  });

  it('use only custom properties that exist', () => {
    const used = sheets.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/var\(--([a-z0-9-]+)/g)]);
    const declared = sheets.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/--([a-z0-9-]+):/g)]);
    const known = new Set([...Object.keys(tokens), ...declared.map(([, name]) => name), 'size']);
    expect(used.map(([, name = '']) => name).filter((name) => !known.has(name))).toEqual([]);
  });
});

/** WCAG 2.2, relative luminance and contrast ratio of two colors. */
function contrast(one: string, other: string): number {
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

// axe reads each page in one mode; colors are in one table, so that their contrast is known in both.
it('text has a contrast of 4.5 and the edge of a control of 3 on every ground, in light and in dark', () => {
  const grounds = ['page', 'surface', 'raised'] as const;
  const texts = ['ink', 'soft', 'brand-ink', 'ok', 'warn', 'bad', 'info'] as const;
  const pairs = [
    ...grounds.flatMap((ground) => [
      ...texts.map((text) => [text, ground, 4.5] as const),
      ['edge', ground, 3] as const,
      ['brand', ground, 3] as const,
    ]),
    ...(['ok', 'warn', 'bad', 'info'] as const).map((text) => [text, `${text}-tint`, 4.5] as const),
    ...(['brand', 'brand-strong', 'bad-fill'] as const).map((fill) => ['on-brand', fill, 4.5] as const),
    ...(['ink', 'brand-ink'] as const).map((text) => [text, 'brand-tint', 4.5] as const),
    ...(['ok', 'warn', 'bad', 'info'] as const).map((name) => ['ink', `${name}-tint`, 4.5] as const),
  ];
  const faults = pairs.flatMap(([one, other, least]) =>
    [0, 1].flatMap((mode) => {
      const ratio = contrast(tokens[one][mode] ?? '', tokens[other][mode] ?? '');
      return ratio < least ? [`${one} on ${other}, ${mode === 0 ? 'light' : 'dark'}: ${ratio.toFixed(2)}`] : [];
    }),
  );
  expect(faults).toEqual([]);
});

it.each([
  ['Ann Archer', 'AA'],
  ['Ada B. Carter', 'AC'],
  ['bo', 'b'],
  ['ann.archer@example.com', 'a'],
  ['', ''],
])('the initials of "%s" are "%s"', (name, letters) => {
  expect(initials(name)).toBe(letters);
});

it('a name always has the same hue, and all six are used', () => {
  const names = Array.from({ length: 60 }, (_, index) => `application ${index}`);
  expect(hueOf('Grafana')).toBe(hueOf('Grafana'));
  expect([...new Set(names.map(hueOf))].sort()).toEqual(['hue-1', 'hue-2', 'hue-3', 'hue-4', 'hue-5', 'hue-6']);
});
