// A session that ends during a request stays ended: what the request saves afterwards does not restore it, and what it
// received is not valid.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { EndSession } from '../../../src/protocols/logout/end-session.ts';
import { createArtifactAdapter } from '../../../src/protocols/oidc/store/adapter.ts';
import { createSessionStore } from '../../../src/protocols/oidc/store/sessions/session-store.ts';
import type { Sessions } from '../../../src/protocols/oidc/store/sessions/sessions.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { servicesOf } from '../../support/services-of.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  outcome,
  postAs,
  redirectUri,
  signIn,
  verifier,
} from '../support.ts';

let idp: TestIdp;
let app: Application;
let sessions: Sessions;
let endSession: EndSession;

beforeAll(async () => {
  idp = await startIdp();
  app = await anApplication(idp);
  ({ sessions, endSession } = idp.services);
});
afterAll(() => idp?.stop());

async function signedIn(): Promise<{ user: TestUser; browser: HttpClient; uid: string }> {
  const user = await aUser(idp.services);
  const browser = httpClient(idp.issuer);
  await signIn(browser, app, user);
  const [session] = await sessions.list(user.account.id);
  return { user, browser, uid: session?.uid ?? '' };
}

/** Ends sessions in the middle of the next request that looks up an account. */
function endDuringNextRequest(end: () => Promise<unknown>): void {
  const { accounts } = idp.services;
  const find = accounts.find.bind(accounts);
  vi.spyOn(accounts, 'find').mockImplementationOnce(async (id, tx) => {
    const account = await find(id, tx);
    await end();
    return account;
  });
}

describe('a session that ends in the middle of a request', () => {
  it('has ended for the next request', async () => {
    const { user, browser, uid } = await signedIn();
    endDuringNextRequest(() => endSession.one(uid, 'ended-by-admin'));
    await browser.get(authorizeUrl(idp, app.clientId, { prompt: 'none' }));
    expect((await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }))).get('error')).toBe(
      'login_required',
    );
    expect(await sessions.list(user.account.id)).toEqual([]);
    expect(await sessions.find(uid)).toBeUndefined();
  });

  it('makes the code that this request received worthless, also with offline_access', async () => {
    const { browser, uid } = await signedIn();
    endDuringNextRequest(() => endSession.one(uid, 'ended-by-admin'));
    const code = (await outcome(browser, authorizeUrl(idp, app.clientId, { scope: 'openid offline_access' }))).get(
      'code',
    );
    const form = { grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: verifier };
    const answer = await postAs(idp, app, '/token', { ...form, code: code ?? 'none' });
    expect([answer.status, answer.json().error]).toEqual([400, 'invalid_grant']);
  });

  it('has ended when all sessions of the account were ended', async () => {
    const { user, browser } = await signedIn();
    endDuringNextRequest(() => endSession.all(user.account.id, 'password-reset'));
    await browser.get(authorizeUrl(idp, app.clientId, { prompt: 'none' }));
    expect((await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }))).get('error')).toBe(
      'login_required',
    );
  });

  it('cannot be written again', async () => {
    const { db, sql } = idp.services;
    const { uid } = await signedIn();
    const store = createSessionStore(servicesOf({ sql }));
    const row = await db.oidcArtifact.findFirstOrThrow({ where: { model: 'Session', uid } });
    const payload = JSON.parse(row.payload);
    const end = Number(row.expiresAt);
    const session = { id: row.id, oldId: undefined, endsAt: end, idleEndsAt: end };
    await endSession.one(uid, 'ended-by-admin');
    const changed = { ...payload, authorizations: {} };
    expect(await store.save({ ...session, storedText: row.payload, payload: changed })).toBe(false);
    expect(await store.save({ ...session, storedText: undefined, payload })).toBe(false);
    expect(await store.addClientToSession(payload, 'another-app', { sid: 'sid' }, undefined)).toBeUndefined();
    expect(await db.oidcArtifact.count({ where: { model: 'Session', uid } })).toBe(0);
  });

  it('is not found when it was written before its end was committed', async () => {
    const { db, now, sql } = idp.services;
    const { uid } = await signedIn();
    const row = await db.oidcArtifact.findFirstOrThrow({ where: { model: 'Session', uid } });
    await endSession.one(uid, 'ended-by-admin');
    // The one order that no single statement can reject.
    await db.oidcArtifact.create({ data: row });
    const adapter = createArtifactAdapter('Session', servicesOf({ db, sql, now }));
    expect(await adapter.findByUid(uid)).toBeUndefined();
    expect(await sessions.find(uid)).toBeUndefined();
  });

  it('is ended by one caller only', async () => {
    const { uid } = await signedIn();
    const results = await Promise.all([1, 2, 3, 4].map(() => endSession.one(uid, 'ended-by-admin')));
    expect(results.filter(Boolean)).toHaveLength(1);
  });
});

describe('an incomplete sign-in', () => {
  it('does not survive the end of all sessions of its account', async () => {
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const page = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
    // The password is proven and the engine knows, but the browser has not gone back to it yet.
    const proven = await browser.submit(page, { username: user.username, password: user.password });
    expect(proven.location).toContain('/authorize/');
    await endSession.all(user.account.id, 'password-reset');
    const resumed = await browser.follow(proven, (url) => url.startsWith(redirectUri));
    expect([resumed.status, resumed.location]).toEqual([400, undefined]);
  });
});
