import { expect, it } from 'vitest';
import { jsonWithTexts, readJsonWithTexts, readStoredText, storedText } from '../../src/base/texts/stored-text.ts';
import {
  allOf,
  concatenated,
  enumeration,
  inLanguage,
  languageName,
  listOf,
  nameIn,
  oneOf,
  type PageText,
  Slot,
  sentenceCase,
  sentences,
  t,
} from '../../src/base/texts/text.ts';

it('a stored text is read in any language, and a string is cut off', () => {
  const url = `https://a.example/${'x'.repeat(500)}`;
  const text = readStoredText(storedText(t('console.connection-document.status', { url, status: '503' })));
  expect(String(text)).toMatch(/^https:\/\/a\.example\/x{182} returned 503\.$/);
  expect(inLanguage('de', () => String(text))).toMatch(/ antwortet mit 503\.$/);
  expect(readStoredText(storedText('x'.repeat(900)))).toBe('x'.repeat(500));
});

it.each([
  'no answer',
  '{',
  'null',
  '7',
  '{"text":"console.no-such-text","values":{}}',
  '{"text":"console.connection-document.status","values":{"url":"x"}}',
  '{"text":"console.connection-document.status","values":null}',
  '{"text":["console.connection-document.status"]}',
])('what is stored as %s and is no text of this version stays as it is', (stored) => {
  expect(readStoredText(stored)).toBe(stored);
});

const at = new Date('2026-11-23T14:51:00Z');
const password = t('console.users.password');
it.each<[string, PageText]>([
  ['a string', 'Payroll'],
  ['a text with a time', t('console.keys.outcome.too-early', { at })],
  ['a text in a text', t('console.bulk.question', { question: t('console.bulk.disable.question', { users: 'ann' }) })],
  ['sentences', sentences([t('console.shared.saved'), password])],
  ['joined parts', concatenated([password, ': ', 'x'])],
  [
    'lists',
    sentences([listOf(['a', password]), oneOf(['a', password]), enumeration([password]), allOf(['a', password])]),
  ],
  ['a capital', sentenceCase(t('console.bulk.disable.question', { users: 'ann' }))],
  ['a name', nameIn('Payroll', { de: 'Lohnbüro' })],
  ['a language', languageName('fr')],
])('a page with %s is stored, and displayed in any language', (_what, text) => {
  const read = readJsonWithTexts(jsonWithTexts({ blocks: [{ text, at }] })) as {
    blocks: [{ text: PageText; at: Date }];
  };
  const [block] = read.blocks;
  for (const language of ['en', 'de']) {
    const [here, there] = inLanguage(language, () => [String(text), String(block.text)]);
    expect(there).toBe(here);
  }
  expect(block.at).toEqual(at);
});

it('a slot is stored with what it displays, and a text of another version in the words that it had', () => {
  const slot = readJsonWithTexts(jsonWithTexts(new Slot({ text: password, href: '/admin' })));
  expect(slot).toBeInstanceOf(Slot);
  expect((slot as Slot).content).toMatchObject({ href: '/admin' });
  const json = jsonWithTexts(password).replace('console.users.password', 'console.no-such-text');
  expect(readJsonWithTexts(json)).toBe('Password');
});
