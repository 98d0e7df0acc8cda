import { expect, it } from 'vitest';
import { readStoredText, storedText } from '../../src/texts/stored-text.ts';
import { inLanguage, t } from '../../src/texts/text.ts';

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
