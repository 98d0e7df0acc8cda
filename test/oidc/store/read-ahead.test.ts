// What a request reads of tokens, sessions and the directory: on PostgreSQL one statement for all of it, with the same answers as the
// single statements of SQLite.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { databaseKind } from '../../support/database/database.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Application, anApplication, postAs, signIn } from '../support.ts';

let idp: TestIdp;
let user: TestUser;
let app: Application;

beforeAll(async () => {
  idp = await startIdp();
  await idp.services.settings.set('rate_limits', false);
  await idp.services.settings.reload();
  user = await aUser(idp.services);
  const grant_types = ['authorization_code', 'refresh_token', 'client_credentials'];
  app = await anApplication(idp, { grant_types } as never);
});
afterAll(() => idp?.stop());

const offline = 'openid profile offline_access';
const tokensOf = async (scope = 'openid profile') =>
  (await signIn(httpClient(idp.issuer), app, user, { scope })).tokens;
const userinfo = (token: string) =>
  httpClient(idp.issuer).get('/userinfo', { headers: { authorization: `Bearer ${token}` } });
const introspect = async (token: string) => (await postAs(idp, app, '/introspect', { token })).json().active;

const answersFor = async (token: string) => ({
  userinfo: (await userinfo(token)).status,
  active: await introspect(token),
});

/** The names of the statements that `work` reads with. */
async function readsOf(work: () => Promise<unknown>): Promise<string[]> {
  const query = vi.spyOn(idp.services.sql, 'query');
  await work();
  const names = query.mock.calls.map(([{ name }]) => name);
  query.mockRestore();
  return names;
}

describe('a request with a token', () => {
  it.runIf(databaseKind() === 'postgresql')('reads all that it needs in one statement', async () => {
    const browser = httpClient(idp.issuer);
    const { access_token: token, refresh_token: refresh = '' } = (await signIn(browser, app, user, { scope: offline }))
      .tokens;
    await Promise.all([userinfo(token), introspect(token)]);
    expect(await readsOf(() => userinfo(token))).toEqual(['read-ahead.find']);
    expect(await readsOf(() => introspect(token))).toEqual(['read-ahead.find']);
    const form = { grant_type: 'refresh_token', refresh_token: refresh };
    expect(await readsOf(() => postAs(idp, app, '/token', form))).toEqual(['read-ahead.find']);
    const credentials = { grant_type: 'client_credentials' };
    // Only the revision of the directory, which the adapter reads itself.
    expect(await readsOf(() => postAs(idp, app, '/token', credentials))).toEqual([]);
    const started = await app.rp.start({ scope: offline });
    expect(await readsOf(() => browser.get(started.url))).toEqual(['read-ahead.find']);
  });

  it.runIf(databaseKind() === 'sqlite')('reads nothing again until one of the rows may have changed', async () => {
    const { access_token: token } = await tokensOf();
    let reads = ['not tried'];
    // A job may write to the tables in between, so it is tried more than once.
    for (let attempt = 0; attempt < 20 && reads.length > 0; attempt += 1) {
      await Promise.all([userinfo(token), introspect(token)]);
      // Another token of the same client changes no row that this one depends on.
      await postAs(idp, app, '/token', { grant_type: 'client_credentials' });
      reads = await readsOf(() => Promise.all([userinfo(token), introspect(token)]));
    }
    expect(reads).toEqual([]);
    await idp.services.db.oidcArtifact.deleteMany({ where: { id: 'none' } });
    expect(await readsOf(() => userinfo(token))).toEqual(
      expect.arrayContaining(['artifacts.find', 'artifacts.findByUid', 'artifacts.find']),
    );
  });

  it('finds each kind of token, and nothing for a text that is none', async () => {
    const { access_token: token, refresh_token: refresh = '' } = await tokensOf(offline);
    expect((await userinfo(token)).json()).toMatchObject({ sub: user.account.id });
    const active = {
      access: await introspect(token),
      refresh: await introspect(refresh),
      none: await introspect('none'),
    };
    expect(active).toEqual({ access: true, refresh: true, none: false });
    expect((await userinfo('none')).status).toBe(401);
  });

  it('is rejected when the session of the token has ended', async () => {
    const { access_token: token } = await tokensOf();
    expect((await userinfo(token)).status).toBe(200);
    for (const { uid } of await idp.services.sessions.list(user.account.id))
      await idp.services.endSession.one(uid, 'ended-by-admin');
    expect(await answersFor(token)).toEqual({ userinfo: 401, active: false });
  });

  it('is rejected when another program has changed the session, the grant or the token', async () => {
    const { db } = idp.services;
    const where = { accountId: user.account.id };
    for (const model of ['Session', 'Grant', 'AccessToken']) {
      const { access_token: token } = await tokensOf();
      expect(await answersFor(token), model).toEqual({ userinfo: 200, active: true });
      // No JSON either, so that the database must not depend on it.
      await db.oidcArtifact.updateMany({ where: { ...where, model }, data: { payload: '"sessionUid":"x"' } });
      expect(await answersFor(token), model).toEqual({ userinfo: 401, active: false });
      await db.oidcArtifact.deleteMany({ where });
    }
  });

  it('is rejected at once while its account is disabled', async () => {
    const { access_token: token } = await tokensOf();
    const { accounts } = idp.services;
    expect((await userinfo(token)).status).toBe(200);
    // The sessions do not end here, so only the account's row decides.
    await accounts.setActive(user.account.id, false);
    expect(await answersFor(token)).toEqual({ userinfo: 401, active: false });
    await accounts.setActive(user.account.id, true);
    expect(await answersFor(token)).toEqual({ userinfo: 200, active: true });
  });
});

describe('an authorization request of a signed-in browser', () => {
  it('is answered by a page, whatever characters its client_id has', async () => {
    const browser = httpClient(idp.issuer);
    await signIn(browser, app, user);
    for (const clientId of ['a\0b', 'é', '\\', '({[^$*+?.|', '"', 'x'.repeat(3000), '\ud800']) {
      const query = new URLSearchParams({ client_id: clientId, response_type: 'code', redirect_uri: app.redirectUri });
      const { status } = await browser.get(`/authorize?${query}`);
      expect(status, clientId).toBe(400);
    }
  });
});
