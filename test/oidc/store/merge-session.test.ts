// What is stored when two requests have changed one session.
import { describe, expect, it } from 'vitest';
import { mergeSession, type SessionPayload } from '../../../src/protocols/oidc/store/sessions/merge-session.ts';

const before: SessionPayload = {
  uid: 'uid',
  accountId: 'ann',
  loginTs: 100,
  amr: ['pwd'],
  exp: 1000,
  authorizations: { a: { sid: 'a1', grantId: 'ga' } },
};
const b = { sid: 'b1', grantId: 'gb' };
const c = { sid: 'c1', grantId: 'gc' };
const withApps = (authorizations: SessionPayload['authorizations']) => ({ ...before, authorizations });
const sameCookie = { wasRenamed: false };

describe('the apps of a merged session', () => {
  it('are those of both requests', () => {
    const { a } = before.authorizations ?? {};
    const merged = mergeSession(before, withApps({ a: a ?? {}, b }), withApps({ a: a ?? {}, c }), sameCookie);
    expect(merged?.authorizations).toEqual({ a, b, c });
  });

  it('lack those that either request logged out of', () => {
    expect(
      mergeSession(before, withApps({}), withApps({ ...before.authorizations, c }), sameCookie)?.authorizations,
    ).toEqual({
      c,
    });
    const app = { a: { sid: 'a1', grantId: 'ga', persistsLogout: true } };
    expect(mergeSession(before, withApps(app), withApps({}), sameCookie)?.authorizations).toEqual({});
  });

  it('keep offline access that either request was granted', () => {
    const stored = withApps({ a: { sid: 'a1', grantId: 'ga', persistsLogout: true } });
    expect(mergeSession(before, before, stored, sameCookie)?.authorizations).toEqual(stored.authorizations);
    expect(mergeSession(before, stored, before, sameCookie)?.authorizations).toEqual(stored.authorizations);
  });

  it('have the grant that was stored last', () => {
    const again = { a: { sid: 'a2', grantId: 'ga2' } };
    const stored = withApps({ a: { sid: 'a1', grantId: 'ga', persistsLogout: true } });
    expect(mergeSession(before, withApps(again), stored, sameCookie)?.authorizations).toEqual(again);
  });

  it('may have the name of any object property', () => {
    const named = withApps({ ...before.authorizations, constructor: b });
    expect(mergeSession(before, named, before, sameCookie)?.authorizations).toEqual({
      ...before.authorizations,
      constructor: b,
    });
  });
});

describe('the sign-in of a merged session', () => {
  const again = { ...before, loginTs: 200, amr: ['pwd', 'otp', 'mfa'], exp: 1100 };

  it.each([
    ['that of this request', again, before],
    ['that of the other request', before, again],
    ['the newest', { ...before, loginTs: 150, amr: ['hwk'] }, again],
  ])('is %s', (_which, own, stored) => {
    expect(mergeSession(before, own, stored, sameCookie)).toMatchObject({ loginTs: 200, amr: again.amr, exp: 1100 });
  });
});

describe('a pending form', () => {
  it('stays after a request that did not render it', () => {
    expect(mergeSession(before, before, { ...before, state: { secret: 's' } }, sameCookie)?.state).toEqual({
      secret: 's',
    });
  });

  it('is removed after its submission', () => {
    const rendered = { ...before, state: { secret: 's' } };
    expect(mergeSession(rendered, before, rendered, sameCookie)?.state).toBeUndefined();
  });
});

describe('a session that got a new cookie meanwhile', () => {
  it('receives the applications of the same account, but no form', () => {
    const own = {
      ...withApps({ ...before.authorizations, b }),
      state: { secret: 'known to the holder of the old cookie' },
    };
    const merged = mergeSession(before, own, { ...before, loginTs: 300 }, { wasRenamed: true });
    expect(merged?.state).toBeUndefined();
    expect(merged).toMatchObject({ loginTs: 300, authorizations: { b } });
  });

  it('receives nothing from a request without an account, or with another one', () => {
    const anonymous: SessionPayload = { uid: 'uid', exp: 500 };
    const signedIn = { ...before, state: undefined };
    expect(
      mergeSession(anonymous, { ...anonymous, state: { secret: 's' } }, signedIn, { wasRenamed: true }),
    ).toBeUndefined();
    const other = { ...anonymous, accountId: 'bob', loginTs: 900 };
    expect(mergeSession(anonymous, other, signedIn, { wasRenamed: true })).toBeUndefined();
  });
});
