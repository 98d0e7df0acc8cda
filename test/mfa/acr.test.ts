// From amr to acr, and the comparison with a requested acr.
import { describe, expect, test } from 'vitest';
import { acrLevel, acrOf, satisfies, weakestOf, withMfa } from '../../src/people/mfa/acr.ts';

const PASSWORD = 'urn:gatehouse:acr:password';
const MFA = 'urn:gatehouse:acr:mfa';
const PHR = 'phr';
const REFEDS = 'https://refeds.org/profile/mfa';

// What can have been proven, and the level it reaches.
const password = ['pwd'];
const passwordAndCode = ['pwd', 'otp'];
const passwordAndKey = ['pwd', 'hwk', 'pop'];
const passkey = ['hwk', 'pop', 'user'];
const passwordAndPasskey = ['pwd', 'swk', 'pop', 'user'];

describe('the amr of a sign-in', () => {
  test.each<[string[], string | undefined, boolean]>([
    [[], undefined, false],
    [['unheard-of'], undefined, false],
    [password, PASSWORD, false],
    [['otp'], PASSWORD, false],
    [['hwk', 'pop'], PASSWORD, false],
    [passwordAndCode, MFA, true],
    [['pwd', 'sms'], MFA, true],
    [['pwd', 'email'], PASSWORD, false],
    [['email'], PASSWORD, false],
    [['email', 'hwk', 'pop'], PASSWORD, false],
    [['pwd', 'email', 'otp'], MFA, true],
    [passwordAndKey, MFA, true],
    [['otp', 'swk'], MFA, true],
    [passkey, PHR, true],
    [passwordAndPasskey, PHR, true],
    [['pwd', 'user'], PASSWORD, false],
  ])('%j reaches %s, mfa in amr: %s', (amr, acr, mfa) => {
    expect(acrOf(amr)).toBe(acr);
    expect(withMfa(amr).includes('mfa')).toBe(mfa);
    expect(withMfa(withMfa(amr))).toEqual(withMfa(amr));
  });
});

describe('a requested acr (OIDC acr_values, RFC 9470)', () => {
  test.each<[string[], string | undefined, boolean]>([
    [[], undefined, true],
    [[], PASSWORD, true],
    [[PASSWORD], undefined, false],
    [[PASSWORD], PASSWORD, true],
    [[PASSWORD], PHR, true],
    [[MFA], PASSWORD, false],
    [[MFA], MFA, true],
    [[PHR], MFA, false],
    [[PHR, MFA], MFA, true],
    [['urn:unknown'], PHR, false],
    [['urn:unknown', MFA], MFA, true],
    [[REFEDS], MFA, true],
    [[REFEDS], PASSWORD, false],
  ])('%j is satisfied by %s: %s', (requested, reached, expected) => {
    expect(satisfies(requested, reached)).toBe(expected);
  });

  test('demands the weakest known value', () => {
    expect(weakestOf([PHR, MFA])).toBe(MFA);
    expect(weakestOf(['urn:unknown', REFEDS])).toBe(MFA);
    expect(weakestOf(['urn:unknown'])).toBeUndefined();
    expect([PASSWORD, MFA, PHR, 'other', undefined].map(acrLevel)).toEqual([1, 2, 3, 0, 0]);
  });
});
