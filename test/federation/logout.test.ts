// One logout over three hops: a second Gatehouse as the upstream, this one, and applications of both protocols.
import { decodeJwt, decodeProtectedHeader, generateKeyPair, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { App } from '../logout/support/app.ts';
import { leave, resultsOf } from '../logout/support/browser-steps.ts';
import { followLogout } from '../logout/support/follow.ts';
import { oidcApp } from '../logout/support/oidc-app.ts';
import { nodeSamlApp } from '../logout/support/saml-apps.ts';
import { aClient, aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { freePort, startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { aConnection, callbackOf } from './support.ts';

const id = 'corp';
let idp: TestIdp;
let upstream: TestIdp;
let wiki: App;
let payroll: App;
let user: TestUser;
let client: { client_id: string; client_secret: string };
const at = (path: string) => `${idp.issuer}/upstream/${id}/${path}`;

beforeAll(async () => {
  // Another host than the other server's, because ports share cookies.
  const port = String(await freePort());
  [idp, upstream] = await Promise.all([
    startIdp(),
    startIdp({ environment: { PORT: port, ISSUER: `http://127.0.0.1:${port}` } }),
  ]);
  const { clientId, clientSecret } = await aClient(upstream.services, {
    client_name: 'Our Gatehouse',
    redirect_uris: [callbackOf(idp, id)],
    post_logout_redirect_uris: [at('signed-out')],
    backchannel_logout_uri: at('backchannel-logout'),
    backchannel_logout_session_required: true,
  });
  client = { client_id: clientId, client_secret: clientSecret ?? '' };
  await aConnection(idp, entry());
  wiki = await oidcApp(idp, 'back', 'Wiki');
  payroll = await nodeSamlApp(idp, 'Payroll');
});
afterAll(async () => {
  await Promise.all([wiki, payroll].map((app) => app?.close()));
  await Promise.all([idp, upstream].map((server) => server?.stop()));
});
beforeEach(async () => {
  user = await aUser(upstream.services);
});

const entry = (fields: Record<string, unknown> = {}) => ({
  id,
  issuer: upstream.issuer,
  ...client,
  create_users: true,
  ...fields,
});

async function change(fields: Record<string, unknown>): Promise<void> {
  await idp.services.connections.remove(id);
  await aConnection(idp, entry(fields));
}

/** Signs in at the applications over the upstream. */
async function signedIn(apps: App[] = [wiki, payroll]): Promise<HttpClient> {
  const browser = httpClient();
  for (const app of apps) {
    let { page } = await followLogout(browser, await browser.get(`${app.origin}/sign-in`));
    if (page.text.includes(`/connections/${id}`))
      page = (await followLogout(browser, await browser.submit(page, {}, { form: `/connections/${id}` }))).page;
    if (page.text.includes('name="username"')) {
      const sent = await browser.submit(page, { username: user.username, password: user.password });
      ({ page } = await followLogout(browser, sent));
    }
    if (!page.text.includes(`${app.name}: signed in`))
      throw new Error(`${page.status} ${page.url} ${textOf(page.text)}`);
  }
  return browser;
}

const sessionsThere = async () => (await upstream.services.sessions.list(user.account.id)).length;
async function sessionsHere(): Promise<number> {
  const identity = await idp.services.identities.find(id, user.account.id);
  return (await idp.services.sessions.list(identity?.userId ?? '')).length;
}

async function startAtPortal(browser: HttpClient): Promise<Page> {
  const page = await browser.follow(await browser.get(`${idp.issuer}/logout`));
  return browser.submit(page, { logout: 'yes' });
}

describe('a logout that begins here', () => {
  it('goes on to the upstream from an OpenID Connect application, and returns to it', async () => {
    const browser = await signedIn();
    const { page, trail } = await followLogout(browser, await leave(browser, wiki));
    expect(page.url).toBe(`${wiki.origin}/?state=from-app`);
    expect(trail.map((url) => url.split('?')[0])).toContain(`${upstream.issuer}/end-session`);
    expect([await sessionsHere(), await sessionsThere(), payroll.sessions()]).toEqual([0, 0, 0]);
  });

  it('goes on to the upstream from a SAML application, whose LogoutResponse says Success', async () => {
    const browser = await signedIn();
    await followLogout(browser, await leave(browser, payroll));
    expect(payroll.answers.at(-1)?.codes).toEqual(['Success']);
    expect([await sessionsHere(), await sessionsThere()]).toEqual([0, 0]);
  });

  it('goes on to the upstream from the account pages, as one line of the result', async () => {
    const browser = await signedIn();
    const { page } = await followLogout(browser, await startAtPortal(browser));
    expect(page.url).toMatch(new RegExp(`^${idp.issuer}/signout/`));
    expect(resultsOf(page)).toEqual({
      Wiki: 'Signed out.',
      Payroll: 'Signed out.',
      'Example Corp': 'Signed out.',
    });
    expect(await sessionsThere()).toBe(0);
  });

  it('ends the session at the upstream with an ID token that has expired since the sign-in', async () => {
    const browser = await signedIn([wiki]);
    const { db, vault } = idp.services;
    const row = await db.asStored.upstreamSession.findFirstOrThrow({
      where: { connectionId: id },
      orderBy: { createdAt: 'desc' },
    });
    const place = `upstream_sessions:${row.id}`;
    const handle = JSON.parse(vault.open(row.dataSealed, place).toString()) as { idToken: string };
    const { kid = '' } = decodeProtectedHeader(handle.idToken);
    const key = upstream.services.keyring.jwks().keys.find((one) => one.kid === kid);
    const { iat = 0, ...claims } = decodeJwt(handle.idToken);
    const idToken = await new SignJWT({ ...claims, iat: iat - 7200, exp: iat - 3600 })
      .setProtectedHeader({ alg: 'RS256', kid })
      .sign(await importJWK({ ...key }, 'RS256'));
    const dataSealed = vault.seal(JSON.stringify({ ...handle, idToken }), place);
    await db.asStored.upstreamSession.update({ where: { id: row.id }, data: { dataSealed } });
    const { page, trail } = await followLogout(browser, await leave(browser, wiki));
    expect(trail).toContainEqual(expect.stringContaining(`id_token_hint=${idToken}`));
    expect(page.url).toBe(`${wiki.origin}/?state=from-app`);
    expect([await sessionsHere(), await sessionsThere()]).toEqual([0, 0]);
  });

  it('asks the user where the connection says so, and goes on only with a yes', async () => {
    await change({ logout: 'ask' });
    const first = await signedIn([wiki]);
    const question = (await followLogout(first, await startAtPortal(first))).page;
    expect(question.text).toContain('Sign out of Example Corp too?');
    const stayed = await followLogout(first, await first.submit(question, { choice: 'stay' }));
    const line = 'You chose to stay signed in.';
    expect(resultsOf(stayed.page)).toEqual({ Wiki: 'Signed out.', 'Example Corp': line });
    expect(await sessionsThere()).toBe(1);
    const second = await signedIn([wiki]);
    const again = (await followLogout(second, await startAtPortal(second))).page;
    const forged = await second.post(again.forms[0]?.action ?? '', { form: { choice: 'sign-out' } });
    expect(forged.status).toBe(403);
    const left = await followLogout(second, await second.submit(again, { choice: 'sign-out' }));
    expect(resultsOf(left.page)).toMatchObject({ 'Example Corp': 'Signed out.' });
    expect(await sessionsThere()).toBe(1);
    await change({});
  });

  it('stays here where the connection says never', async () => {
    await change({ logout: 'never' });
    const browser = await signedIn([wiki]);
    const { page } = await followLogout(browser, await startAtPortal(browser));
    expect([resultsOf(page), await sessionsThere()]).toEqual([{ Wiki: 'Signed out.' }, 1]);
    await change({});
  });

  it('completes without an upstream that is down', async () => {
    const browser = await signedIn([wiki]);
    const documents = idp.services.connectionDocuments;
    const stored = await documents.get(await idp.services.connections.get(id), 'discovery');
    const end = `"end_session_endpoint":"http://127.0.0.1:${await freePort()}/end"`;
    const content = stored.content.replace(/"end_session_endpoint":"[^"]+"/, end);
    const get = vi.spyOn(documents, 'get').mockResolvedValue({ ...stored, content });
    const { page } = await followLogout(browser, await leave(browser, wiki)).finally(() => get.mockRestore());
    expect(resultsOf(page)['Example Corp']).toMatch(/^The app didn’t respond\./);
    expect([await sessionsHere(), wiki.sessions()]).toEqual([0, 0]);
  });

  it('ignores a return from the upstream with a state that it does not know', async () => {
    const browser = httpClient();
    const unknown = await browser.get(at('signed-out?state=forged'));
    expect(unknown.status).toBe(200);
    expect(unknown.location).toBeUndefined();
    expect(textOf(unknown.text)).toContain('signed out');
    expect((await browser.get(`${idp.issuer}/upstream/none/signed-out`)).status).toBe(404);
  });
});

describe('a logout that begins at the upstream', () => {
  it('ends the session here and in applications of both protocols', async () => {
    const soap = await nodeSamlApp(idp, 'Board', { binding: 'soap' });
    const browser = await signedIn([wiki, soap]);
    const page = await browser.follow(await browser.get(`${upstream.issuer}/logout`));
    await followLogout(browser, await browser.submit(page, { logout: 'yes' }));
    await vi.waitFor(() => expect([wiki.sessions(), soap.sessions()]).toEqual([0, 0]), 10_000);
    expect(await sessionsHere()).toBe(0);
    await soap.close();
  });
});

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
interface Forgery {
  claims?: Record<string, unknown>;
  typ?: string;
  sign?: 'other-key' | 'none' | 'hmac';
}

/** The sid of this user's session at the upstream, as the ID token has it. */
async function sidOf(): Promise<string> {
  const where = { connectionId: id, subject: user.account.id };
  return String((await idp.services.db.asStored.upstreamSession.findFirstOrThrow({ where })).sid);
}

/** A logout token of the upstream. */
async function logoutToken(names: Record<string, unknown>, { claims, typ = 'logout+jwt', sign }: Forgery = {}) {
  const now = Math.floor(Date.now() / 1000);
  const jwk = upstream.services.keyring.jwks().keys.find(({ alg }) => alg === 'RS256');
  const { kid = '' } = jwk ?? {};
  const all = {
    iss: upstream.issuer,
    aud: client.client_id,
    iat: now,
    exp: now + 120,
    jti: crypto.randomUUID(),
    events: { [EVENT]: {} },
    ...names,
    ...claims,
  };
  const payload = JSON.parse(JSON.stringify(all));
  if (sign === 'none') return new UnsecuredJWT(payload).encode();
  if (sign === 'hmac') {
    return new SignJWT(payload).setProtectedHeader({ alg: 'HS256', kid, typ }).sign(Buffer.from(client.client_secret));
  }
  const key = sign ? (await generateKeyPair('RS256')).privateKey : await importJWK(jwk as never, 'RS256');
  return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid, typ }).sign(key);
}

const send = (token: string) => httpClient().post(at('backchannel-logout'), { form: { logout_token: token } });

describe('a logout token', () => {
  it('ends the session that its sid names, once, and nothing when it is not known', async () => {
    await signedIn([wiki]);
    const token = await logoutToken({ sid: await sidOf() });
    const unknown = await send(await logoutToken({ sid: 'unknown' }));
    expect([unknown.status, unknown.headers['cache-control'], await sessionsHere()]).toEqual([200, 'no-store', 1]);
    const sent = await send(token);
    expect([sent.status, sent.headers['cache-control'], sent.text]).toEqual([200, 'no-store', '']);
    expect(await sessionsHere()).toBe(0);
    const again = await send(token);
    expect([again.status, again.headers['cache-control'], again.json().error]).toEqual([
      400,
      'no-store',
      'invalid_request',
    ]);
    await vi.waitFor(() => expect(wiki.sessions()).toBe(0), 10_000);
  });

  it('ends every session of the user that its sub names', async () => {
    await signedIn([wiki]);
    await signedIn([wiki]);
    expect(await sessionsHere()).toBe(2);
    expect((await send(await logoutToken({ sub: user.account.id }))).status).toBe(200);
    expect(await sessionsHere()).toBe(0);
  });

  it('is rejected when it is forged, for another audience, of another type or too old', async () => {
    await signedIn([wiki]);
    const sid = await sidOf();
    const old = Math.floor(Date.now() / 1000) - 3600;
    const forgeries: Record<string, Forgery> = {
      'another key': { sign: 'other-key' },
      'no signature': { sign: 'none' },
      'the client secret': { sign: 'hmac' },
      'another audience': { claims: { aud: 'other' } },
      'another issuer': { claims: { iss: 'https://other.example' } },
      'a nonce': { claims: { nonce: 'n' } },
      'no event': { claims: { events: {} } },
      'another event': { claims: { events: { 'https://other.example': {} } } },
      'an event that is no object': { claims: { events: { [EVENT]: true } } },
      'no jti': { claims: { jti: undefined } },
      'no iat': { claims: { iat: undefined } },
      'an old iat': { claims: { iat: old, exp: undefined } },
      'an old exp': { claims: { exp: old } },
      'neither sid nor sub': { claims: { sid: undefined } },
      'the type of an access token': { typ: 'at+jwt' },
    };
    const answers: Record<string, number> = {};
    for (const [name, forgery] of Object.entries(forgeries))
      answers[name] = (await send(await logoutToken({ sid }, forgery))).status;
    expect(answers).toEqual(Object.fromEntries(Object.keys(forgeries).map((name) => [name, 400])));
    expect((await send(await logoutToken({ sid, sub: 'another-user' }))).status).toBe(200);
    expect((await send('x'.repeat(100_000))).status).toBe(413);
    expect((await httpClient().post(at('backchannel-logout'), { form: {} })).status).toBe(400);
    expect(await sessionsHere()).toBe(1);
  });

  it('also ends a session whose connection was disabled, which goes on until then and is signed out here alone', async () => {
    const browser = await signedIn([wiki]);
    const leaving = await signedIn([wiki]);
    await idp.services.connections.setEnabled(id, false);
    const home = await browser.follow(await browser.get(`${wiki.origin}/sign-in`));
    expect(home.text).toContain('Wiki: signed in');
    expect(await sessionsHere()).toBe(2);
    const { page } = await followLogout(leaving, await startAtPortal(leaving));
    expect([resultsOf(page), await sessionsHere()]).toEqual([{ Wiki: 'Signed out.' }, 1]);
    expect((await send(await logoutToken({ sub: user.account.id }))).status).toBe(200);
    expect(await sessionsHere()).toBe(0);
    await idp.services.connections.setEnabled(id, true);
  });

  it('ends no session of another connection', async () => {
    await signedIn([wiki]);
    const sid = await sidOf();
    await aConnection(idp, { ...entry(), id: 'other' });
    const token = await logoutToken({ sid });
    const url = `${idp.issuer}/upstream/other/backchannel-logout`;
    expect((await httpClient().post(url, { form: { logout_token: token } })).status).toBe(200);
    expect(await sessionsHere()).toBe(1);
    await idp.services.connections.remove('other');
  });
});

describe('a front-channel logout of the upstream', () => {
  it('ends the session of its sid, in a frame of the upstream only', async () => {
    await signedIn([wiki]);
    const address = (iss: string, sid: string) => `${at('frontchannel-logout')}?${new URLSearchParams({ iss, sid })}`;
    const sid = await sidOf();
    const frame = httpClient();
    expect((await frame.get(address('https://other.example', sid))).status).toBe(400);
    await frame.request('HEAD', address(upstream.issuer, sid));
    expect([(await frame.get(address(upstream.issuer, 'unknown'))).status, await sessionsHere()]).toEqual([200, 1]);
    const ended = await frame.get(address(upstream.issuer, sid));
    expect([ended.status, ended.headers['cache-control'], ended.headers['x-frame-options']]).toEqual([
      200,
      'no-store',
      undefined,
    ]);
    expect(ended.headers['content-security-policy']).toContain(`frame-ancestors 'self' ${upstream.issuer}`);
    expect(await sessionsHere()).toBe(0);
  });
});
