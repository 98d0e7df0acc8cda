// `require_pkce: false` of one confidential client: for products that send no PKCE challenge.
import * as oidc from 'openid-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { createRegistrationTokens } from '../../../src/oidc/store/registration-tokens.ts';
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

  it('a client with require_pkce: false may use PKCE all the same, and then the code needs its verifier', async () => {
    const { tokens } = await signIn(httpClient(idp.issuer), app, user);
    expect(tokens.claims()?.sub).toBe(user.account.id);
    const page = await completeSignIn(httpClient(idp.issuer), authorizeUrl(idp, app.clientId), { user });
    const code = new URL(page.location ?? '').searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri };
    expect((await postAs(idp, app, '/token', form)).json()).toMatchObject({ error: 'invalid_grant' });
  });

  it('a client with require_pkce: false cannot redeem a code without a challenge with a verifier (RFC 9700 4.8.2)', async () => {
    const url = authorizeUrl(idp, app.clientId, withoutPkce);
    const page = await completeSignIn(httpClient(idp.issuer), url, { user });
    const code = new URL(page.location ?? '').searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
    expect((await postAs(idp, app, '/token', form)).json()).toMatchObject({ error: 'invalid_grant' });
  });

  it('a client with require_pkce: false still gets an error for plain and for half a challenge', async () => {
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

  it('the registration without PKCE is rejected for a public client', async () => {
    const page = await admin.send('POST', '/applications', {
      ...declared,
      token_endpoint_auth_method: 'none',
      require_pkce: false,
    });
    expect(page.status).toBe(400);
    expect(page.json()).toMatchObject({ errors: [{ field: 'require_pkce' }] });
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

  it('the registration without PKCE needs a fresh sign-in, and is part of the declaration', async () => {
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

  it('the registration without PKCE is made and displayed as a warning in the console', async () => {
    const { applicationId } = await anApplication(idp);
    const browser = await consoleOf(idp, await staff(idp, 'admin'));
    const path = `/admin/applications/${applicationId}`;
    await browser.submit(await browser.get(`${path}/edit`), { without_pkce: 'on' });
    const page = await browser.get(path);
    expect(textOf(page.text)).toContain('Its requests need no PKCE challenge');
    expect((await browser.get(`${path}/edit`)).forms.at(-1)?.fields).toMatchObject({ without_pkce: 'on' });
    expect(textOf((await browser.get('/admin')).text)).toMatch(/PKCE\D*\d+ applications? may sign in without it/);
    expect(await admin.get(`/applications/${applicationId}`).then((one) => one.json())).toMatchObject({
      declaration: { require_pkce: false },
    });
    const { fields = {} } = (await browser.get(`${path}/edit`)).forms.at(-1) ?? {};
    const { without_pkce: _ticked, ...rest } = fields;
    await browser.post(`${path}/edit`, { form: rest as Record<string, string> });
    expect(textOf((await browser.get(path)).text)).not.toContain('need no PKCE');
  });

  it('the registration without PKCE is not for clients that register themselves', async () => {
    const { token } = await createRegistrationTokens(idp.services).issue();
    const page = await httpClient(idp.issuer).post('/register', {
      json: { redirect_uris: [redirectUri], require_pkce: false },
      headers: { authorization: `Bearer ${token}`, accept: '*/*' },
    });
    expect(page.status).toBe(201);
    const answer = await outcome(httpClient(idp.issuer), authorizeUrl(idp, String(page.json().client_id), withoutPkce));
    expect(answer.get('error')).toBe('invalid_request');
  });
});
