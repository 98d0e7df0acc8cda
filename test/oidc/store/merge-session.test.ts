// What is stored when two requests have changed one session.
import { describe, expect, it } from 'vitest';
import { mergeSession, type SessionPayload } from '../../../src/oidc/store/sessions/merge-session.ts';

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
const stay = { wasRenamed: false };

describe('the apps of a merged session', () => {
  it('the apps of a merged session are those of both requests', () => {
    const { a } = before.authorizations ?? {};
    const merged = mergeSession(before, withApps({ a: a ?? {}, b }), withApps({ a: a ?? {}, c }), stay);
    expect(merged?.authorizations).toEqual({ a, b, c });
  });

  it('the apps of a merged session lack those that either request logged out of', () => {
    expect(mergeSession(before, withApps({}), withApps({ ...before.authorizations, c }), stay)?.authorizations).toEqual(
      {
        c,
      },
    );
    const app = { a: { sid: 'a1', grantId: 'ga', persistsLogout: true } };
    expect(mergeSession(before, withApps(app), withApps({}), stay)?.authorizations).toEqual({});
  });

  it('the apps of a merged session keep offline access that either request was granted', () => {
    const stored = withApps({ a: { sid: 'a1', grantId: 'ga', persistsLogout: true } });
    expect(mergeSession(before, before, stored, stay)?.authorizations).toEqual(stored.authorizations);
    expect(mergeSession(before, stored, before, stay)?.authorizations).toEqual(stored.authorizations);
  });

  it('the apps of a merged session have the grant that was stored last', () => {
    const again = { a: { sid: 'a2', grantId: 'ga2' } };
    const stored = withApps({ a: { sid: 'a1', grantId: 'ga', persistsLogout: true } });
    expect(mergeSession(before, withApps(again), stored, stay)?.authorizations).toEqual(again);
  });

  it('the apps of a merged session may have the name of any object property', () => {
    const named = withApps({ ...before.authorizations, constructor: b });
    expect(mergeSession(before, named, before, stay)?.authorizations).toEqual({
      ...before.authorizations,
      constructor: b,
    });
  });
});

describe('the sign-in of a merged session', () => {
  const again = { ...before, loginTs: 200, amr: ['pwd', 'otp', 'mfa'], exp: 1100 };

  it.each([
    ['of this request', again, before],
    ['of the other request', before, again],
    ['that is the newest', { ...before, loginTs: 150, amr: ['hwk'] }, again],
  ])('%s counts', (_which, own, stored) => {
    expect(mergeSession(before, own, stored, stay)).toMatchObject({ loginTs: 200, amr: again.amr, exp: 1100 });
  });
});

describe('a form that is not submitted yet', () => {
  it('a form that is not submitted yet stays after a request that did not render it', () => {
    expect(mergeSession(before, before, { ...before, state: { secret: 's' } }, stay)?.state).toEqual({ secret: 's' });
  });

  it('a form that is not submitted yet is removed when it was submitted', () => {
    const rendered = { ...before, state: { secret: 's' } };
    expect(mergeSession(rendered, before, rendered, stay)?.state).toBeUndefined();
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
