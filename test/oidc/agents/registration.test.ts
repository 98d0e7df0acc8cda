// Registration without a token: only where an API is open to clients that register themselves, bounded, and for people who consent.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unusedClientsJob } from '../../../src/protocols/oidc/registration.ts';
import { anApi, aUser } from '../../support/factories.ts';
import { httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { authorizeUrl, completeSignIn } from '../support.ts';

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

it('is announced and answered while it is open, and 401 otherwise', async () => {
  for (const value of ['off', 'listed'] as const) {
    await agents(value);
    expect([await announced(), (await register()).status]).toEqual([undefined, 401]);
  }
  await agents('allowed');
  expect([await announced(), (await register()).status]).toEqual([`${idp.issuer}/register`, 201]);
});

it('makes a client for people alone, that this server neither calls nor shows to others', async () => {
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
  expect(stored).toMatchObject({ source: 'dynamic', consent: 'explicit' });
  for (const field of ['client_uri', 'logo_uri', 'initiate_login_uri', 'backchannel_logout_uri'])
    expect(stored?.metadata).not.toHaveProperty(field);
});

it('says which field is wrong, and what to do', async () => {
  await agents('allowed');
  const page = await register({ redirect_uris: ['http://elsewhere.example/cb'] });
  expect([page.status, page.json().error]).toEqual([400, 'invalid_redirect_uri']);
  expect(page.json().error_description).toMatch(/redirect_uris\[0\] must be http on a loopback address, https/);
});

it('warns of a program on the own computer, and gets the scopes of the API', async () => {
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
  expect(textOf(page.text)).toContain('This app registered itself.');
  expect(textOf(page.text)).toContain('A program on this computer gets the access.');
  const done = await completeSignIn(browser, page, { user, redirectUri: 'http://localhost:50123/callback' });
  expect(done.location).toContain('code=');
});

it('goes after 90 days without use', async () => {
  await agents('allowed');
  const { client_id: unused } = (await register()).json<{ client_id: string }>();
  const kept = (await register()).json<{ client_id: string }>().client_id;
  const { id = '', metadata } = (await idp.services.applications.find(kept)) ?? {};
  await idp.services.applications.update('oidc', id, {
    ...(metadata as object),
    resources: [API],
    client_name: 'Kept',
  });
  const { now } = idp.services;
  const later = (days: number) =>
    unusedClientsJob({ ...idp.services, now: () => new Date(now().getTime() + days * 86_400_000) });
  await later(89).run(new AbortController().signal);
  expect(await idp.services.applications.find(unused)).toBeDefined();
  await later(91).run(new AbortController().signal);
  expect(await idp.services.applications.find(unused)).toBeUndefined();
  expect(await idp.services.applications.find(kept)).toBeDefined();
});

it('is limited by address', async () => {
  await agents('allowed');
  const statuses: number[] = [];
  for (let at = 0; at < 25; at += 1) statuses.push((await register()).status);
  expect(statuses.at(-1)).toBe(429);
});
