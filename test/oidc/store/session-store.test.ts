// A save whose answer was lost: the database has stored the session, and the request saves it again before it ends.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomToken } from '../../../src/base/platform/random.ts';
import type { SessionPayload } from '../../../src/protocols/oidc/store/sessions/merge-session.ts';
import { createSessionStore, type SessionStore } from '../../../src/protocols/oidc/store/sessions/session-store.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';

let idp: TestIdp;
let store: SessionStore;

beforeAll(async () => {
  idp = await startIdp();
  store = createSessionStore(idp.services);
});
afterAll(() => idp?.stop());

/** A session as a request saves it that began without one. */
function aSession() {
  const endsAt = Math.floor(idp.services.now().getTime() / 1000) + 3600;
  const payload: SessionPayload & { uid: string } = {
    uid: randomToken(),
    exp: endsAt,
    accountId: 'ann',
    authorizations: {},
  };
  return { id: randomToken(), oldId: undefined, storedText: undefined, payload, endsAt, idleEndsAt: endsAt };
}

const rowsOf = async (uid: string) =>
  (await idp.services.db.oidcArtifact.findMany({ where: { uid, model: 'Session' } })).map(({ id, payload }) => ({
    id,
    payload: JSON.parse(payload),
  }));

describe('a session that is saved again because the answer to its first save was lost', () => {
  it('stores a new session once, with what the second save has', async () => {
    const session = aSession();
    expect(await store.save(session)).toBe(true);
    const payload = { ...session.payload, authorizations: { app: { sid: 'sid' } } };
    expect(await store.save({ ...session, payload })).toBe(true);
    expect(await rowsOf(payload.uid)).toEqual([{ id: session.id, payload }]);
  });

  it('leaves the cookie valid that the first save gave to a session', async () => {
    const session = aSession();
    await store.save(session);
    const storedText = JSON.stringify(session.payload);
    const renamed = { ...session, id: randomToken(), oldId: session.id, storedText };
    expect(await store.save(renamed)).toBe(true);
    expect(await store.save(renamed)).toBe(true);
    expect(await rowsOf(session.payload.uid)).toEqual([{ id: renamed.id, payload: session.payload }]);
  });

  it('does not take the cookie value of another session', async () => {
    const [session, other] = [aSession(), aSession()];
    await store.save(session);
    expect(await store.save({ ...other, id: session.id })).toBe(false);
    expect(await rowsOf(session.payload.uid)).toEqual([{ id: session.id, payload: session.payload }]);
    expect(await rowsOf(other.payload.uid)).toEqual([]);
  });
});
