import { describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import {
  dueSteps,
  type KeyDates,
  type KeyState,
  type KeyUse,
  planRotation,
  rotationPolicy,
  type StoredAlg,
} from '../../src/core/keys/rotation.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
const policy = { rotateAfterSeconds: 90 * DAY, publishAheadSeconds: HOUR, retireAfterSeconds: 2 * DAY };
const start = new Date('2026-01-01T00:00:00Z');
const at = (seconds: number) => new Date(start.getTime() + seconds * 1000);

function key(
  kid: string,
  state: KeyState,
  ageAt: Partial<KeyDates> = {},
  alg: StoredAlg = 'RS256',
  use: KeyUse = 'oidc',
) {
  return { kid, use, alg, state, createdAt: start, activatedAt: null, retiredAt: null, ...ageAt } satisfies KeyDates;
}

const complete = [
  key('rs', 'active', { activatedAt: start }),
  key('rs-next', 'next'),
  ...(['PS256', 'ES256', 'EdDSA'] as const).flatMap((alg) => [
    key(alg, 'active', { activatedAt: start }, alg),
    key(`${alg}-next`, 'next', {}, alg),
  ]),
  key('saml', 'active', { activatedAt: start }, 'RS256', 'saml'),
  key('saml-sp', 'active', { activatedAt: start }, 'RS256', 'saml-sp'),
  key('decrypt', 'active', { activatedAt: start }, 'RSA-OAEP', 'saml-sp-encryption'),
];

describe('the scheduled rotation', () => {
  it('creates, for an empty table, a signing key of each algorithm with its successor, and one key of each SAML use', () => {
    expect(dueSteps([], start, policy)).toEqual([
      ...['RS256', 'PS256', 'ES256', 'EdDSA'].flatMap((alg) => [
        { do: 'create', use: 'oidc', alg, state: 'active' },
        { do: 'create', use: 'oidc', alg, state: 'next' },
      ]),
      { do: 'create', use: 'saml', alg: 'RS256', state: 'active' },
      { do: 'create', use: 'saml-sp', alg: 'RS256', state: 'active' },
      { do: 'create', use: 'saml-sp-encryption', alg: 'RSA-OAEP', state: 'active' },
    ]);
  });

  it('does nothing while the keys are complete and young', () => {
    expect(dueSteps(complete, at(90 * DAY - 1), policy)).toEqual([]);
  });

  it('rotates the OIDC keys after 90 days, publishing a successor in the same step, and never a SAML key', () => {
    expect(dueSteps(complete, at(90 * DAY), policy)).toEqual([
      { do: 'activate', kid: 'rs-next', instead: 'rs' },
      { do: 'create', use: 'oidc', alg: 'RS256', state: 'next' },
      ...['PS256', 'ES256', 'EdDSA'].flatMap((alg) => [
        { do: 'activate', kid: `${alg}-next`, instead: alg },
        { do: 'create', use: 'oidc', alg, state: 'next' },
      ]),
    ]);
  });

  it('does not activate a key that was published too late', () => {
    const late = complete.map((one) => (one.kid === 'rs-next' ? { ...one, createdAt: at(90 * DAY) } : one));
    const steps = (seconds: number) =>
      dueSteps(late, at(seconds), policy).map((step) => ('kid' in step ? step.kid : ''));
    expect(steps(90 * DAY + HOUR - 1)).not.toContain('rs-next');
    expect(steps(90 * DAY + HOUR)).toContain('rs-next');
  });

  it('removes a retired key only when everything it signed has expired', () => {
    const keys = [...complete, key('old', 'retired', { retiredAt: at(DAY) })];
    expect(dueSteps(keys, at(3 * DAY - 1), policy)).toEqual([]);
    expect(dueSteps(keys, at(3 * DAY), policy)).toEqual([{ do: 'remove', kid: 'old' }]);
  });
});

describe('the policy', () => {
  it('publishes retired keys longer than the longest session, and at least as long as the limit', () => {
    expect(rotationPolicy(HOUR).retireAfterSeconds).toBe(limits.keys.retireAfterSeconds);
    expect(rotationPolicy(30 * DAY).retireAfterSeconds).toBe(30 * DAY + HOUR);
    expect(rotationPolicy(HOUR).rotateAfterSeconds).toBe(90 * DAY);
  });
});

describe('a requested rotation', () => {
  const plan = (keys: KeyDates[], request: Parameters<typeof planRotation>[1], seconds: number) =>
    planRotation(keys, request, { now: at(seconds), policy });

  it('waits until the next keys were published long enough, unless forced', () => {
    expect(plan(complete, { use: 'oidc' }, HOUR - 1)).toMatchObject({ outcome: 'too-early', readyAt: at(HOUR) });
    const forced = plan(complete, { use: 'oidc', force: true }, 1);
    expect(forced).toEqual(plan(complete, { use: 'oidc' }, HOUR));
    expect(forced).toMatchObject({ outcome: 'go', steps: { length: 8 } });
  });

  it('leaves the keys of other algorithms as they are', () => {
    const late = complete.map((one) => (one.kid === 'EdDSA-next' ? { ...one, createdAt: at(HOUR) } : one));
    expect(plan(late, { use: 'oidc', alg: 'RS256' }, HOUR)).toEqual({
      outcome: 'go',
      steps: [
        { do: 'activate', kid: 'rs-next', instead: 'rs' },
        { do: 'create', use: 'oidc', alg: 'RS256', state: 'next' },
      ],
    });
    expect(plan(late, { use: 'oidc', alg: 'EdDSA' }, HOUR)).toMatchObject({ outcome: 'too-early', kid: 'EdDSA-next' });
  });

  it('takes two steps for SAML: publish the next certificate, then sign with it', () => {
    expect(plan(complete, { use: 'saml' }, 1)).toEqual({
      outcome: 'go',
      steps: [{ do: 'create', use: 'saml', alg: 'RS256', state: 'next' }],
    });
    expect(plan(complete, { use: 'saml', activate: true }, 1)).toEqual({ outcome: 'nothing-to-activate' });

    const published = [...complete, key('saml-next', 'next', {}, 'RS256', 'saml')];
    expect(plan(published, { use: 'saml' }, 1)).toMatchObject({ outcome: 'published-already', kid: 'saml-next' });
    expect(plan(published, { use: 'saml', activate: true }, 1)).toMatchObject({ outcome: 'too-early' });
    expect(plan(published, { use: 'saml', activate: true }, HOUR)).toEqual({
      outcome: 'go',
      steps: [{ do: 'activate', kid: 'saml-next', instead: 'saml' }],
    });
  });
});
