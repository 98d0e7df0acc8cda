// The checks of the access check in words, from facts.
import { describe, expect, it } from 'vitest';
import type { CheckId } from '../../src/diagnostics/access-check/check.ts';
import { checksOf } from '../../src/diagnostics/access-check/checks.ts';
import type { AccessFacts } from '../../src/diagnostics/access-check/facts.ts';
import { offersFor } from '../../src/diagnostics/access-check/fix-offers.ts';

const now = new Date('2026-11-20T10:00:00Z');
const facts = {
  account: { id: 'u', username: 'ann', name: 'Ann', email: 'ann@example.com', roles: [], isActive: true },
  application: {
    name: 'Payroll',
    protocol: 'oidc',
    access: 'everyone',
    metadata: { grant_types: ['authorization_code'] },
  },
  conditions: [],
  locks: [],
  codeWaitSeconds: 0,
  invitation: undefined,
  password: { mustChange: false, changedAt: now },
  factors: { totp: false, passkeys: 0, verifyingPasskeys: 0, recoveryCodes: 0, phone: undefined },
  requirements: {
    missing: 'nothing',
    mustChangePassword: false,
    methods: [],
    level: 'urn:gatehouse:acr:password',
    channels: {},
  },
  rule: undefined,
  required: undefined,
  linked: [],
  offered: [],
  directories: [],
  wrongPasswords: 0,
  network: undefined,
  metadataEndsAt: undefined,
  apis: [],
  groupChoices: undefined,
  secrets: 'valid',
  registration: undefined,
  openid: 'included',
  unsignable: undefined,
  now,
} as unknown as AccessFacts;
const okta = { id: 'okta', name: 'Okta' };
const local = { connections: 'all', isLocalAllowed: false } as const;
const { requirements } = facts;

const cases: [string, CheckId, Partial<AccessFacts>, string, string][] = [
  [
    'a required connection that is accepted',
    'method',
    { required: { ...okta, isAccepted: true } },
    'passed',
    'Ann signs in with Okta only',
  ],
  [
    'a required connection that is not accepted',
    'method',
    { required: { ...okta, isAccepted: false } },
    'failed',
    'Payroll doesn’t accept Okta.',
  ],
  [
    'a linked connection where local sign-in is off',
    'method',
    { rule: local, linked: ['Okta'] },
    'passed',
    'Ann can use Okta.',
  ],
  [
    'a connection that is not linked yet',
    'method',
    { rule: local, offered: ['Okta'] },
    'later',
    'Ann isn’t linked to Okta yet.',
  ],
  [
    'no way at all',
    'method',
    { password: undefined },
    'failed',
    'no password, no passkey and no linked identity provider',
  ],
  [
    'a password that is due',
    'password',
    { requirements: { ...requirements, mustChangePassword: true } },
    'later',
    'Ann chooses a new password',
  ],
  [
    'a temporary password after wrong ones',
    'password',
    {
      password: { mustChange: true, changedAt: now },
      requirements: { ...requirements, mustChangePassword: true },
      wrongPasswords: 2,
    },
    'warning',
    'The last 2 passwords were wrong. Reset the password if Ann forgot it. Ann chooses a new password at the next sign-in.',
  ],
  [
    'a password of unknown length',
    'password',
    { requirements: { ...requirements, mustChangePassword: true } },
    'later',
    'Ann chooses a new password at the next sign-in if the current one has fewer than 15 characters.',
  ],
  [
    'a factor to set up',
    'factor',
    { requirements: { ...requirements, missing: 'enrolment', methods: ['passkey', 'totp'] } },
    'later',
    'Ann sets up a passkey or an authenticator app',
  ],
  [
    'an acr that cannot be reached',
    'factor',
    { requirements: { ...requirements, lacked: 'phr' } },
    'warning',
    'requests a phishing-resistant sign-in',
  ],
  [
    'a lockout',
    'lockout',
    { locks: [{ by: 'username', seconds: 28 }] },
    'failed',
    'New browsers must wait 28 seconds.',
  ],
  ['too many wrong codes', 'codes', { codeWaitSeconds: 61 }, 'failed', 'must wait 61 seconds'],
  [
    'a blocked network',
    'network',
    { network: { address: '192.0.2.1', isDenied: true, waitSeconds: 0 } },
    'failed',
    'is in a blocked network',
  ],
  ['an OAuth 2.0 client without openid', 'openid', { openid: 'alone' }, 'warning', 'don’t include openid'],
  [
    'request objects without a key',
    'key',
    { unsignable: [{ use: 'requests', alg: 'ES256' }] },
    'warning',
    'no usable key for ES256, so its signed requests are rejected',
  ],
  [
    'expired metadata',
    'metadata',
    { metadataEndsAt: new Date('2026-11-01') },
    'failed',
    'hasn’t been used since November 1, 2026',
  ],
];

describe('a check', () => {
  it.each(cases)('names %s', (_what, id, changes, state, sentence) => {
    const found = checksOf({ ...facts, ...changes }).find((one) => one.id === id);
    expect(found?.state).toBe(state);
    expect(String(found?.explanation)).toContain(sentence);
  });

  it('sends a link for a password only where a mail server is set', () => {
    const labels = (hasMailServer: boolean, changes: Partial<AccessFacts> = {}) =>
      offersFor({ admin: {}, mailServer: { isSet: () => hasMailServer } } as never, 'password', {
        ...facts,
        ...changes,
      }).map(({ fix }) => String(fix.label));
    expect(labels(true)).toEqual(['Send password reset']);
    expect(labels(true, { password: undefined })).toEqual(['Invite Ann', 'Create temporary password']);
    expect(labels(false)).toEqual(['Create temporary password']);
    expect(labels(false, { password: undefined })).toEqual(['Create temporary password']);
  });

  it('fails for a service without a grant for people', () => {
    const application = { ...facts.application, metadata: { grant_types: ['client_credentials'] } };
    const found = checksOf({ ...facts, application } as AccessFacts).find(({ id }) => id === 'grant');
    expect(found?.state).toBe('failed');
  });
});
