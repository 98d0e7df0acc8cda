// What clients send that other providers had bug reports about, each with the report.
import * as jose from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  basic,
  completeSignIn,
  outcome,
  postAs,
  redirectUri,
  signIn,
  verifier,
} from '../support.ts';

const api = 'https://reports.example.com';
let idp: TestIdp;
let user: TestUser;
beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
  await idp.services.db.asStored.resource.create({ data: { identifier: api, scopes: '["read","write"]' } });
  await signRows(idp.services);
});
afterAll(() => idp?.stop());

const browser = () => httpClient(idp.issuer);

async function codeFor({ clientId }: Application): Promise<string> {
  const page = await completeSignIn(browser(), authorizeUrl(idp, clientId), { user });
  return new URL(page.location ?? expect.fail(textOf(page.text))).searchParams.get('code') ?? '';
}

async function redeem(app: Application, form: Record<string, string>, authorization?: string) {
  const code = await codeFor(app);
  return browser().post('/token', {
    form: { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier, ...form },
    headers: authorization ? { authorization } : {},
  });
}

describe('client authentication', () => {
  it('of a public client may be Basic with an empty password (ory/fosite#655), or an empty secret (django-oauth-toolkit#1387)', async () => {
    const app = await anApplication(idp, { token_endpoint_auth_method: 'none' });
    const { clientId } = app;
    const empty = basic(clientId, '');
    expect((await redeem(app, {}, empty)).status).toBe(200);
    expect((await redeem(app, { client_id: clientId }, empty)).status).toBe(200);
    expect((await redeem(app, { client_id: clientId, client_secret: '' })).status).toBe(200);
    expect((await redeem(app, { client_id: 'another' }, empty)).json().error).toBe('invalid_request');
    expect((await redeem(app, {}, basic(clientId, 'x'))).json().error).toBe('invalid_client');
    const revoked = await browser().post('/revoke', { form: { token: 'x' }, headers: { authorization: empty } });
    expect(revoked.status).toBe(200);
  });

  it('of a confidential client is never Basic with an empty password', async () => {
    const app = await anApplication(idp);
    for (const form of [{}, { client_id: app.clientId }] as Record<string, string>[]) {
      const answer = await redeem(app, form, basic(app.clientId, ''));
      expect([400, 401]).toContain(answer.status);
      expect(answer.json()).not.toHaveProperty('access_token');
    }
  });

  it('by header may repeat the client_id in the body, not the secret (openid-connect-generic#442, FusionAuth#1595)', async () => {
    const app = await anApplication(idp);
    const { clientId, clientSecret = '' } = app;
    const header = basic(clientId, clientSecret);
    expect((await redeem(app, { client_id: clientId }, header)).status).toBe(200);
    const both = await redeem(app, { client_id: clientId, client_secret: clientSecret }, header);
    expect(both.json()).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringContaining('only be provided using one mechanism'),
    });
  });

  it('by private_key_jwt has any of the audiences of RFC 9126 2 (bluesky-social/atproto#4127)', async () => {
    const { publicKey, privateKey } = await jose.generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await jose.exportJWK(publicKey)), kty: 'EC' as const, kid: 'k', alg: 'ES256', use: 'sig' };
    const { clientId } = await anApplication(idp, {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [jwk] },
    });
    const { issuer } = idp;
    const push = async (audience: string | string[]) => {
      const assertion = await new jose.SignJWT({ jti: crypto.randomUUID() })
        .setProtectedHeader({ alg: 'ES256', kid: 'k' })
        .setIssuer(clientId)
        .setSubject(clientId)
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(privateKey);
      const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
      const parameters = Object.fromEntries(new URL(authorizeUrl(idp, clientId)).searchParams);
      const form = { ...parameters, client_assertion: assertion, client_assertion_type: type };
      return (await browser().post('/par', { form })).status;
    };
    for (const audience of [
      issuer,
      `${issuer}/token`,
      [`${issuer}/token`],
      `${issuer}/par`,
      [issuer, 'https://x.example'],
    ])
      expect(`${audience} ${await push(audience)}`).toBe(`${audience} 201`);
    expect(await push('https://x.example')).toBe(401);
  });
});

describe('a scope', () => {
  it('with commas is named as the fault where no scope is registered (oauth2-client#834)', async () => {
    const { clientId } = await anApplication(idp);
    const answer = await outcome(browser(), authorizeUrl(idp, clientId, { scope: 'openid,profile,email' }));
    expect(answer.get('error')).toBe('invalid_scope');
    expect(answer.get('error_description')).toContain('spaces separate scopes, not commas');
  });

  it('may be narrower at a refresh, and is the whole one again at the next (FusionAuth#2590)', async () => {
    const app = await anApplication(idp);
    const { tokens } = await signIn(browser(), app, user, { scope: 'openid profile email offline_access' });
    const narrow = await app.rp.refresh(tokens.refresh_token ?? '', { scope: 'openid email' });
    expect(narrow.scope).toBe('openid email');
    const whole = await app.rp.refresh(narrow.refresh_token ?? tokens.refresh_token ?? '');
    expect(whole.scope).toBe('openid profile email offline_access');
  });

  it('of a client that acts for itself is by default the registered one of the API', async () => {
    const app = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      resources: [api],
      scope: 'openid profile read other',
    });
    const own = async (form: Record<string, string>) =>
      (await postAs(idp, app, '/token', { grant_type: 'client_credentials', ...form })).json();
    for (const scope of [{}, { scope: '' }, { scope: ' ' }, { scope: 'unknown' }] as Record<string, string>[])
      expect((await own({ resource: api, ...scope })).scope).toBe('read');
    expect(jose.decodeJwt(String((await own({ resource: api })).access_token)).scope).toBe('read');
    expect(await own({})).not.toHaveProperty('scope');
  });
});

describe('a request', () => {
  it('with max_age=0 signs in anew, and auth_time is of that sign-in (keycloak#33641)', async () => {
    const app = await anApplication(idp);
    const client = browser();
    await signIn(client, app, user);
    const started = await app.rp.start({ max_age: '0' });
    const page = await client.follow(await client.get(started.url));
    expect(page.forms[0]?.fields).toHaveProperty('password');
    const end = await completeSignIn(client, page, { user });
    const tokens = await app.rp.finish(end.location ?? '', {
      ...started,
      checks: { ...started.checks, maxAge: 0 },
    });
    expect(tokens.claims()?.auth_time).toBeGreaterThan(Date.now() / 1000 - 60);
  });

  it('with unknown acr_values signs in; with an essential acr that nobody reaches it ends at the application (better-auth#10786)', async () => {
    const { clientId } = await anApplication(idp);
    const at = async (parameters: Record<string, string>) =>
      new URL((await completeSignIn(browser(), authorizeUrl(idp, clientId, parameters), { user })).location ?? '')
        .searchParams;
    expect((await at({ acr_values: 'urn:mace:incommon:iap:silver 0' })).get('code')).not.toBeNull();
    const claims = JSON.stringify({ id_token: { acr: { essential: true, values: ['urn:x'] } } });
    expect((await at({ claims })).get('error')).toBe('unmet_authentication_requirements');
  });

  it('with prompt=none and the hint of another user gets login_required (identity-model-oidc-client-js#205)', async () => {
    const app = await anApplication(idp);
    const client = browser();
    await signIn(client, app, user);
    const other = await signIn(browser(), app, await aUser(idp.services));
    const hint = { prompt: 'none', id_token_hint: other.tokens.id_token ?? '' };
    expect((await outcome(client, authorizeUrl(idp, app.clientId, hint))).get('error')).toBe('login_required');
  });

  it('has another redirect URI with or without the default port, which a page says (keycloak#16587, authentik#23662)', async () => {
    const { clientId } = await anApplication(idp, { redirect_uris: ['https://app.example/cb'] });
    const page = await browser().get(authorizeUrl(idp, clientId, { redirect_uri: 'https://app.example:443/cb' }));
    expect(page.status).toBe(400);
    const code = /\b[2-9A-Z]{4}-[2-9A-Z]{4}\b/.exec(textOf(page.text))?.[0] ?? '';
    const failed = (await idp.services.rejections.find(code))?.rules.find(({ state }) => state === 'failed');
    expect(failed).toMatchObject({
      rule: 'redirect_uri',
      received: 'https://app.example:443/cb',
      expected: 'https://app.example/cb',
    });
  });

  it('for UserInfo may have the token in the body (better-auth#10155), once', async () => {
    const app = await anApplication(idp);
    const { tokens } = await signIn(browser(), app, user);
    const form = { access_token: tokens.access_token };
    expect((await browser().post('/userinfo', { form })).json().sub).toBe(tokens.claims()?.sub);
    const authorization = `bearer ${tokens.access_token}`;
    expect((await browser().get('/userinfo', { headers: { authorization } })).status).toBe(200);
    expect((await browser().post('/userinfo', { form, headers: { authorization } })).status).toBe(400);
  });
});

it('a logout by client_id alone is confirmed and leads back with a query that was registered (journiv#65, Jans#5942)', async () => {
  const home = 'http://127.0.0.1:4000/?x=1&y=2';
  const app = await anApplication(idp, { post_logout_redirect_uris: [home] });
  const client = browser();
  await signIn(client, app, user);
  const parameters = new URLSearchParams({ client_id: app.clientId, post_logout_redirect_uri: home, state: 's t' });
  const page = await client.get(`/end-session?${parameters}`);
  const done = await client.submit(page, {}, { button: 'Sign out' });
  expect(done.location).toBe(`${home}&state=s+t`);
});
