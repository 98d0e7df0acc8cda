// Shared signals of a second Gatehouse, the upstream: what it pushes ends sessions here, and nothing else does.
import { decodeJwt, generateKeyPair, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { ssfApi } from '../../src/people/rbac/built-in.ts';
import { basic } from '../oidc/support.ts';
import { aClient, aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { freePort, startIdp, type TestIdp } from '../support/idp.ts';
import { aConnection, callbackOf, openSignIn } from './support.ts';

const id = 'corp';
const RISC = 'https://schemas.openid.net/secevent/risc/event-type';
const REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked';
let idp: TestIdp;
let upstream: TestIdp;
let user: TestUser;
let clientId: string;
let client: string;
const at = (connection = id) => `${idp.issuer}/upstream/${connection}/security-events`;

beforeAll(async () => {
  const port = String(await freePort());
  [idp, upstream] = await Promise.all([
    startIdp(),
    startIdp({ environment: { PORT: port, ISSUER: `http://127.0.0.1:${port}` } }),
  ]);
  const made = await aClient(upstream.services, {
    redirect_uris: [callbackOf(idp, id)],
    grant_types: ['authorization_code', 'client_credentials'],
    resources: [ssfApi(upstream.issuer)],
    scope: 'openid profile email ssf.manage ssf.read',
  });
  clientId = made.clientId;
  const secret = { client_id: clientId, client_secret: made.clientSecret ?? '' };
  const entry = { issuer: upstream.issuer, ...secret, create_users: true, logout: 'never' };
  await aConnection(idp, { id, ...entry, security_events_audience: clientId });
  await aConnection(idp, { id: 'other', ...entry, security_events_audience: 'another-receiver' });
  await aConnection(idp, { id: 'closed', ...entry });
  ({ clientId: client } = await aClient(idp.services, { redirect_uris: ['http://127.0.0.1:4000/cb'] }));
  // The upstream pushes to this server.
  const headers = { authorization: basic(clientId, secret.client_secret) };
  const form = { grant_type: 'client_credentials', scope: 'ssf.manage ssf.read' };
  const { access_token: token } = (await httpClient(upstream.issuer).post('/token', { form, headers })).json<{
    access_token: string;
  }>();
  const stream = { delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: at() } };
  const options = { json: stream, headers: { authorization: `Bearer ${token}` } };
  expect((await httpClient(upstream.issuer).post('/ssf/streams', options)).status).toBe(201);
});
afterAll(() => Promise.all([idp, upstream].map((server) => server?.stop())));
beforeEach(async () => {
  user = await aUser(upstream.services);
  await signIn();
});

async function signIn(): Promise<void> {
  const isDone = (url: string) => url.startsWith('http://127.0.0.1:4000/cb');
  const browser = httpClient(idp.issuer);
  const form = await openSignIn(idp, { clientId: client, browser });
  let page = await browser.follow(await browser.submit(form, {}, { form: `/connections/${id}` }), isDone);
  const { username, password } = user;
  page = await browser.follow(await browser.submit(page, { username, password }), isDone);
  for (let step = 0; step < 3 && !isDone(page.url) && page.forms.length > 0; step += 1)
    page = await browser.follow(await browser.submit(page), isDone);
  expect(await sessions()).toBe(1);
}

const identity = () => idp.services.identities.find(id, user.account.id);
const sessions = async () => (await idp.services.sessions.list((await identity())?.userId ?? '')).length;
const ended = () => vi.waitFor(async () => expect(await sessions()).toBe(0), 20_000);

/** A token of the upstream; `claims` replace its own. */
async function signed(claims: object, { typ = 'secevent+jwt', other = false, none = false } = {}): Promise<string> {
  const key = upstream.services.keyring.jwks().keys.find(({ alg }) => alg === 'RS256') ?? expect.fail();
  const iat = Math.floor(Date.now() / 1000);
  const own = { iss: upstream.issuer, aud: clientId, iat, jti: crypto.randomUUID() };
  const sub_id = { format: 'iss_sub', iss: upstream.issuer, sub: user.account.id };
  const payload = { ...own, sub_id, events: { [REVOKED]: {} }, ...claims };
  if (none) return new UnsecuredJWT(payload).encode();
  const privateKey = other
    ? (await generateKeyPair('RS256')).privateKey
    : await importJWK({ ...key } as never, 'RS256');
  return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: key.kid, typ }).sign(privateKey);
}

const push = (body: string, url = at(), type = 'application/secevent+jwt') =>
  httpClient().request('POST', url, { body, headers: { 'content-type': type } });

it('a person who is signed out everywhere at the upstream is signed out here', async () => {
  await upstream.services.endSession.all(user.account.id, 'ended-by-admin');
  await ended();
  const [event] = await idp.services.audit.list({ types: ['upstream.logout'], limit: 1 });
  expect(event).toMatchObject({ data: { connection: id, channel: 'signal' } });
});

it('an event that comes days late ends no session that began after it', async () => {
  const iat = Math.floor(Date.now() / 1000) - 2 * 24 * 3600;
  for (const type of [REVOKED, `${RISC}/account-disabled`])
    expect((await push(await signed({ iat, events: { [type]: {} } }))).status).toBe(202);
  const late = { iat: iat + 2 * 24 * 3600, events: { [REVOKED]: { event_timestamp: iat } } };
  expect((await push(await signed(late))).status).toBe(202);
  expect(await sessions()).toBe(1);
});

it('an account that is disabled at the upstream ends its sessions here, and that is recorded', async () => {
  await upstream.services.accounts.setActive(user.account.id, false, {});
  await ended();
  await vi.waitFor(async () => {
    const events = await idp.services.audit.list({ types: ['upstream.logout'], limit: 5 });
    expect(events.map(({ data }) => data)).toContainEqual({
      connection: id,
      channel: 'signal',
      event: 'account-disabled',
    });
  }, 20_000);
});

it('a verification event and one that means nothing here are taken', async () => {
  const verification = { 'https://schemas.openid.net/secevent/ssf/event-type/verification': { state: 'x' } };
  const opaque = { format: 'opaque', id: 'stream' };
  expect((await push(await signed({ events: verification, sub_id: opaque }))).status).toBe(202);
  expect((await push(await signed({ events: { [`${RISC}/opt-in`]: {} } }))).status).toBe(202);
  expect(await sessions()).toBe(1);
});

it('only the events of CAEP and RISC end sessions', async () => {
  const other = 'https://evil.example/x/session-revoked';
  expect((await push(await signed({ events: { [other]: {}, constructor: {} } }))).status).toBe(202);
  expect(await sessions()).toBe(1);
  expect((await push(await signed({ events: { [`${RISC}/sessions-revoked`]: {} } }))).status).toBe(202);
  expect(await sessions()).toBe(0);
});

it('the same token ends nothing twice, and is taken', async () => {
  const token = await signed({});
  expect((await push(token)).status).toBe(202);
  expect(await sessions()).toBe(0);
  await signIn();
  expect((await push(token)).status).toBe(202);
  expect(await sessions()).toBe(1);
});

it('no forged, foreign or old token ends anything', async () => {
  const week = 7 * 24 * 3600 + 600;
  const { iat = 0 } = decodeJwt(await signed({}));
  const forged = {
    none: await signed({}, { none: true }),
    'other key': await signed({}, { other: true }),
    'logout token': await signed({}, { typ: 'logout+jwt' }),
    issuer: await signed({ iss: 'https://evil.example' }),
    audience: await signed({ aud: 'another-receiver' }),
    'subject of another issuer': await signed({
      sub_id: { format: 'iss_sub', iss: 'https://evil.example', sub: user.account.id },
    }),
    old: await signed({ iat: iat - week }),
    'no jti': await signed({ jti: undefined }),
    'no events': await signed({ events: undefined }),
    text: 'not.a.token',
  };
  const answers: Record<string, unknown> = {};
  for (const [name, token] of Object.entries(forged)) answers[name] = (await push(token)).status;
  expect(answers).toEqual(Object.fromEntries(Object.keys(forged).map((name) => [name, 400])));
  expect((await push(forged.audience)).json()).toMatchObject({ err: 'invalid_audience' });
  // The token of one connection at another, at one that takes none, and at none.
  const good = await signed({});
  const elsewhere = [await push(good, at('other')), await push(good, at('closed')), await push(good, at('nowhere'))];
  expect(elsewhere.map(({ status }) => status)).toEqual([400, 404, 404]);
  // Another connection with the same issuer ends no session of this one.
  expect((await push(await signed({ aud: 'another-receiver' }), at('other'))).status).toBe(202);
  expect((await push('x'.repeat(1_000_000))).status).toBe(413);
  expect((await push(good, at(), 'text/plain')).status).toBe(415);
  expect(await sessions()).toBe(1);
});
