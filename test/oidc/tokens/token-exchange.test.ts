// Token exchange (RFC 8693) over HTTP: a shop that people sign in to, an API of orders that it calls, and an API of the stock behind that.
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { relyingParty } from '../../support/applications/rp.ts';
import { anApi, aUser, type TestUser } from '../../support/factories.ts';
import { httpClient, type Page } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { type Application, anApplication, type ClientInput, forApi, postAs, redirectUri, signIn } from '../support.ts';

const grant = 'urn:ietf:params:oauth:grant-type:token-exchange' as const;
const accessToken = 'urn:ietf:params:oauth:token-type:access_token';
const orders = 'https://orders.example.com';
const stock = 'https://stock.example.com';
const prices = 'https://prices.example.com';
const scopes = ['order:read', 'item:read', 'item:write'];
let idp: TestIdp;
let user: TestUser;
let shop: Application;
let ordersApi: Application;

beforeAll(async () => {
  idp = await sharedIdp();
  await anApi(idp.services, { identifier: orders, scopes });
  await anApi(idp.services, { identifier: stock, scopes: ['item:read', 'item:write', 'item:count'] });
  await anApi(idp.services, { identifier: prices, scopes: ['item:read'] });
});

/** A server that runs an API, and calls others for people. */
const anApiServer = (runs: string, calls: string[], input: ClientInput = {}) =>
  anApplication(idp, {
    redirect_uris: [],
    grant_types: [grant],
    may_exchange: [runs],
    ...forApi(calls, 'item:read', 'item:write', 'item:count'),
    ...input,
  });

beforeEach(async () => {
  user = await aUser(idp.services);
  shop = await anApplication(idp, forApi(orders, ...scopes));
  ordersApi = await anApiServer(orders, [stock]);
});

/** The token that the shop sends to the API of orders. */
const tokenOfShop = async (scope = 'openid order:read item:read', app = shop) =>
  (await app.rp.refresh(await refreshTokenOf(app, scope), { resource: orders })).access_token;
const refreshTokenOf = async (app: Application, scope: string) =>
  (await signIn(httpClient(idp.issuer), app, user, { scope: `${scope} offline_access`, resource: orders })).tokens
    .refresh_token ?? expect.fail('a refresh token');

const exchange = (client: Application, subject: string, more: Record<string, string> = {}): Promise<Page> =>
  postAs(idp, client, '/token', {
    grant_type: grant,
    subject_token: subject,
    subject_token_type: accessToken,
    resource: stock,
    ...more,
  });
const errorOf = async (answer: Promise<Page>) => {
  const { error, error_description } = (await answer).json();
  return `${String(error)}: ${String(error_description)}`;
};
const introspected = async (by: Application, token: string) => (await postAs(idp, by, '/introspect', { token })).json();

describe('an API that calls another API for a person', () => {
  it('gets a token for it that names the person and both applications', async () => {
    const subject = await tokenOfShop('openid roles permissions groups order:read item:read');
    expect(decodeJwt(subject)).toHaveProperty('roles');
    const tokens = await oidc.genericGrantRequest(ordersApi.rp.config, grant, {
      subject_token: subject,
      subject_token_type: accessToken,
      resource: stock,
    });
    expect(tokens).toMatchObject({ issued_token_type: accessToken, token_type: 'bearer', scope: 'item:read' });
    expect(tokens.refresh_token).toBeUndefined();
    const keys = createRemoteJWKSet(new URL(`${idp.issuer}/jwks`));
    const { payload } = await jwtVerify(tokens.access_token, keys, {
      issuer: idp.issuer,
      audience: stock,
      typ: 'at+jwt',
    });
    expect(payload).toMatchObject({
      sub: user.account.id,
      client_id: ordersApi.clientId,
      scope: 'item:read',
      acr: 'urn:gatehouse:acr:password',
      act: { sub: ordersApi.clientId, act: { sub: shop.clientId } },
    });
    expect(payload.exp).toBeLessThanOrEqual(Number(decodeJwt(subject).exp));
    // What the person may do is in the scopes: those of the API may be tied to permissions.
    for (const claim of ['roles', 'permissions', 'groups']) expect(payload).not.toHaveProperty(claim);
    const stockApi = await anApiServer(stock, [stock]);
    expect(await introspected(stockApi, tokens.access_token)).toMatchObject({
      active: true,
      sub: user.account.id,
      act: { sub: ordersApi.clientId, act: { sub: shop.clientId } },
    });
    const [event] = await idp.services.audit.list({ types: ['token.exchanged'], subjectId: user.account.id });
    expect(event).toMatchObject({
      clientId: ordersApi.clientId,
      data: { api: stock, scope: 'item:read', actors: [shop.clientId] },
    });
  });

  it('gets fewer scopes when it asks for fewer, and `audience` means the same as `resource`', async () => {
    const subject = await tokenOfShop('openid item:read item:write');
    expect((await exchange(ordersApi, subject)).json().scope).toBe('item:read item:write');
    expect((await exchange(ordersApi, subject, { scope: 'item:write' })).json().scope).toBe('item:write');
    const form = { grant_type: grant, subject_token: subject, subject_token_type: accessToken, audience: stock };
    expect(decodeJwt(String((await postAs(idp, ordersApi, '/token', form)).json().access_token)).aud).toBe(stock);
    expect(await errorOf(exchange(ordersApi, subject, { audience: prices }))).toContain('invalid_target');
  });

  it('binds the token to its own key by DPoP', async () => {
    const handle = oidc.getDPoPHandle(ordersApi.rp.config, await oidc.randomDPoPKeyPair());
    const parameters = { subject_token: await tokenOfShop(), subject_token_type: accessToken, resource: stock };
    const tokens = await oidc.genericGrantRequest(ordersApi.rp.config, grant, parameters, { DPoP: handle });
    expect(tokens.token_type).toBe('dpop');
    expect(decodeJwt(tokens.access_token).cnf).toEqual({ jkt: expect.any(String) });
  });
});

describe('an exchange never gives more than the first application has', () => {
  it('no scope that the token lacks', async () => {
    const subject = await tokenOfShop();
    expect(await errorOf(exchange(ordersApi, subject, { scope: 'item:write' }))).toContain('invalid_scope');
    expect(await errorOf(exchange(ordersApi, subject, { scope: 'item:count' }))).toContain('invalid_scope');
    expect(await errorOf(exchange(ordersApi, await tokenOfShop('openid order:read')))).toContain('invalid_scope');
    expect(await errorOf(exchange(ordersApi, subject, { scope: 'openid profile' }))).toContain('invalid_scope');
  });

  it('no API that is not registered for the client, and none of Gatehouse', async () => {
    const subject = await tokenOfShop();
    const own = `${idp.issuer}/api/admin`;
    expect(await errorOf(exchange(ordersApi, subject, { resource: prices }))).toContain('invalid_target');
    expect(await errorOf(exchange(ordersApi, subject, { resource: own }))).toContain('invalid_target');
    const wide = await anApiServer(orders, [own, stock], { scope: 'admin:* gatehouse.users:read item:read' });
    expect(await errorOf(exchange(wide, subject, { resource: own }))).toContain('invalid_target');
    expect(await errorOf(exchange(wide, subject, { resource: own, scope: 'gatehouse.users:read' }))).toMatch(
      /invalid_(scope|target)/,
    );
    const { resource: _none, ...without } = { resource: stock, grant_type: grant, subject_token: subject };
    const missing = postAs(idp, ordersApi, '/token', { ...without, subject_token_type: accessToken });
    expect(await errorOf(missing)).toContain('invalid_target');
  });

  it('no permission that the person has lost, and no API that is closed to the person', async () => {
    const { roles } = idp.services;
    const tied = 'https://tied.example.com';
    await anApi(idp.services, {
      identifier: tied,
      scopes: ['item:read'],
      scope_permissions: { 'item:read': 'items:read' },
    });
    await roles.create({ name: 'clerk', permissions: ['items:read'] });
    await roles.assign(user.account.id, 'clerk');
    const api = await anApiServer(orders, [tied]);
    const subject = await tokenOfShop();
    expect((await exchange(api, subject, { resource: tied })).status).toBe(200);
    await roles.unassign(user.account.id, 'clerk');
    expect(await errorOf(exchange(api, subject, { resource: tied }))).toContain('invalid_scope');
    const closed = 'https://closed-stock.example.com';
    await anApi(idp.services, { identifier: closed, scopes: ['item:read'], access: { roles: ['clerk'] } });
    const other = await anApiServer(orders, [closed]);
    expect(await errorOf(exchange(other, subject, { resource: closed }))).toContain('invalid_target');
  });

  it('no time after its end', async () => {
    const brief = await anApplication(idp, { ...forApi(orders, ...scopes), access_token_minutes: 1 });
    const subject = await tokenOfShop(undefined, brief);
    const { exp, access_token, expires_in } = await (async () => {
      const body = (await exchange(ordersApi, subject)).json<{ access_token: string; expires_in: number }>();
      return { ...body, exp: decodeJwt(body.access_token).exp };
    })();
    expect(expires_in).toBeLessThanOrEqual(60);
    expect([decodeJwt(subject).exp, Number(decodeJwt(subject).exp) - 1]).toContain(exp);
    expect(access_token).not.toBe(subject);
  });
});

describe('a token that cannot be exchanged', () => {
  it('is one for an API that the client does not run', async () => {
    const unrelated = await anApiServer(prices, [stock]);
    expect(await errorOf(exchange(unrelated, await tokenOfShop()))).toContain('does not run');
    const { json } = await exchange(ordersApi, await tokenOfShop());
    expect(await errorOf(exchange(ordersApi, String(json().access_token)))).toContain('does not run');
  });

  it('is no ID token, no refresh token, no opaque token and no token of an application', async () => {
    const refreshToken = await refreshTokenOf(shop, 'openid item:read');
    const tokens = await shop.rp.refresh(refreshToken);
    const idToken = String(tokens.id_token);
    for (const subject of [idToken, String(tokens.refresh_token), tokens.access_token, 'made.up.token', ''])
      expect(await errorOf(exchange(ordersApi, subject)), subject).toContain('invalid_request');
    for (const type of ['id_token', 'refresh_token', 'jwt', 'saml2'])
      expect(
        await errorOf(
          exchange(ordersApi, await tokenOfShop(), { subject_token_type: `urn:ietf:params:oauth:token-type:${type}` }),
        ),
      ).toContain('subject_token_type must be');
    const worker = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      ...forApi(orders, 'item:read'),
    });
    const own = await oidc.clientCredentialsGrant(worker.rp.config, { resource: orders, scope: 'item:read' });
    expect(await errorOf(exchange(ordersApi, own.access_token))).toContain('not of a person');
  });

  it('is none together with an actor, or for another kind of token', async () => {
    const subject = await tokenOfShop();
    const actor = { actor_token: subject, actor_token_type: accessToken };
    expect(await errorOf(exchange(ordersApi, subject, actor))).toContain('actor_token is not accepted');
    const kind = { requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' };
    expect(await errorOf(exchange(ordersApi, subject, kind))).toContain('requested_token_type must be');
  });

  it('is one that came through the client already, or through too many', async () => {
    const back = await anApiServer(stock, [orders]);
    const subject = await tokenOfShop();
    const there = String((await exchange(ordersApi, subject)).json().access_token);
    const again = String((await exchange(back, there, { resource: orders })).json().access_token);
    expect(decodeJwt(again).act).toEqual({
      sub: back.clientId,
      act: { sub: ordersApi.clientId, act: { sub: shop.clientId } },
    });
    expect(await errorOf(exchange(ordersApi, again))).toContain('exchanged by this client already');
    const another = await anApiServer(orders, [stock]);
    expect(await errorOf(exchange(another, again))).toContain('goes no further');
  });

  it('is one of an application that registered itself, for an API that is closed to these', async () => {
    const client = { clientId: 'self-registered', clientSecret: 'at-least-32-bytes-of-secret-material' };
    await idp.services.applications.createOidc(
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        consent: 'implicit',
        ...forApi(orders, ...scopes),
      },
      { source: 'dynamic' },
    );
    const rp = await relyingParty({ issuer: idp.issuer, ...client, redirectUri });
    const subject = await tokenOfShop(undefined, { ...client, applicationId: '', redirectUri, rp });
    expect(await errorOf(exchange(ordersApi, subject))).toContain('invalid_scope');
    // An API that is open to such clients gives them its scopes for agents, and no others by an exchange.
    const open = 'https://open-stock.example.com';
    await anApi(idp.services, {
      identifier: open,
      scopes: ['item:read', 'item:write'],
      clients: 'self-registered',
      agent_scopes: ['item:read'],
    });
    const openApi = await anApiServer(orders, [open]);
    const wide = await tokenOfShop('openid item:read item:write', { ...client, applicationId: '', redirectUri, rp });
    await idp.services.settings.set('agents', 'allowed');
    await idp.services.settings.reload();
    expect((await exchange(openApi, wide, { resource: open })).json().scope).toBe('item:read');
    await idp.services.settings.set('agents', 'off');
    await idp.services.settings.reload();
    expect(await errorOf(exchange(openApi, wide, { resource: open }))).toContain('invalid_scope');
  });

  it('of an agent that nobody registered is active while the API is open to it, and can be exchanged', async () => {
    const api = 'https://mcp.example.com';
    const agents = { clients: 'self-registered' as const, scopes: ['item:read'] };
    await anApi(idp.services, { identifier: api, ...agents });
    const behind = 'https://behind-mcp.example.com';
    await anApi(idp.services, { identifier: behind, ...agents });
    await idp.services.settings.set('agents', 'allowed');
    await idp.services.settings.reload();
    const client = { clientId: 'agent-of-nobody', clientSecret: 'at-least-32-bytes-of-secret-material' };
    await idp.services.applications.createOidc(
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
      },
      { source: 'dynamic' },
    );
    const rp = await relyingParty({ issuer: idp.issuer, ...client, redirectUri });
    const agent = { ...client, applicationId: '', redirectUri, rp };
    const scope = 'openid offline_access item:read';
    const { tokens } = await signIn(httpClient(idp.issuer), agent, user, { scope, resource: api });
    const { access_token } = await rp.refresh(String(tokens.refresh_token), { resource: api });
    const mcpServer = await anApiServer(api, [behind, api]);
    expect(await introspected(mcpServer, access_token)).toMatchObject({ active: true, client_id: client.clientId });
    const exchanged = (await exchange(mcpServer, access_token, { resource: behind })).json();
    expect(decodeJwt(String(exchanged.access_token))).toMatchObject({
      aud: behind,
      scope: 'item:read',
      act: { sub: mcpServer.clientId, act: { sub: client.clientId } },
    });
    await idp.services.settings.set('agents', 'off');
    await idp.services.settings.reload();
    expect(await introspected(mcpServer, access_token)).toEqual({ active: false });
    expect((await exchange(mcpServer, access_token, { resource: behind })).status).toBe(400);
  });

  it('is none of a client without the grant, or without a secret', async () => {
    const plain = await anApplication(idp, forApi(stock, 'item:read'));
    expect(await errorOf(exchange(plain, await tokenOfShop()))).toContain('not allowed for this client');
    const open = anApiServer(orders, [stock], { token_endpoint_auth_method: 'none' });
    await expect(open).rejects.toMatchObject({ faults: [{ code: 'grant-auth' }] });
    await expect(anApiServer(orders, [stock], { grant_types: ['client_credentials'] })).rejects.toMatchObject({
      faults: [{ code: 'needs-grant' }],
    });
  });
});

describe('what was exchanged ends', () => {
  const ends: Record<string, () => Promise<unknown>> = {
    'with a sign-out everywhere': () => idp.services.endSession.all(user.account.id, 'signed-out'),
    'with the account': () => idp.services.accounts.setActive(user.account.id, false),
    'with the grant of the first application': async () =>
      idp.services.sessions.removeGrants(user.account.id, shop.clientId),
    'with the first application': async () => idp.services.applications.setEnabled(shop.applicationId, false),
    'with the application that exchanged': async () =>
      idp.services.applications.setEnabled(ordersApi.applicationId, false),
  };
  for (const [name, end] of Object.entries(ends))
    it(name, async () => {
      const stockApi = await anApiServer(stock, [stock]);
      const subject = await tokenOfShop();
      const token = String((await exchange(ordersApi, subject)).json().access_token);
      expect(await introspected(stockApi, token)).toMatchObject({ active: true });
      await end();
      expect(await introspected(stockApi, token)).toEqual({ active: false });
      expect((await exchange(ordersApi, subject)).status).not.toBe(200);
    });
});

it('a rejected exchange says which rule it broke', async () => {
  const answer = await exchange(ordersApi, 'not-a-token');
  const [, code = ''] = /error reference (\S+?)\)/.exec(String(answer.json().error_description)) ?? [];
  const rejection = await idp.services.rejections.find(code);
  expect(rejection?.rules.find(({ state }) => state === 'failed')).toMatchObject({ rule: 'subject_token' });
  expect(JSON.stringify(rejection)).not.toContain('not-a-token');
});
