// A text of several words is not the English one in another language.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const FOLDER = path.join(import.meta.dirname, '../../views/texts');

/** Every text of a language, by key. */
function textsOf(language: string): Map<string, string> {
  const files = readdirSync(path.join(FOLDER, language), { recursive: true, encoding: 'utf8' });
  const json = files.filter((file) => file.endsWith('.json'));
  return new Map(
    json.flatMap((file) =>
      Object.entries(JSON.parse(readFileSync(path.join(FOLDER, language, file), 'utf8')) as Record<string, string>),
    ),
  );
}

/** The words of a text, without its arguments. */
const wordsOf = (text: string) => text.replace(/\{[^{}]*\}/g, ' ').match(/\p{L}[\p{L}’'-]+/gu) ?? [];

/** Names, and terms that are the same in some language. */
const SAME = [
  'Active Directory',
  'OpenID Connect',
  'Scope (optional)',
  'Single sign-on',
  '{count, plural, one {# API} other {# APIs}}',
  '{name, select, none {Passkey} other {Passkey “{name}”}}',
];

const english = textsOf('en');
it.each(readdirSync(FOLDER).filter((language) => language !== 'en'))('is written in %s', (language) => {
  const texts = [...textsOf(language)];
  expect(texts.length).toBeGreaterThan(300);
  const untranslated = texts.filter(
    ([key, text]) => english.get(key) === text && !SAME.includes(text) && wordsOf(text).length > 1,
  );
  expect(untranslated).toEqual([]);
});

it('keeps names apart from the direction of Arabic', () => {
  const bare = [...textsOf('ar')].filter(([, text]) =>
    /\{(app|directory|group|hint|host|user|version)\}/.test(text.replace(/\u2068[^\u2069]*\u2069/g, '')),
  );
  expect(bare).toEqual([]);
});
