// CORS: pages of which origins may read a response, those of a client's own redirect URIs and no others. Discovery and keys are
// public documents, which every page may read.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Application, anApplication, signIn } from '../support.ts';

const spaOrigin = 'https://spa.example';
const otherOrigin = 'https://other.example';
let idp: TestIdp;
let user: TestUser;
let spa: Application;
let other: Application;
let server: Application;

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
  const browserClient = { token_endpoint_auth_method: 'none' as const };
  spa = await anApplication(idp, { ...browserClient, redirect_uris: [`${spaOrigin}/cb`] });
  other = await anApplication(idp, { ...browserClient, redirect_uris: [`${otherOrigin}/cb`] });
  server = await anApplication(idp, { redirect_uris: ['https://server.example/cb'] });
  await anApplication(idp, { ...browserClient, application_type: 'native', redirect_uris: ['com.example.app:/cb'] });
});
afterAll(() => idp?.stop());

const OTHER_ORIGINS = [
  'https://attacker.example',
  'null',
  'https://spa.example.attacker.example',
  'http://spa.example',
  'https://spa.example:8443',
  '*',
  'x',
];
const allowed = (page: Page) => page.headers['access-control-allow-origin'];
const from = (origin: string, headers: Record<string, string> = {}) => ({
  headers: { origin, accept: '*/*', ...headers },
});
const preflight = (path: string, origin: string, method: string) =>
  httpClient(idp.issuer).request(
    'OPTIONS',
    path,
    from(origin, { 'access-control-request-method': method, 'access-control-request-headers': 'authorization,dpop' }),
  );

describe('discovery and keys', () => {
  const documents = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server', '/jwks'];

  it.each(documents)('can be read from every origin at %s, registered or not', async (path) => {
    const first = await httpClient(idp.issuer).get(path);
    expect([first.status, allowed(first)]).toEqual([200, '*']);
    for (const origin of [spaOrigin, ...OTHER_ORIGINS]) {
      const page = await httpClient(idp.issuer).get(path, from(origin));
      expect({ status: page.status, allowedOrigin: allowed(page), text: page.text }, origin).toEqual({
        status: 200,
        allowedOrigin: '*',
        text: first.text,
      });
      // The same response for all: a shared cache may keep one.
      expect(page.headers.vary).toBeUndefined();
      expect(page.headers['access-control-allow-credentials']).toBeUndefined();
      const preflightResponse = await preflight(path, origin, 'GET');
      expect({ status: preflightResponse.status, allowedOrigin: allowed(preflightResponse) }, origin).toEqual({
        status: 204,
        allowedOrigin: '*',
      });
      expect(preflightResponse.headers['access-control-allow-methods']).toBe('GET');
    }
  });
});

describe('the token, userinfo and revocation endpoints', () => {
  const endpoints: [string, string][] = [
    ['/token', 'POST'],
    ['/userinfo', 'GET'],
    ['/revoke', 'POST'],
  ];

  it.each(endpoints)('answer preflights of registered origins only, at %s', async (path, method) => {
    const preflightResponse = await preflight(path, spaOrigin, method);
    expect([preflightResponse.status, allowed(preflightResponse)]).toEqual([204, spaOrigin]);
    expect(preflightResponse.headers['access-control-allow-methods']).toContain(method);
    expect(preflightResponse.headers['access-control-allow-headers']).toContain('authorization');
    for (const origin of OTHER_ORIGINS) {
      const page = await preflight(path, origin, method);
      expect(
        { allowedOrigin: allowed(page), allowedMethods: page.headers['access-control-allow-methods'] },
        origin,
      ).toEqual({ allowedOrigin: undefined, allowedMethods: undefined });
    }
  });

  it('answer a page of the client’s own origin', async () => {
    const { tokens } = await signIn(httpClient(idp.issuer), spa, user, { scope: 'openid offline_access' });
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '', client_id: spa.clientId };
    const token = await httpClient(idp.issuer).post('/token', { form, ...from(spaOrigin) });
    expect([token.status, allowed(token)]).toEqual([200, spaOrigin]);
    const authorization = `Bearer ${token.json().access_token}`;
    const info = await httpClient(idp.issuer).get('/userinfo', from(spaOrigin, { authorization }));
    expect([info.status, allowed(info)]).toEqual([200, spaOrigin]);
    const revoked = await httpClient(idp.issuer).post('/revoke', {
      form: { token: String(token.json().access_token), client_id: spa.clientId },
      ...from(spaOrigin),
    });
    expect([revoked.status, allowed(revoked)]).toEqual([200, spaOrigin]);
    expect(token.headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('hide the response from a page of another origin, even that of another client', async () => {
    const { tokens } = await signIn(httpClient(idp.issuer), spa, user, { scope: 'openid offline_access' });
    let refreshToken = tokens.refresh_token ?? '';
    for (const origin of [otherOrigin, ...OTHER_ORIGINS]) {
      const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: spa.clientId };
      const token = await httpClient(idp.issuer).post('/token', { form, ...from(origin) });
      expect({ status: token.status, allowedOrigin: allowed(token) }, origin).toEqual({
        status: 200,
        allowedOrigin: undefined,
      });
      refreshToken = String(token.json().refresh_token);
      const authorization = `Bearer ${tokens.access_token}`;
      const info = await httpClient(idp.issuer).get('/userinfo', from(origin, { authorization }));
      expect({ status: info.status, allowedOrigin: allowed(info) }, origin).toEqual({
        status: 200,
        allowedOrigin: undefined,
      });
    }
    expect(other.clientId).not.toBe(spa.clientId);
  });

  it('hide errors from a page of an unknown origin', async () => {
    for (const origin of OTHER_ORIGINS) {
      const token = await httpClient(idp.issuer).post('/token', {
        form: { client_id: 'nobody', grant_type: 'x' },
        ...from(origin),
      });
      expect({ status: token.status, allowedOrigin: allowed(token) }, origin).toEqual({
        status: 401,
        allowedOrigin: undefined,
      });
      const info = await httpClient(idp.issuer).get('/userinfo', from(origin, { authorization: 'Bearer wrong' }));
      expect({ status: info.status, allowedOrigin: allowed(info) }, origin).toEqual({
        status: 401,
        allowedOrigin: undefined,
      });
    }
    const own = await httpClient(idp.issuer).get('/userinfo', from(spaOrigin, { authorization: 'Bearer wrong' }));
    expect([own.status, allowed(own)]).toEqual([401, spaOrigin]);
    expect(own.headers['access-control-expose-headers']).toContain('WWW-Authenticate');
  });

  it('hide the response from pages when the client is confidential', async () => {
    const { tokens } = await signIn(httpClient(idp.issuer), server, user);
    const secret = btoa(`${server.clientId}:${server.clientSecret}`);
    const page = await httpClient(idp.issuer).post('/revoke', {
      form: { token: tokens.access_token },
      ...from('https://server.example', { authorization: `Basic ${secret}` }),
    });
    expect([page.status, allowed(page)]).toEqual([200, undefined]);
  });
});

describe('the origins of web views and browser extensions (allowed_cors_origins)', () => {
  const origins = [
    'capacitor://localhost',
    'ionic://localhost',
    'https://localhost',
    'http://localhost:8100',
    'chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb',
    'moz-extension://0a7c1b1e-58f5-4b5e-9b0a-7d2a5f1b6c11',
    'safari-web-extension://0A7C1B1E-58F5-4B5E-9B0A-7D2A5F1B6C11',
    'app://obsidian.md',
  ];

  it('are allowed to the application that names them, before and after the client is known', async () => {
    const redirect = 'com.example.app:/cb';
    const app = await anApplication(idp, {
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      redirect_uris: [redirect],
      allowed_cors_origins: origins,
    });
    for (const origin of origins) {
      const answer = await preflight('/token', origin, 'POST');
      expect({ status: answer.status, origin: allowed(answer) }).toEqual({ status: 204, origin });
      const form = { grant_type: 'refresh_token', refresh_token: 'any', client_id: app.clientId };
      const token = await httpClient(idp.issuer).post('/token', { form, ...from(origin) });
      expect({ status: token.status, origin: allowed(token) }).toEqual({ status: 400, origin });
      const { tokens } = await signIn(httpClient(idp.issuer), app, user);
      const authorization = `Bearer ${tokens.access_token}`;
      const info = await httpClient(idp.issuer).get('/userinfo', from(origin, { authorization }));
      expect({ status: info.status, origin: allowed(info) }).toEqual({ status: 200, origin });
      const others = { ...form, client_id: spa.clientId };
      const ofOther = await httpClient(idp.issuer).post('/token', { form: others, ...from(origin) });
      expect(allowed(ofOther), origin).toBeUndefined();
    }
    for (const origin of ['capacitor://localhost.attacker.example', 'capacitor://other', 'ionic://localhost:1', 'null'])
      expect(allowed(await preflight('/token', origin, 'POST')), origin).toBeUndefined();
  });

  it.each([
    ['*', 'origin-wildcard'],
    ['https://*.example.com', 'origin-wildcard'],
    ['null', 'null-origin'],
    ['file://', 'null-origin'],
    ['capacitor://localhost/', 'origin'],
    ['https://localhost/app', 'origin'],
    ['localhost', 'origin'],
    ['com.example.app:/cb', 'origin'],
    ['http://app.example', 'https'],
  ])('reject %s', async (origin, reason) => {
    const rejected = anApplication(idp, { token_endpoint_auth_method: 'none', allowed_cors_origins: [origin] });
    await expect(rejected).rejects.toMatchObject({
      faults: [{ path: ['allowed_cors_origins', 0], code: reason }],
    });
  });
});

describe('the endpoints for servers', () => {
  it.each(['/introspect', '/par', '/device/code', '/register'])('can be read by no page at %s', async (path) => {
    const form = { client_id: spa.clientId, token: 'any', redirect_uri: `${spaOrigin}/cb` };
    const page = await httpClient(idp.issuer).post(path, { form, ...from(spaOrigin) });
    expect(allowed(page)).toBeUndefined();
    expect(allowed(await preflight(path, spaOrigin, 'POST'))).toBeUndefined();
  });
});
