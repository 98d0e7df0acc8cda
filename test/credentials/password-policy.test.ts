// The rules for a new password.
import { describe, expect, test } from 'vitest';
import { passwordAdvice } from '../../src/people/credentials/credentials.ts';
import {
  minimumLength,
  type PasswordFault,
  passwordFaults,
  passwordLength,
} from '../../src/people/credentials/password-policy.ts';

const account = { username: 'alice', email: 'alice.liddell@example.com', name: 'Alice Pleasance Liddell' };
const serviceNames = ['Gatehouse', 'login.example.org'];
const faults = (password: string, hasSecondFactor = false) =>
  passwordFaults({ password, hasSecondFactor, account, serviceNames });

describe('the length rule', () => {
  test.each<[number, boolean, PasswordFault[]]>([
    [14, false, ['too_short']],
    [15, false, []],
    [7, true, ['too_short']],
    [8, true, []],
    [64, false, []],
    [256, false, []],
    [257, false, ['too_long']],
    [100_000, true, ['too_long']],
  ])('returns for %i characters, second factor %s: %j', (length, factor, expected) => {
    const password = Array.from({ length }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 397) % 20_011)));
    expect(faults(password.join(''), factor)).toEqual(expected);
  });

  test('counts characters as users see them, not bytes, and no ligature as eighteen', () => {
    expect(passwordLength('🦄'.repeat(15))).toBe(15);
    expect(passwordLength('\ufdfa')).toBe(1);
    expect(faults('\ufdfa')).toContain('too_short');
    expect(minimumLength(true)).toBe(8);
    expect(minimumLength(false)).toBe(15);
  });
});

describe('a password of any characters', () => {
  test.each([
    'nothing but small letters',
    'NOTHING BUT CAPITALS HERE',
    '82736455501928374',
    'spaces   in    between',
    'пароль из нескольких слов',
    '馬電池正確釘書針藍色河流山谷森林',
    '🦄🌈🎸🚲🍕📚🎲🪁🧩🎻🎯🧭🪐🌋🛶',
    '+--§$%&/()=?`´*~#-+',
  ])('is accepted: %s', (password) => {
    expect(faults(password)).toEqual([]);
  });

  test.each(['with\na line break here', 'with a \0 in between it', 'with a lone \ud800 surrogate'])(
    'is rejected when one cannot be printed: %j',
    (password) => expect(faults(password)).toEqual(['unprintable']),
  );
});

describe('the words of the account and of the service', () => {
  test.each([
    'I am ALICE and this is long',
    'my name is Pleasance, you know',
    'ａｌｉｃｅ in full width letters',
    'alice.liddell forever and ever',
    'the gate of Gatehouse is open',
    'login.example.org is mine since may',
  ])('may be in a password whose rest is long enough: %s', (password) => {
    expect(faults(password)).toEqual([]);
  });

  test('are compared as a whole: Berg may have Heidelberg', () => {
    const berg = { username: 'berg', email: 'berg@castle.example', name: 'Anna Berg' };
    const input = { password: 'Heidelberg castle forty two', hasSecondFactor: false, account: berg };
    expect(passwordFaults(input)).toEqual([]);
  });

  test.each<[string, PasswordFault[]]>([
    ['Alice Pleasance Liddell', ['contains_name']],
    ['a l i c e  l i d d e l l 2026', ['contains_name']],
    ['alice alice alice 12', ['contains_name', 'repeated']],
    ['Alice.Liddell@example.com', ['contains_email', 'contains_name']],
    ['my gatehouse login', ['contains_service']],
    ['Gatehouse for Alice!', ['contains_name', 'contains_service']],
    ['liddell aaaaaaaaaaaa', ['contains_name', 'repeated']],
    ['al1ce l1ddell 2026', ['contains_name']],
    ['alice x9! alice x9!', ['contains_name', 'repeated']],
    ['example.com example', ['contains_email', 'repeated']],
    ['example.com, example.com!', ['contains_email', 'repeated']],
    ['login.example.org!', ['contains_email', 'contains_service']],
  ])('are not counted: %s is too short without them', (password, expected) => {
    expect(faults(password)).toEqual(expected);
  });

  test('have the given and family name', () => {
    const account = { username: 'x', email: null, givenName: 'Alice', familyName: 'Liddell' };
    const input = { password: 'alice alice liddell', hasSecondFactor: false, account };
    expect(passwordFaults(input)).toEqual(['contains_name']);
  });

  test('leave four characters at least beside a second factor', () => {
    expect(faults('alice9x2', true)).toEqual(['contains_name']);
    expect(faults('alice9x2k', true)).toEqual([]);
  });

  test('allows words that contain a short name', () => {
    const tom = { username: 'tom', email: 'al@b.c', name: 'Tom Li' };
    const password = 'tomorrow we lie in all day';
    expect(passwordFaults({ password, hasSecondFactor: false, account: tom })).toEqual([]);
  });

  test('allows every password for an account without name and address', () => {
    const bare = { username: 'x', email: null, name: null };
    const input = { password: 'any pass phrase will do', hasSecondFactor: false, account: bare };
    expect(passwordFaults({ ...input, serviceNames: [''] })).toEqual([]);
  });
});

test.each(['aaaaaaaaaaaaaaaa', 'abababababababab', 'abcabcabcabcabcabc', '123456789012345', 'zyxwvutsrqponmlk'])(
  'the password policy recognizes the pattern of %s',
  (password) => {
    expect(faults(password, true)).toEqual(['pattern']);
  },
);

describe('a password that repeats itself', () => {
  test.each([
    'h3idi b3rg h3idi b3rg',
    'Sommer2026!Sommer2026!',
    'Sommer2026! & Sommer2026!',
    'katze katze katze',
    'katze hund katze hund katze',
    'Winter1, Winter1, Winter1',
  ])('counts once, and is too short then: %s', (password) => {
    expect(faults(password)).toEqual(['repeated']);
  });

  test.each([
    'to be or not to be to be or not to be',
    'the cat and the hat and the bat',
    'better butter makes a batter better',
    'ein kleines Pferd, ein kleines Haus',
  ])('is accepted where each part once is long enough: %s', (password) => {
    expect(faults(password)).toEqual([]);
  });

  test('needs eight characters beside a second factor', () => {
    expect(faults('1234512345', true)).toEqual(['repeated']);
    expect(faults('Sommer2026!Sommer2026!', true)).toEqual([]);
  });

  test('is judged soon, however long it is', () => {
    const started = performance.now();
    faults(`${'ab'.repeat(60)}x${'abc'.repeat(45)}`);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

test.each([
  '                    ',
  'a                 b',
  '\u00a0\u3000 \u2003 \u00a0 \u3000 \u2003 \u00a0 \u3000 \u2003',
])('the password policy recognizes that %j is spaces only, or nearly', (password) => {
  expect(faults(password)).toEqual(['pattern']);
  expect(faults(password.slice(0, 8), true)).toEqual(['pattern']);
});

test('the password policy has a sentence for every fault that says what to do', () => {
  const all: PasswordFault[] = [
    'too_short',
    'too_long',
    'unprintable',
    'contains_name',
    'contains_email',
    'contains_service',
    'pattern',
    'repeated',
    'common',
    'breached',
    'unchanged',
  ];
  for (const fault of all) expect(String(passwordAdvice(fault, false, 15))).toMatch(/^[A-Z].*\.$/);
  expect(String(passwordAdvice('too_short', false, 15))).toContain('15');
  expect(String(passwordAdvice('too_short', true, 8))).toContain('8');
});
