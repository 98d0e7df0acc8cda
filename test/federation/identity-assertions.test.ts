// Identity assertions (ID-JAG, Enterprise-Managed Authorization) between two Gatehouses: a person signs in to an agent at the identity provider
// of the company, which issues the assertion; the authorization server of the API redeems it, without a page.
import { createRemoteJWKSet, decodeJwt, generateKeyPair, importJWK, jwtVerify, SignJWT, UnsecuredJWT } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkConnection } from '../../src/federation/connections/schema.ts';
import { type Application, anApplication, postAs, signIn as signInAt } from '../oidc/support.ts';
import { aClient, anApi, aUser, type TestUser } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import { freePort, startIdp, type TestIdp } from '../support/idp.ts';
import { aConnection, callbackOf, openSignIn } from './support.ts';

const id = 'corp';
const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange' as const;
const bearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer' as const;
const type = (name: string) => `urn:ietf:params:oauth:token-type:${name}`;
const api = 'https://crm.example.com';
/** The authorization server of the API, and the identity provider of the company. */
let server: TestIdp;
let company: TestIdp;
let user: TestUser;
/** The agent at the company, and at the server. */
let agent: Application;
let there: Application;
let entry: { id: string } & Record<string, unknown>;

beforeAll(async () => {
  const port = String(await freePort());
  [server, company] = await Promise.all([
    startIdp(),
    startIdp({ environment: { PORT: port, ISSUER: `http://127.0.0.1:${port}` } }),
  ]);
  await anApi(server.services, { identifier: api, scopes: ['deals:read', 'deals:write'] });
  await company.services.roles.create({ name: 'sales' });
  await anApi(company.services, { identifier: server.issuer, scopes: ['deals:read'], access: { roles: ['sales'] } });
  const link = await aClient(company.services, {
    redirect_uris: [callbackOf(server, id)],
    scope: 'openid profile email',
  });
  entry = {
    id,
    issuer: company.issuer,
    client_id: link.clientId,
    client_secret: link.clientSecret,
    create_users: true,
    logout: 'never',
    accept_id_jag: true,
  };
  await aConnection(server, entry);
  there = await anApplication(server, {
    redirect_uris: [],
    grant_types: [bearer],
    resources: [api],
    scope: 'openid deals:read deals:write',
  });
  agent = await anApplication(company, {
    grant_types: ['authorization_code', 'refresh_token', exchange],
    resources: [server.issuer],
    scope: 'openid offline_access deals:read',
    id_jag_clients: { [server.issuer]: there.clientId },
  });
});
afterAll(() => Promise.all([server, company].map((one) => one?.stop())));

beforeEach(async () => {
  user = await aUser(company.services);
  await company.services.roles.assign(user.account.id, 'sales');
});

/** The tokens of the agent at the company. */
const signIn = async () =>
  (await signInAt(httpClient(company.issuer), agent, user, { scope: 'openid offline_access' })).tokens;

/** The person signs in once at the server with the account of the company, which links the two. */
async function link(): Promise<string> {
  const application = await aClient(server.services, { redirect_uris: ['http://127.0.0.1:4000/cb'] });
  const isDone = (url: string) => url.startsWith('http://127.0.0.1:4000/cb');
  const browser = httpClient(server.issuer);
  const form = await openSignIn(server, { clientId: application.clientId, browser });
  let page = await browser.follow(await browser.submit(form, {}, { form: `/connections/${id}` }), isDone);
  page = await browser.follow(await browser.submit(page, { username: user.username, password: user.password }), isDone);
  for (let step = 0; step < 3 && !isDone(page.url) && page.forms.length > 0; step += 1)
    page = await browser.follow(await browser.submit(page), isDone);
  const identity = await server.services.identities.find(id, user.account.id);
  return identity?.userId ?? expect.fail('the person is linked');
}

const ask = (subject: string, more: Record<string, string> = {}, client = agent): Promise<Page> =>
  postAs(company, client, '/token', {
    grant_type: exchange,
    requested_token_type: type('id-jag'),
    audience: server.issuer,
    resource: api,
    subject_token: subject,
    subject_token_type: type('id_token'),
    ...more,
  });
const redeem = (assertion: string, more: Record<string, string> = {}, client = there): Promise<Page> =>
  postAs(server, client, '/token', { grant_type: bearer, assertion, ...more });
const assertionFor = async () => String((await ask(String((await signIn()).id_token))).json().access_token);
const errorOf = async (answer: Promise<Page>) => {
  const { error, error_description } = (await answer).json();
  return `${String(error)}: ${String(error_description)}`;
};

/** An assertion as the company would issue it, with other claims, another type, another key or none. */
async function signed(claims: object, { typ = 'oauth-id-jag+jwt', other = false, none = false } = {}): Promise<string> {
  const key = company.services.keyring.jwks().keys.find(({ alg }) => alg === 'RS256') ?? expect.fail();
  const iat = Math.floor(Date.now() / 1000);
  const jti = crypto.randomUUID();
  const own = {
    iss: company.issuer,
    aud: server.issuer,
    sub: user.account.id,
    client_id: there.clientId,
    jti,
    iat,
    exp: iat + 300,
  };
  const payload = { ...own, scope: 'deals:read', resource: api, ...claims };
  if (none) return new UnsecuredJWT(payload).encode();
  const privateKey = other
    ? (await generateKeyPair('RS256')).privateKey
    : await importJWK({ ...key } as never, 'RS256');
  return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: key.kid, typ }).sign(privateKey);
}

describe('an agent of a company', () => {
  it('gets a token for the API of another server, for a person who is signed in at the company', async () => {
    const userId = await link();
    const tokens = await signIn();
    const jag = await oidc
      .genericGrantRequest(agent.rp.config, exchange, {
        requested_token_type: type('id-jag'),
        audience: server.issuer,
        resource: api,
        scope: 'deals:read',
        subject_token: String(tokens.id_token),
        subject_token_type: type('id_token'),
      })
      .catch((error: unknown) => error);
    // openid-client expects a token type that it can send to an API.
    expect(String((jag as { code?: unknown }).code ?? '')).toMatch(/^(OAUTH_INVALID_RESPONSE|)$/);
    const answer = await ask(String(tokens.id_token), { scope: 'deals:read' });
    expect(answer.json()).toMatchObject({
      issued_token_type: type('id-jag'),
      token_type: 'N_A',
      scope: 'deals:read',
      expires_in: 300,
    });
    const assertion = String(answer.json().access_token);
    const keys = createRemoteJWKSet(new URL(`${company.issuer}/jwks`));
    const { payload } = await jwtVerify(assertion, keys, {
      issuer: company.issuer,
      audience: server.issuer,
      typ: 'oauth-id-jag+jwt',
    });
    expect(payload).toMatchObject({
      sub: user.account.id,
      client_id: there.clientId,
      scope: 'deals:read',
      resource: api,
    });
    expect(Number(payload.exp) - Number(payload.iat)).toBe(300);
    const [issued] = await company.services.audit.list({ types: ['token.exchanged'], subjectId: user.account.id });
    expect(issued).toMatchObject({ clientId: agent.clientId, data: { api: server.issuer } });

    const token = await oidc.genericGrantRequest(there.rp.config, bearer, { assertion });
    expect(token.refresh_token).toBeUndefined();
    expect(decodeJwt(token.access_token)).toMatchObject({
      iss: server.issuer,
      sub: userId,
      aud: api,
      client_id: there.clientId,
      scope: 'deals:read',
      acr: 'urn:gatehouse:acr:federated',
    });
    expect((await postAs(server, there, '/introspect', { token: token.access_token })).json()).toMatchObject({
      active: true,
    });
    const [redeemed] = await server.services.audit.list({ types: ['token.exchanged'], subjectId: userId });
    expect(redeemed).toMatchObject({ clientId: there.clientId, data: { api, connection: id } });
    await server.services.endSession.all(userId, 'signed-out');
    expect((await postAs(server, there, '/introspect', { token: token.access_token })).json()).toEqual({
      active: false,
    });
  });

  it('gets one by its refresh token, too', async () => {
    const { refresh_token } = await signIn();
    const answer = await ask(String(refresh_token), { subject_token_type: type('refresh_token') });
    expect(decodeJwt(String(answer.json().access_token))).toMatchObject({ sub: user.account.id, scope: 'deals:read' });
  });
});

describe('the company issues no assertion', () => {
  it('for a person whom its access rule keeps out, or who has signed out', async () => {
    const { id_token, refresh_token } = await signIn();
    await company.services.roles.unassign(user.account.id, 'sales');
    expect(await errorOf(ask(String(id_token)))).toContain('invalid_target');
    await company.services.roles.assign(user.account.id, 'sales');
    await company.services.endSession.all(user.account.id, 'signed-out');
    expect(await errorOf(ask(String(id_token)))).toContain('has ended');
    expect(await errorOf(ask(String(refresh_token), { subject_token_type: type('refresh_token') }))).toContain(
      'invalid_request',
    );
  });

  it('for another server, with other scopes, or to another client', async () => {
    const { id_token, access_token } = await signIn();
    const subject = String(id_token);
    expect(await errorOf(ask(subject, { audience: 'https://evil.example' }))).toContain('invalid_target');
    expect(await errorOf(ask(subject, { audience: 'constructor' }))).toContain('invalid_target');
    expect(await errorOf(ask(subject, { scope: 'deals:write' }))).toContain('invalid_scope');
    const thief = await anApplication(company, {
      grant_types: ['authorization_code', exchange],
      resources: [server.issuer],
      scope: 'openid deals:read',
      id_jag_clients: { [server.issuer]: there.clientId },
    });
    expect(await errorOf(ask(subject, {}, thief))).toContain('invalid_request');
    expect(await errorOf(ask(access_token, { subject_token_type: type('access_token') }))).toContain(
      'subject_token_type',
    );
    expect(await errorOf(ask(access_token))).toContain('no valid ID token');
  });
});

describe('the server rejects an assertion', () => {
  beforeEach(async () => void (await link()));

  it('that was used before, also when both arrive at once', async () => {
    const assertion = await assertionFor();
    const both = await Promise.all([redeem(assertion), redeem(assertion)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await errorOf(redeem(assertion))).toContain('used before');
  });

  it('that is for another server, another client, or over', async () => {
    const now = Math.floor(Date.now() / 1000);
    const bad: [string, object][] = [
      ['audience', { aud: 'https://another.example' }],
      ['several audiences', { aud: [server.issuer, 'https://another.example'] }],
      ['client', { client_id: 'another' }],
      ['end', { exp: now - 120, iat: now - 400 }],
      ['no end', { exp: undefined }],
      ['age', { iat: now - 3600, exp: now + 300 }],
      ['no jti', { jti: undefined }],
      ['issuer', { iss: 'https://another.example' }],
      ['own', { iss: server.issuer }],
      ['person', { sub: 'nobody' }],
      ['NUL', { sub: 'no\0body' }],
    ];
    for (const [what, claims] of bad)
      expect(await errorOf(redeem(await signed(claims))), what).toContain('invalid_grant');
    expect((await redeem(await signed({}))).status).toBe(200);
  });

  it('of another type, without a signature or with that of another key', async () => {
    for (const options of [{ typ: 'JWT' }, { typ: 'at+jwt' }, { none: true }, { other: true }])
      expect(await errorOf(redeem(await signed({}, options))), JSON.stringify(options)).toContain('invalid_grant');
    const { id_token } = await signIn();
    for (const text of [String(id_token), '', 'x', 'a.b.c', 'x'.repeat(20_000)])
      expect(await errorOf(redeem(text)), text.slice(0, 20)).toContain('invalid_grant');
  });

  it('for more than it says, or for another API', async () => {
    const { resource: _api, ...without } = { resource: api };
    expect((await redeem(await signed({ ...without }), { scope: 'deals:read deals:write' })).json().scope).toBe(
      'deals:read',
    );
    expect(await errorOf(redeem(await signed({}), { scope: 'deals:write' }))).toContain('invalid_scope');
    expect(await errorOf(redeem(await signed({}), { resource: 'https://other.example.com' }))).toContain(
      'invalid_target',
    );
    const own = `${server.issuer}/api/admin`;
    expect(await errorOf(redeem(await signed({ resource: own, scope: 'admin:*' })))).toContain('invalid_target');
  });

  it('of a connection that does not accept them, or that the application does not', async () => {
    const changed = checkConnection({ kind: 'oidc', name: 'Example Corp', ...entry, accept_id_jag: false });
    const { connections } = server.services;
    if (changed.ok) await connections.update(changed.value);
    expect(await errorOf(redeem(await signed({})))).toContain('No connection accepts');
    const back = checkConnection({ kind: 'oidc', name: 'Example Corp', ...entry });
    if (back.ok) await connections.update(back.value);
    await connections.setEnabled(id, false);
    expect(await errorOf(redeem(await signed({})))).toContain('No connection accepts');
    await connections.setEnabled(id, true);
    const plain = await anApplication(server, {
      redirect_uris: [],
      grant_types: [bearer],
      resources: [api],
      scope: 'deals:read',
      connections: ['another'],
    });
    const forPlain = await signed({ client_id: plain.clientId });
    expect(await errorOf(redeem(forPlain, {}, plain))).toContain('another sign-in');
    const strong = await anApplication(server, {
      redirect_uris: [],
      grant_types: [bearer],
      resources: [api],
      scope: 'deals:read',
      mfa: 'required',
    });
    expect(await errorOf(redeem(await signed({ client_id: strong.clientId }), {}, strong))).toContain(
      'another sign-in',
    );
  });

  it('about a person who is disabled here', async () => {
    const userId = (await server.services.identities.find(id, user.account.id))?.userId ?? '';
    await server.services.accounts.setActive(userId, false);
    expect(await errorOf(redeem(await signed({})))).toContain('invalid_grant');
  });
});
