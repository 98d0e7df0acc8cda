// `require_pkce: false` of one confidential client: for products that send no PKCE challenge.
import { exportJWK, generateKeyPair } from 'jose';
import * as oidc from 'openid-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { createRegistrationTokens } from '../../../src/protocols/oidc/store/registration-tokens.ts';
import { consoleOf, staff } from '../../admin/console/support.ts';
import { type ApiCaller, aPerson, tokenOfLongAgo } from '../../admin/support.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  completeSignIn,
  outcome,
  postAs,
  redirectUri,
  signIn,
  verifier,
} from '../support.ts';

let idp: TestIdp;
let user: TestUser;
let admin: ApiCaller;
let app: Application;

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services);
  admin = await aPerson(idp, ['admin']);
  app = await anApplication(idp, { require_pkce: false });
});

const withoutPkce = { code_challenge: null, code_challenge_method: null };

describe('a client with require_pkce: false', () => {
  it('signs a user in without a challenge, with openid-client', async () => {
    const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
    const url = oidc.buildAuthorizationUrl(app.rp.config, { redirect_uri: redirectUri, scope: 'openid', state, nonce });
    const page = await completeSignIn(httpClient(idp.issuer), url.href, { user });
    const checks = { expectedState: state, expectedNonce: nonce };
    const tokens = await oidc.authorizationCodeGrant(app.rp.config, new URL(page.location ?? ''), checks);
    expect(tokens.claims()?.sub).toBe(user.account.id);
  });

  it('may use PKCE all the same, and then the code needs its verifier', async () => {
    const { tokens } = await signIn(httpClient(idp.issuer), app, user);
    expect(tokens.claims()?.sub).toBe(user.account.id);
    const page = await completeSignIn(httpClient(idp.issuer), authorizeUrl(idp, app.clientId), { user });
    const code = new URL(page.location ?? '').searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri };
    expect((await postAs(idp, app, '/token', form)).json()).toMatchObject({ error: 'invalid_grant' });
  });

  it('cannot redeem a code without a challenge with a verifier (RFC 9700 4.8.2)', async () => {
    const url = authorizeUrl(idp, app.clientId, withoutPkce);
    const page = await completeSignIn(httpClient(idp.issuer), url, { user });
    const code = new URL(page.location ?? '').searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
    expect((await postAs(idp, app, '/token', form)).json()).toMatchObject({ error: 'invalid_grant' });
  });

  it('still gets an error for plain and for half a challenge', async () => {
    const halves: Record<string, string | null>[] = [
      { code_challenge_method: 'plain' },
      { code_challenge: null },
      { code_challenge_method: null },
    ];
    for (const half of halves) {
      const answer = await outcome(httpClient(idp.issuer), authorizeUrl(idp, app.clientId, half));
      expect(answer.get('error')).toBe('invalid_request');
    }
  });

  it('leaves PKCE required of every other client', async () => {
    for (const input of [{}, { require_pkce: true }, { token_endpoint_auth_method: 'none' as const }]) {
      const { clientId } = await anApplication(idp, input);
      const answer = await outcome(httpClient(idp.issuer), authorizeUrl(idp, clientId, withoutPkce));
      expect(answer.get('error')).toBe('invalid_request');
    }
  });
});

describe('the registration without PKCE', () => {
  const declared = { protocol: 'oidc', redirect_uris: [redirectUri] };

  it('is rejected for a public client', async () => {
    const page = await admin.send('POST', '/applications', {
      ...declared,
      token_endpoint_auth_method: 'none',
      require_pkce: false,
    });
    expect(page.status).toBe(400);
    expect(page.json()).toMatchObject({ errors: [{ path: 'require_pkce' }] });
    const { id } = (
      await admin.send('POST', '/applications', { ...declared, token_endpoint_auth_method: 'none' })
    ).json() as { id: string };
    const changed = await admin.send('PATCH', `/applications/${id}`, { require_pkce: false }, { 'if-match': '*' });
    expect(changed.status).toBe(400);
    // Nor does a confidential client without PKCE become a public one.
    const method = { token_endpoint_auth_method: 'none' };
    const path = `/applications/${app.applicationId}`;
    expect((await admin.send('PATCH', path, method, { 'if-match': '*' })).status).toBe(400);
  });

  it('needs a fresh sign-in, and is part of the declaration', async () => {
    const { applicationId } = await anApplication(idp);
    const person = await aPerson(idp, ['admin'], { tool: admin.app });
    const patch = () =>
      person.send('PATCH', `/applications/${applicationId}`, { require_pkce: false }, { 'if-match': '*' });
    expect((await patch()).json()).toMatchObject({ declaration: { require_pkce: false } });
    const { applicationId: other } = await anApplication(idp);
    await tokenOfLongAgo(idp, person);
    const late = await person.send('PATCH', `/applications/${other}`, { require_pkce: false }, { 'if-match': '*' });
    expect(late.json()).toMatchObject({ code: 'proof_needed' });
  });

  it('is made and displayed as a warning in the console', async () => {
    const { applicationId } = await anApplication(idp);
    const browser = await consoleOf(idp, await staff(idp, 'admin'));
    const path = `/admin/applications/${applicationId}`;
    await browser.submit(await browser.get(`${path}/settings`), { require_pkce: [] });
    const page = await browser.get(path);
    expect(textOf(page.text)).toContain('Its requests need no PKCE challenge');
    expect((await browser.get(`${path}/settings`)).forms[0]?.fields).not.toHaveProperty('require_pkce');
    expect(textOf((await browser.get('/admin')).text)).toMatch(/PKCE\D*\d+ applications? without PKCE/);
    expect(await admin.get(`/applications/${applicationId}`).then((one) => one.json())).toMatchObject({
      declaration: { require_pkce: false },
    });
    await browser.submit(await browser.get(`${path}/settings`), { require_pkce: 'on' });
    expect(textOf((await browser.get(path)).text)).not.toContain('need no PKCE');
  });

  it('is not for clients that register themselves', async () => {
    const registered = await register((await registrationTokens().issue()).token, { require_pkce: false });
    expect(registered).not.toHaveProperty('require_pkce');
    expect(await errorWithoutPkce(registered)).toBe('invalid_request');
  });

  it('is for confidential clients that register with an initial access token for it', async () => {
    const { token } = await registrationTokens().issue({ withoutPkce: true });
    const registered = await register(token, {});
    expect(registered).toMatchObject({ require_pkce: false });
    const page = await completeSignIn(
      httpClient(idp.issuer),
      authorizeUrl(idp, String(registered.client_id), withoutPkce),
      { user },
    );
    expect(new URL(page.location ?? '').searchParams.get('code')).toBeTruthy();
    const event = await idp.services.db.auditEvent.findFirst({
      where: { type: 'registration.token-issued', data: { contains: 'without_pkce' } },
    });
    expect(JSON.parse(event?.data ?? '{}')).toMatchObject({ without_pkce: true });
  });

  it('changes nothing for public clients and for those with a security profile', async () => {
    const { token } = await registrationTokens().issue({ withoutPkce: true });
    const publicClient = await register(token, { token_endpoint_auth_method: 'none' });
    expect(publicClient).not.toHaveProperty('require_pkce');
    expect(await errorWithoutPkce(publicClient)).toBe('invalid_request');
    const { publicKey } = await generateKeyPair('ES256');
    const jwks = { keys: [await exportJWK(publicKey)] };
    const secured = await register(token, { profile: 'fapi2', redirect_uris: ['https://bank.example/callback'], jwks });
    expect(secured).toMatchObject({ profile: 'fapi2', require_pkce: true });
  });

  it('stays after an update by the client, which cannot make it a public client', async () => {
    const { token } = await registrationTokens().issue({ withoutPkce: true });
    const registered = await register(token, {});
    const uri = String(registered.registration_client_uri);
    let authorization = `Bearer ${registered.registration_access_token}`;
    const put = async (more: object) => {
      const json = { client_id: registered.client_id, redirect_uris: [redirectUri], ...more };
      const page = await httpClient().request('PUT', uri, { json, headers: { authorization } });
      if (page.status === 200) authorization = `Bearer ${page.json().registration_access_token}`;
      return page;
    };
    expect((await put({ client_name: 'Renamed without PKCE', require_pkce: true })).json()).toMatchObject({
      require_pkce: false,
    });
    expect((await put({ token_endpoint_auth_method: 'none' })).status).toBe(400);
    const { id = '' } = (await idp.services.applications.find(String(registered.client_id))) ?? {};
    await admin.send('PATCH', `/applications/${id}`, { require_pkce: null }, { 'if-match': '*' });
    expect((await put({ require_pkce: false })).json()).not.toHaveProperty('require_pkce');
    expect(await errorWithoutPkce(registered)).toBe('invalid_request');
  });
});

const registrationTokens = () => createRegistrationTokens(idp.services);

async function register(token: string, metadata: object): Promise<Record<string, unknown>> {
  const page = await httpClient(idp.issuer).post('/register', {
    json: { redirect_uris: [redirectUri], ...metadata },
    headers: { authorization: `Bearer ${token}`, accept: '*/*' },
  });
  expect(page.status).toBe(201);
  return page.json();
}

async function errorWithoutPkce({ client_id }: Record<string, unknown>): Promise<string | null> {
  return (await outcome(httpClient(idp.issuer), authorizeUrl(idp, String(client_id), withoutPkce))).get('error');
}
