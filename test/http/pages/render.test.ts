import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { webLink } from '../../../src/base/http/pages/render.ts';
import { Slot, Text } from '../../../src/base/texts/text.ts';
import { formsOf } from '../../support/pages/html.ts';
import { addPseudoLanguage, PSEUDO, unbracketedWords } from '../../support/pages/pseudo-language.ts';
import { filesUnder } from '../../support/source/imports.ts';
import { render } from '../app.ts';
import { samplePages } from '../sample-pages.ts';

const evil = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`;
const templates = filesUnder('views', '.eta');

// Chosen by our code among a few: it selects a partial or an icon.
const constantKeys = ['tone', 'kind', 'state', 'icon', 'html', 'light', 'dark'];

// Every text of the data, however deep, becomes hostile.
const poisoned = (data: unknown) => withTexts(data, () => evil);

/** The data with numbers for texts, so that every letter on the page is of the template or of a message. */
const withoutWords = (data: unknown) => withTexts(data, () => '1');

function withTexts(value: unknown, write: () => string): unknown {
  if (typeof value === 'string') return write();
  if (Array.isArray(value)) return value.map((one) => withTexts(one, write));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  // Several texts as one have no values of their own.
  if (value instanceof Text && value.constructor !== Text) return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, constantKeys.includes(key) ? entry : withTexts(entry, write)]),
  );
  if (value instanceof Text) return new Text(value.key, copy.values as Text['values']);
  return value instanceof Slot ? new Slot(copy.content as Slot['content']) : copy;
}

/** The English messages of pages and mails for people. */
const messages = new Set(
  filesUnder('views/texts/en', '.json')
    .filter((file) => !file.includes('/console/'))
    .flatMap((file) => Object.values(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>)),
);

/** Every string of the data, also in the values of its texts. */
function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Text) return stringsIn(value.values ?? {});
  if (value instanceof Slot) return stringsIn(value.content);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

addPseudoLanguage();

describe.each(Object.entries(samplePages))('page %s', (_name, [template, data]) => {
  it('escapes every value', () => {
    const html = render(template, poisoned(data) as object, () => evil);
    expect(html).not.toContain('<script>alert');
    expect(html).not.toContain('<img src=x');
    // An address that is none of the web is left out altogether.
    if (stringsIn(data).some((one) => !one.startsWith('/'))) expect(html).toContain('&lt;script&gt;');
  });

  it('has no inline script, no event handler and no text "undefined"', () => {
    const html = render(template, data, () => 'token');
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(html).not.toMatch(/\son\w+=/);
    expect(html).not.toMatch(/undefined|\[object/);
    expect(html).toMatch(/^<!doctype html>/);
  });

  it('has a CSRF field in each form to this server, and at most one primary button', () => {
    const html = render(template, data, () => 'token');
    for (const form of formsOf(html, 'https://id.example.com')) {
      const isOurs = form.action.startsWith('https://id.example.com/');
      expect(form.fields._csrf).toBe(isOurs && form.method === 'post' ? 'token' : undefined);
    }
    expect(html.match(/class="btn btn-primary"/g)?.length ?? 0).toBeLessThanOrEqual(1);
  });
});

const translatedPages = Object.entries(samplePages).filter(([, [template]]) => !template.startsWith('api/'));

it.each(translatedPages)('page %s has no words outside of views/texts', (_name, [template, data]) => {
  const html = render(template, withoutWords(data) as object, () => 'token', PSEUDO);
  expect(html).toContain(`<html lang="${PSEUDO}" dir="ltr">`);
  expect(unbracketedWords(html)).toEqual([]);
});

// Pictures of the samples in another language would be half in English.
it.each(translatedPages.filter(([, [template]]) => !template.startsWith('admin/')))(
  'the sample %s has its sentences from views/texts',
  (_name, [, data]) => {
    const written = stringsIn(data).filter((one) => messages.has(one) || /\p{Ll} .*[.:?…]$/u.test(one));
    expect(written).toEqual([]);
  },
);

it('the renderer writes pages for people from right to left in Arabic, and pages of the console in a language that the console has', () => {
  expect(render('home', {}, undefined, 'ar-XB')).toContain('<html lang="ar-XB" dir="rtl">');
  const [template, data] = Object.values(samplePages).find(([name]) => name.startsWith('admin/')) ?? ['', {}];
  expect(render(template, data, () => 'token', 'ar-XB')).toContain('<html lang="en" dir="ltr">');
  expect(render(template, data, () => 'token', 'de')).toContain('<html lang="de" dir="ltr">');
});

it('the samples cover every page', () => {
  const covered = new Set(Object.values(samplePages).map(([template]) => `views/${template}.eta`));
  const parts = ['views/layout.eta', 'views/partials/', 'views/frameworks/', 'views/proxies/'];
  const frames = templates.filter((file) => parts.some((part) => file.startsWith(part)));
  expect(templates.filter((file) => !covered.has(file) && !frames.includes(file))).toEqual([]);
});

/** Expressions that are printed raw, by file: constants of the template itself. */
const constants: Record<string, string> = {
  'views/partials/connection-mark.eta': 'shape',
  'views/partials/console/document.eta': 'part.html', // of the build
};

it.each(templates)('%s prints raw only what was rendered already', (file) => {
  const raw = [...readFileSync(file, 'utf8').matchAll(/<%~\s*([^%]*?)\s*%>/g)].map(([, expression]) => expression);
  const isSafe = (expression = '') =>
    ['it.body', constants[file]].includes(expression) || expression.startsWith('include(');
  expect(raw.filter((expression) => !isSafe(expression))).toEqual([]);
});

it.each([
  ['https://app.example/x?y=1', 'https://app.example/x?y=1'],
  ['/account', '/account'],
  ['javascript:alert(1)', '#'],
  [' javascript:alert(1)', '#'],
  ['data:text/html,x', '#'],
  ['//evil.example', '#'],
  ['/\\evil.example', '#'],
  ['/.//evil.example', '#'],
  ['/\t/evil.example', '#'],
  ['', '#'],
  [undefined, '#'],
])('page %s links to %s as %s', (url, href) => {
  expect(webLink(url)).toBe(href);
});
