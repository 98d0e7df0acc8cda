import { describe, expect, it } from 'vitest';
import type { Acr } from '../../src/people/mfa/acr.ts';
import type { Comparison } from '../../src/protocols/saml/messages/authn-request.ts';
import { authnContextFor, isUnknownContext, lackingContext } from '../../src/protocols/saml/sso/authn-context.ts';
import { contextClasses } from '../../src/protocols/saml/xml/names.ts';

const { password, mfa, passkey } = contextClasses;
const unspecified = 'urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified';
const plainPassword = 'urn:oasis:names:tc:SAML:2.0:ac:classes:Password';
const acr = { password: 'urn:gatehouse:acr:password', mfa: 'urn:gatehouse:acr:mfa', passkey: 'phr' } as const;
const facts = {
  password: { acr: acr.password, amr: ['pwd'] },
  mfa: { acr: acr.mfa, amr: ['pwd', 'otp', 'mfa'] },
  passkey: { acr: acr.passkey, amr: ['hwk', 'user'] },
};
const ask = (comparison: Comparison, ...classes: string[]) => ({ comparison, classes, declarations: [] });

describe('without a requested context', () => {
  it('the strongest true class is stated', () => {
    expect(authnContextFor(undefined, facts.password)).toBe(password);
    expect(authnContextFor(undefined, facts.mfa)).toBe(mfa);
    expect(authnContextFor(undefined, facts.passkey)).toBe(passkey);
    expect(authnContextFor(undefined, { acr: undefined, amr: [] })).toBe(unspecified);
    expect(lackingContext(undefined, [])).toBeUndefined();
  });
});

type Row = [ReturnType<typeof ask>, string | undefined, string | undefined, string | undefined, Acr[]];
const rows: Row[] = [
  // asked                              password     mfa          passkey      acrs that would do
  [ask('exact', password), password, password, undefined, [acr.password, acr.mfa, acr.passkey]],
  [ask('exact', plainPassword), plainPassword, plainPassword, undefined, [acr.password, acr.mfa, acr.passkey]],
  [ask('exact', mfa), undefined, mfa, mfa, [acr.mfa, acr.passkey]],
  [ask('exact', passkey), undefined, undefined, passkey, [acr.passkey]],
  [ask('exact', passkey, password), password, password, passkey, [acr.password, acr.mfa, acr.passkey]],
  [ask('exact', 'urn:x'), undefined, undefined, undefined, []],
  [ask('exact', 'urn:x', unspecified), unspecified, unspecified, unspecified, [acr.password, acr.mfa, acr.passkey]],
  [ask('minimum', password), password, mfa, passkey, [acr.password, acr.mfa, acr.passkey]],
  [ask('minimum', mfa), undefined, mfa, passkey, [acr.mfa, acr.passkey]],
  [ask('minimum', passkey, mfa), undefined, mfa, passkey, [acr.mfa, acr.passkey]],
  [ask('minimum', 'urn:x'), undefined, undefined, undefined, []],
  [ask('better', password), undefined, mfa, passkey, [acr.mfa, acr.passkey]],
  [ask('better', mfa), undefined, undefined, passkey, [acr.passkey]],
  [ask('better', passkey), undefined, undefined, undefined, []],
  [ask('better', password, 'urn:x'), undefined, undefined, undefined, []],
  [ask('better', unspecified), password, mfa, passkey, [acr.password, acr.mfa, acr.passkey]],
  [ask('maximum', password), password, password, undefined, [acr.password, acr.mfa, acr.passkey]],
  [ask('maximum', mfa), password, mfa, mfa, [acr.password, acr.mfa, acr.passkey]],
  [ask('maximum', passkey), password, mfa, passkey, [acr.password, acr.mfa, acr.passkey]],
  [ask('exact'), undefined, undefined, undefined, []],
];

describe.each(rows)('the requested context %j', (requested, afterPassword, afterMfa, afterPasskey, acrs) => {
  it('gets a class that is true of the sign-in, or none', () => {
    expect(authnContextFor(requested, facts.password)).toBe(afterPassword);
    expect(authnContextFor(requested, facts.mfa)).toBe(afterMfa);
    expect(authnContextFor(requested, facts.passkey)).toBe(afterPasskey);
  });

  it('lists the acr values that meet it', () => {
    const { acrs: found = [] } = lackingContext(requested, []) ?? {};
    expect(found).toEqual(acrs);
    expect(isUnknownContext(requested)).toBe(acrs.length === 0);
  });
});

const proven = {
  password: ['pwd'],
  mfa: ['pwd', 'otp', 'mfa'],
  passkey: ['hwk', 'user', 'mfa'],
  upstream: ['fed'],
  upstreamMfa: ['fed', 'mfa'],
  upstreamPassword: ['fed', 'pwd'],
};
const met = 'met';
const impossible = { acrs: [], password: false };
const withPassword = { acrs: [], password: true };
const withFactor = { acrs: [acr.mfa, acr.passkey], password: false };

describe('what a sign-in lacks', () => {
  it.each<[ReturnType<typeof ask>, Partial<Record<keyof typeof proven, unknown>>]>([
    [ask('exact', password), { password: met, mfa: met, passkey: withPassword, upstream: withPassword }],
    [ask('exact', password), { upstreamMfa: withPassword, upstreamPassword: met }],
    [ask('exact', plainPassword), { passkey: withPassword, upstream: withPassword }],
    [ask('exact', 'urn:x', password), { upstream: withPassword }],
    [ask('exact', password, passkey), { passkey: met, upstream: { acrs: [acr.passkey], password: true } }],
    [ask('exact', mfa), { password: withFactor, passkey: met, upstream: withFactor, upstreamMfa: met }],
    [ask('exact', passkey), { password: { acrs: [acr.passkey], password: false }, passkey: met }],
    [ask('exact', unspecified), { password: met, passkey: met, upstream: met }],
    [ask('minimum', password), { passkey: met, upstream: { ...withFactor, password: true }, upstreamMfa: met }],
    [ask('better', password), { password: withFactor, upstream: withFactor }],
    [ask('better', passkey), { password: impossible, passkey: impossible, upstream: impossible }],
    [ask('maximum', password), { password: met, mfa: met, passkey: withPassword, upstream: withPassword }],
    [ask('maximum', mfa), { password: met, passkey: met, upstreamMfa: met }],
    [ask('exact', 'urn:x'), { password: impossible, upstream: impossible }],
  ])('for %j is %j', (requested, expected) => {
    for (const [how, lacking] of Object.entries(expected))
      expect(lackingContext(requested, proven[how as keyof typeof proven]) ?? met, how).toEqual(lacking);
  });
});

describe('a request by declarations', () => {
  it('cannot be met', () => {
    const requested = { comparison: 'exact' as const, classes: [], declarations: ['urn:declaration'] };
    expect(authnContextFor(requested, facts.passkey)).toBeUndefined();
    expect(isUnknownContext(requested)).toBe(true);
  });
});
