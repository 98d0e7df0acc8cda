// Which factor a sign-in still needs.
import { describe, expect, test } from 'vitest';
import { MFA_ACR, PASSWORD_ACR, PHISHING_RESISTANT_ACR } from '../../src/people/mfa/acr.ts';
import { type FactorSet, nextFactor, type PolicyInput } from '../../src/people/mfa/policy.ts';

const none: FactorSet = { totp: false, passkeys: 0, verifyingPasskeys: 0, recoveryCodes: 0 };
const totp: FactorSet = { ...none, totp: true, recoveryCodes: 10 };
const keys: FactorSet = { ...none, passkeys: 2, verifyingPasskeys: 1 };
const plainKey: FactorSet = { ...none, passkeys: 1 };
const both: FactorSet = { ...none, totp: true, passkeys: 1, verifyingPasskeys: 1 };
const mail: FactorSet = { ...none, email: true };
const phone: FactorSet = { ...none, sms: true, recoveryCodes: 3 };

const password = ['pwd'];
const code = ['pwd', 'otp'];
const passkey = ['swk', 'pop', 'user'];
const recovery = ['pwd', 'recovery'];

const done = (acr: string) => ({ need: 'nothing', acr });
const ask = (level: string, ...methods: string[]) => ({ need: 'second-factor', methods, level });
const enrol = (level: string, ...methods: string[]) => ({ need: 'enrolment', methods, level });

describe('the factor that a sign-in still needs', () => {
  test.each<[string, PolicyInput, object]>([
    [
      'no proven factor: the first factor',
      { setting: 'required', factors: both, proven: [] },
      { need: 'first-factor' },
    ],

    // The setting
    ['off: a password is enough', { setting: 'off', factors: both, proven: password }, done(PASSWORD_ACR)],
    ['optional, none set up', { setting: 'optional', factors: none, proven: password }, done(PASSWORD_ACR)],
    [
      'optional, set up: it is needed',
      { setting: 'optional', factors: totp, proven: password },
      ask(MFA_ACR, 'totp', 'recovery-code'),
    ],
    ['optional, passkeys only', { setting: 'optional', factors: keys, proven: password }, ask(MFA_ACR, 'passkey')],
    [
      'optional, codes by mail alone need no second factor',
      { setting: 'optional', factors: mail, proven: password },
      done(PASSWORD_ACR),
    ],
    [
      'a request that demands a code by mail',
      { setting: 'optional', factors: mail, proven: password, demandsMailedCode: true },
      ask(PASSWORD_ACR, 'email'),
    ],
    [
      'a request that demands a code by mail, of an account with a phone',
      { setting: 'off', factors: { ...phone, email: true }, proven: password, demandsMailedCode: true },
      done(PASSWORD_ACR),
    ],
    [
      'required, none set up',
      { setting: 'required', factors: none, proven: password },
      enrol(MFA_ACR, 'passkey', 'totp'),
    ],
    ['required, codes by mail', { setting: 'required', factors: mail, proven: password }, ask(MFA_ACR, 'email')],
    [
      'required, a code by mail given: a factor is set up',
      { setting: 'required', factors: mail, proven: ['pwd', 'email'] },
      enrol(MFA_ACR, 'passkey', 'totp'),
    ],
    [
      'an application that requires one is not satisfied by a code by mail',
      { setting: 'off', factors: mail, proven: ['pwd', 'email'], rule: 'mfa' },
      enrol(MFA_ACR, 'passkey', 'totp'),
    ],
    [
      'a requested level cannot be reached by a code by mail',
      { setting: 'off', factors: mail, proven: password, requestedAcr: [MFA_ACR] },
      { need: 'impossible', level: MFA_ACR },
    ],
    ['required, a code given', { setting: 'required', factors: totp, proven: code }, done(MFA_ACR)],
    ['a passkey is two factors', { setting: 'required', factors: both, proven: passkey }, done(PHISHING_RESISTANT_ACR)],

    // Codes that are sent
    [
      'a verified phone number is a factor, and is needed',
      { setting: 'optional', factors: phone, proven: password },
      ask(MFA_ACR, 'sms', 'recovery-code'),
    ],
    [
      'a code by mail does not replace a factor that is set up',
      { setting: 'optional', factors: { ...totp, email: true }, proven: password },
      ask(MFA_ACR, 'totp', 'recovery-code'),
    ],

    // The application's own rule
    [
      'an application that requires one, none set up',
      { setting: 'off', factors: none, proven: password, rule: 'mfa' },
      enrol(MFA_ACR, 'passkey', 'totp'),
    ],
    [
      'an application that wants a passkey',
      { setting: 'optional', factors: both, proven: code, rule: 'phishing-resistant' },
      ask(PHISHING_RESISTANT_ACR, 'passkey'),
    ],
    [
      'a request cannot lower it',
      { setting: 'optional', factors: totp, proven: password, rule: 'mfa', requestedAcr: [PASSWORD_ACR] },
      ask(MFA_ACR, 'totp', 'recovery-code'),
    ],

    // This browser is remembered
    [
      'a remembered browser needs none',
      { setting: 'required', factors: totp, proven: password, isRememberedBrowser: true },
      done(PASSWORD_ACR),
    ],
    [
      'unless the application wants it',
      { setting: 'optional', factors: totp, proven: password, isRememberedBrowser: true, rule: 'mfa' },
      ask(MFA_ACR, 'totp', 'recovery-code'),
    ],
    [
      'or the request',
      { setting: 'off', factors: totp, proven: password, isRememberedBrowser: true, requestedAcr: [MFA_ACR] },
      ask(MFA_ACR, 'totp', 'recovery-code'),
    ],

    // Step-up: only the missing factor
    [
      'phishing resistance after a code',
      { setting: 'optional', factors: both, proven: code, requestedAcr: ['phr'] },
      ask(PHISHING_RESISTANT_ACR, 'passkey'),
    ],
    [
      'the weakest of the requested levels',
      { setting: 'optional', factors: none, proven: password, requestedAcr: ['phr', PASSWORD_ACR] },
      done(PASSWORD_ACR),
    ],
    [
      'unknown levels ask for nothing',
      { setting: 'optional', factors: none, proven: password, requestedAcr: ['urn:x'] },
      done(PASSWORD_ACR),
    ],
    [
      'a passkey has to be set up',
      { setting: 'optional', factors: none, proven: password, requestedAcr: ['phr'] },
      enrol(PHISHING_RESISTANT_ACR, 'passkey'),
    ],
    [
      'but not before the factor there is was proven',
      { setting: 'off', factors: totp, proven: password, rule: 'phishing-resistant' },
      ask(MFA_ACR, 'totp', 'recovery-code'),
    ],
    [
      'and then it is set up',
      { setting: 'optional', factors: totp, proven: code, rule: 'phishing-resistant' },
      enrol(PHISHING_RESISTANT_ACR, 'passkey'),
    ],
    [
      'a key that never verified its user is not enough',
      { setting: 'optional', factors: plainKey, proven: ['pwd', 'hwk', 'pop'], requestedAcr: ['phr'] },
      enrol(PHISHING_RESISTANT_ACR, 'passkey'),
    ],
    [
      'a recovery code proves a second factor, once',
      { setting: 'optional', factors: totp, proven: recovery, requestedAcr: ['phr'] },
      enrol(PHISHING_RESISTANT_ACR, 'passkey'),
    ],
    [
      'on the own pages it may stand in for the passkey that was lost',
      {
        setting: 'optional',
        factors: { ...keys, recoveryCodes: 2 },
        proven: password,
        requestedAcr: ['phr'],
        recoveryStandsIn: true,
      },
      ask(PHISHING_RESISTANT_ACR, 'passkey', 'recovery-code'),
    ],
    [
      'and then does',
      { setting: 'optional', factors: keys, proven: recovery, requestedAcr: ['phr'], recoveryStandsIn: true },
      done(MFA_ACR),
    ],
    [
      'with second factors off it cannot be',
      { setting: 'off', factors: none, proven: password, requestedAcr: [MFA_ACR] },
      { need: 'impossible', level: MFA_ACR },
    ],
  ])('is decided for: %s', (_, input, expected) => {
    expect(nextFactor(input)).toEqual(expected);
  });
});
