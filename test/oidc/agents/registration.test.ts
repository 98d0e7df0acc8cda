// Registration without a token: only where an API is open to clients that register themselves, bounded, and for people who consent.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../../src/base/limits.ts';
import { unusedClientsJob } from '../../../src/protocols/oidc/registration.ts';
import { itOnBothInLongRun } from '../../support/database/it-on-sqlite.ts';
import { signRows } from '../../support/database/row-macs.ts';
import { anApi, aUser } from '../../support/factories.ts';
import { httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { authorizeUrl, completeSignIn, verifier } from '../support.ts';

const API = 'https://notes.example';
const LOOPBACK = 'http://localhost:33418/callback';
let idp: TestIdp;

beforeAll(async () => {
  idp = await startIdp();
  await anApi(idp.services, { identifier: API, scopes: ['notes:read'], clients: 'self-registered' });
});
afterAll(() => idp?.stop());

async function agents(agents: 'off' | 'listed' | 'allowed'): Promise<void> {
  await idp.services.settings.set('agents', agents);
  await idp.services.settings.reload();
}

const register = (metadata: object = {}): Promise<Page> =>
  httpClient(idp.issuer).post('/register', {
    json: { client_name: 'SDK client', redirect_uris: [LOOPBACK], token_endpoint_auth_method: 'none', ...metadata },
  });
const announced = async () =>
  (await httpClient(idp.issuer).get('/.well-known/oauth-authorization-server')).json<Record<string, unknown>>()
    .registration_endpoint;

itOnBothInLongRun('is announced and answered while it is open, and 401 otherwise', async () => {
  for (const value of ['off', 'listed'] as const) {
    await agents(value);
    expect([await announced(), (await register()).status]).toEqual([undefined, 401]);
  }
  await agents('allowed');
  expect([await announced(), (await register()).status]).toEqual([`${idp.issuer}/register`, 201]);
});

itOnBothInLongRun('makes a client for people alone, that this server neither calls nor shows to others', async () => {
  await agents('allowed');
  const page = await register({
    client_uri: 'https://phishing.example',
    logo_uri: 'https://10.0.0.1/logo.png',
    initiate_login_uri: 'https://phishing.example/start',
    backchannel_logout_uri: 'https://10.0.0.1/logout',
    grant_types: [
      'authorization_code',
      'refresh_token',
      'client_credentials',
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
    ],
    scope: 'openid email notes:read',
    resources: [`${idp.issuer}/api/admin`],
  });
  expect([page.status, page.json()]).toEqual([
    201,
    expect.objectContaining({ grant_types: ['authorization_code', 'refresh_token'], scope: 'openid offline_access' }),
  ]);
  const { client_id: clientId } = page.json<{ client_id: string }>();
  const stored = await idp.services.applications.find(clientId);
  expect(stored).toMatchObject({
    source: 'dynamic',
    consent: 'explicit',
    name: 'localhost (SDK client)',
    metadata: { access_token_minutes: 15, refresh_token_days: 30 },
  });
  for (const field of ['client_uri', 'logo_uri', 'initiate_login_uri', 'backchannel_logout_uri'])
    expect(stored?.metadata).not.toHaveProperty(field);
});

itOnBothInLongRun('says which field is wrong, and what to do', async () => {
  await agents('allowed');
  const page = await register({ redirect_uris: ['http://elsewhere.example/cb'] });
  expect([page.status, page.json().error]).toEqual([400, 'invalid_redirect_uri']);
  expect(page.json().error_description).toMatch(/redirect_uris\[0\] must be http on a loopback address, https/);
});

itOnBothInLongRun('warns of a program on the own computer, and gets the scopes of the API', async () => {
  await agents('allowed');
  const { client_id: clientId } = (await register()).json<{ client_id: string }>();
  const user = await aUser(idp.services);
  const url = authorizeUrl(idp, clientId, {
    redirect_uri: 'http://localhost:50123/callback',
    resource: API,
    scope: 'notes:read',
  });
  const browser = httpClient(idp.issuer);
  const first = await browser.follow(await browser.get(url));
  const page = await browser.follow(await browser.submit(first, { username: user.username, password: user.password }));
  expect(textOf(first.text)).toContain('localhost (SDK client)');
  expect(textOf(page.text)).toContain('Allow localhost:50123 to use your account?');
  expect(textOf(page.text)).toContain('It says it is “SDK client”. Nobody here has checked that.');
  expect(textOf(page.text)).toContain('This app registered itself.');
  expect(textOf(page.text)).toContain('A program on this computer gets the access.');
  const done = await completeSignIn(browser, page, { user, redirectUri: 'http://localhost:50123/callback' });
  expect(done.location).toContain('code=');
});

itOnBothInLongRun('on this computer is asked about each time, whatever type it registers', async () => {
  await agents('allowed');
  const user = await aUser(idp.services);
  const { client_id: clientId = '' } = (await register({ application_type: 'web' })).json<{ client_id?: string }>();
  const url = authorizeUrl(idp, clientId, { redirect_uri: LOOPBACK, resource: API, scope: 'notes:read' });
  const browser = httpClient(idp.issuer);
  await completeSignIn(browser, url, { user, redirectUri: LOOPBACK });
  const again = await browser.follow(await browser.get(url), (to) => to.startsWith(LOOPBACK));
  expect(textOf(again.text)).toContain('A program on this computer gets the access.');
});

itOnBothInLongRun('is asked about again, and loses its tokens, when it changes where it takes people', async () => {
  await agents('allowed');
  const [before, after] = ['https://good.example/cb', 'https://evil.example/cb'];
  const grant_types = ['authorization_code', 'refresh_token'];
  const made = (await register({ redirect_uris: [before], grant_types })).json<Record<string, string>>();
  const { client_id: clientId = '', registration_client_uri: uri = '', registration_access_token: token } = made;
  const user = await aUser(idp.services);
  const urlFor = (redirect_uri: string) =>
    authorizeUrl(idp, clientId, { redirect_uri, resource: API, scope: 'notes:read' });
  const allowed = await completeSignIn(httpClient(idp.issuer), urlFor(before), { user, redirectUri: before });
  const code = new URL(allowed.location ?? '').searchParams.get('code') ?? '';
  const form = { client_id: clientId, redirect_uri: before };
  const redeem = { ...form, grant_type: 'authorization_code', code, code_verifier: verifier };
  const { refresh_token = '' } = (await httpClient(idp.issuer).post('/token', { form: redeem })).json<{
    refresh_token?: string;
  }>();
  expect(refresh_token).not.toBe('');
  const put = await httpClient(idp.issuer).request('PUT', new URL(uri).pathname, {
    headers: { authorization: `Bearer ${token}` },
    json: { client_id: clientId, redirect_uris: [after], grant_types, token_endpoint_auth_method: 'none' },
  });
  expect([put.status, put.text]).toEqual([200, expect.stringContaining(after)]);
  const browser = httpClient(idp.issuer);
  const first = await browser.follow(await browser.get(urlFor(after)));
  const page = await browser.follow(await browser.submit(first, { username: user.username, password: user.password }));
  expect(textOf(page.text)).toContain('Allow evil.example to use your account?');
  const refresh = { ...form, grant_type: 'refresh_token', refresh_token };
  expect((await httpClient(idp.issuer).post('/token', { form: refresh })).json().error).toBe('invalid_grant');
});

const registered = async () => (await register()).json<{ client_id: string }>().client_id;
const found = async (clientId: string) => (await idp.services.applications.find(clientId))?.id;
const granted = { scopes: ['openid'], claims: [], resources: {} };

it('goes after a week without a consent, and after 90 days without use', async () => {
  await agents('allowed');
  const unused = await registered();
  const user = await aUser(idp.services);
  await idp.services.consents.allow(user.account.id, (await found(unused)) ?? '', granted);
  const unconsented = await registered();
  const withToken = (
    await idp.services.applications.createOidc(
      { redirect_uris: [LOOPBACK], application_type: 'native', token_endpoint_auth_method: 'none' },
      { source: 'dynamic' },
    )
  ).application.clientId;
  const kept = await registered();
  const { id = '', metadata } = (await idp.services.applications.find(kept)) ?? {};
  await idp.services.applications.update('oidc', id, {
    ...(metadata as object),
    resources: [API],
    client_name: 'Kept',
  });
  const { now } = idp.services;
  const later = (days: number) =>
    unusedClientsJob({ ...idp.services, now: () => new Date(now().getTime() + days * 86_400_000) });
  await later(6.9).run(new AbortController().signal);
  expect(await found(unconsented)).toBeDefined();
  await later(7.1).run(new AbortController().signal);
  expect(await found(unconsented)).toBeUndefined();
  await later(89).run(new AbortController().signal);
  expect([await found(unused), await found(withToken)]).toEqual([expect.any(String), expect.any(String)]);
  await later(91).run(new AbortController().signal);
  expect(await idp.services.applications.find(unused)).toBeUndefined();
  expect(await idp.services.applications.find(kept)).toBeDefined();
});

it('cannot be used up without an account: the oldest that nobody consented to makes room', async () => {
  await agents('allowed');
  await idp.services.settings.set('rate_limits', false);
  await idp.services.settings.reload();
  const { db } = idp.services;
  const user = await aUser(idp.services);
  const [oldest, next] = [await registered(), await registered()];
  const { id, clientId, mac, ...like } = await db.asStored.application.findUniqueOrThrow({ where: { clientId: next } });
  const numbers = Array.from({ length: limits.openRegistration.total }, (_, number) => `open-${number}`);
  await db.application.createMany({
    data: numbers.map((one) => ({
      ...like,
      id: one,
      clientId: one,
      createdAt: new Date(like.createdAt.getTime() + 1),
    })),
  });
  await db.consent.createMany({
    data: numbers.map((one) => ({
      id: one,
      userId: user.account.id,
      applicationId: one,
      granted: JSON.stringify(granted),
      updatedAt: new Date(),
    })),
  });
  await signRows(idp.services);
  expect((await register()).status).toBe(201);
  expect([await found(oldest), await found(next)]).toEqual([undefined, id]);
  await db.application.deleteMany({ where: { clientId: { startsWith: 'open-' }, id: { notIn: numbers } } });
  const full = await register();
  expect([full.status, full.json().error_description]).toEqual([
    429,
    expect.stringMatching(/An administrator has to delete some of them/),
  ]);
  expect(full.headers['retry-after']).toBeDefined();
  await db.application.deleteMany({ where: { id: { in: numbers } } });
  await idp.services.settings.set('rate_limits', true);
  await idp.services.settings.reload();
});

itOnBothInLongRun(
  'is open to pages of every origin, as the Inspector is one, and the token endpoint to those of the client',
  async () => {
    const origin = 'http://localhost:6274';
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    };
    const preflight = (path: string) => httpClient(idp.issuer).request('OPTIONS', path, { headers });
    const corsOf = ({ headers: all }: Page) => all['access-control-allow-origin'];
    await agents('off');
    expect(corsOf(await preflight('/register'))).toBeUndefined();
    await agents('allowed');
    const asked = await preflight('/register');
    expect([asked.status, corsOf(asked), asked.headers['access-control-allow-headers']]).toEqual([
      204,
      '*',
      '*, Authorization',
    ]);
    const json = { redirect_uris: [`${origin}/oauth/callback`], token_endpoint_auth_method: 'none' };
    const made = await httpClient(idp.issuer).post('/register', { json, headers: { origin } });
    expect([made.status, corsOf(made)]).toEqual([201, '*']);
    expect(made.headers['access-control-allow-credentials']).toBeUndefined();
    const wrong = await httpClient(idp.issuer).post('/register', { json: {}, headers: { origin } });
    expect([wrong.status, corsOf(wrong)]).toEqual([400, '*']);
    expect(corsOf(await preflight('/token'))).toBe(origin);
    const { client_id } = made.json<{ client_id: string }>();
    const form = { grant_type: 'authorization_code', code: 'x', client_id };
    const answer = await httpClient(idp.issuer).post('/token', { form, headers: { origin } });
    expect([answer.status, corsOf(answer)]).toEqual([400, origin]);
  },
);

itOnBothInLongRun('is limited by address, and says so to a page too', async () => {
  await agents('allowed');
  const pages: Page[] = [];
  for (let at = 0; at < 25; at += 1) pages.push(await register());
  expect([pages.at(-1)?.status, pages.at(-1)?.headers['access-control-allow-origin']]).toEqual([429, '*']);
});
