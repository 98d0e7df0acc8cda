// The canonical form of names, and the rules for usernames and email addresses.
import { describe, expect, test } from 'vitest';
import { emailFault, nameKey, usernameFault } from '../../src/people/accounts/names.ts';
import fc from '../support/property.ts';

describe('nameKey', () => {
  test.each([
    ['capitals', 'Alice', 'aLICE'],
    ['space around', ' alice\t', 'alice'],
    ['full-width letters', 'ａｌｉｃｅ', 'alice'],
    ['ligatures', 'ﬁona', 'fiona'],
    ['composed and decomposed accents', 'Zoë', 'Zoe\u0308'],
    ['Cyrillic look-alikes', 'аlice', 'alice'],
    ['a name all in Cyrillic look-alikes', 'сорау', 'copay'],
    ['capital look-alikes', 'ВОВ', 'BOB'],
    ['Greek look-alikes', 'οmar', 'omar'],
    ['the Turkish capital I', 'İsmail', 'ismail'],
    ['final and other sigma', 'ΝΙΚΟΣ', 'νικοσ'],
    ['the Kelvin sign', '\u212aarl', 'karl'],
  ])('is the same with %s', (_, one, other) => {
    expect(nameKey(one)).toBe(nameKey(other));
  });

  test.each([
    ['alice', 'alicia'],
    ['jose', 'josé'],
    ['user1', 'userl'],
    ['o', '0'],
  ])('differs for %s and %s', (one, other) => {
    expect(nameKey(one)).not.toBe(nameKey(other));
  });

  test('is its own key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(nameKey(nameKey(text))).toBe(nameKey(text));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('usernameFault', () => {
  test.each(['alice', 'Ånne-Lise', '김철수', 'иван', 'o.brien', "o'brien", 'a', '1', 'a'.repeat(64), '山田tarou'])(
    'accepts %s',
    (name) => expect(usernameFault(name)).toBeUndefined(),
  );

  test.each([
    ['', 'empty'],
    ['   ', 'empty'],
    ['a'.repeat(65), 'too_long'],
    ['al ice', 'spaces'],
    ['al\u00a0ice', 'spaces'],
    ['al\u200bice', 'invisible_characters'],
    ['al\u202eice', 'invisible_characters'],
    ['al\u00adice', 'invisible_characters'],
    ['al\0ice', 'invisible_characters'],
    ['al\nice', 'invisible_characters'],
    ['al\ud800ice', 'invisible_characters'],
    ['al\u3164ice', 'invisible_characters'],
    ['аlice', 'mixed_scripts'],
    ['alicε', 'mixed_scripts'],
    ['bob@example.com', 'at_sign'],
  ])('rejects %j: %s', (name, fault) => {
    expect(usernameFault(name)).toBe(fault);
  });

  test('accepts an email address for its owner only', () => {
    expect(usernameFault('Bob@Example.com', 'bob@example.com')).toBeUndefined();
    expect(usernameFault('bob@example.com', 'mallory@example.com')).toBe('at_sign');
  });
});

describe('emailFault', () => {
  test.each([
    'a@b.c',
    'alice+tag@example.com',
    'o’neil@example.org',
    'root@localhost',
    'ü@bücher.example',
    "o'x@a-b.io",
  ])('accepts %s', (email) => expect(emailFault(email)).toBeUndefined());

  test.each([
    '',
    'alice',
    '@example.com',
    'alice@',
    'alice@@example.com',
    'a@b@c.d',
    'al ice@example.com',
    'alice@exa mple.com',
    'alice@example.com\r\nBcc: x@y.z',
    '.alice@example.com',
    'alice.@example.com',
    'al..ice@example.com',
    'alice@.com',
    'alice@example..com',
    'alice@-example.com',
    '<alice@example.com>',
    'a,b@example.com',
    'alice@exam\u200bple.com',
    `${'a'.repeat(65)}@example.com`,
    `alice@${'a'.repeat(250)}.com`,
  ])('rejects %j', (email) => {
    expect(emailFault(email)).toBeDefined();
  });
});
