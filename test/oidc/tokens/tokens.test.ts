// Tokens: algorithms per client, lifetimes, opaque or JWT by resource (RFC 8707, RFC 9068), and their claims.
import * as jose from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Application, anApplication, authorizeUrl, forApi, outcome, postAs, signIn } from '../support.ts';

const api = 'https://api.example.com';
const es = 'https://es.example.com/v1';
let idp: TestIdp;
let user: TestUser;
let app: Application;

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
  app = await anApplication(idp, {
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    ...forApi([api, es], 'articles:read', 'articles:write', 'things'),
  });
  const { db } = idp.services;
  await db.asStored.resource.create({ data: { identifier: api, scopes: '["articles:read","articles:write"]' } });
  await signRows(idp.services);
  await db.asStored.resource.create({ data: { identifier: es, scopes: '["things"]', signingAlg: 'ES256' } });
  await signRows(idp.services);
});
afterAll(() => idp?.stop());

const keys = () => jose.createRemoteJWKSet(new URL(`${idp.issuer}/jwks`));
const apiScope = { scope: 'openid articles:read', resource: api };

describe('the ID token', () => {
  it('is signed with RS256 unless the client wants another algorithm', async () => {
    const { tokens } = await signIn(httpClient(idp.issuer), app, user);
    const { protectedHeader } = await jose.jwtVerify(tokens.id_token ?? '', keys(), { audience: app.clientId });
    expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: expect.any(String) });
  });

  it.each(['PS256', 'ES256', 'EdDSA'] as const)('is signed with %s for a client that registers it', async (alg) => {
    const client = await anApplication(idp, { id_token_signed_response_alg: alg });
    const { tokens } = await signIn(httpClient(idp.issuer), client, user);
    const { protectedHeader } = await jose.jwtVerify(tokens.id_token ?? '', keys());
    expect(protectedHeader.alg).toBe(alg);
  });

  it('is signed with the secret by HS256 for a client that registers it', async () => {
    const client = await anApplication(idp, { id_token_signed_response_alg: 'HS256' });
    const { tokens } = await signIn(httpClient(idp.issuer), client, user);
    const secret = new TextEncoder().encode(client.clientSecret);
    const { protectedHeader, payload } = await jose.jwtVerify(tokens.id_token ?? '', secret, {
      audience: client.clientId,
    });
    expect(protectedHeader.alg).toBe('HS256');
    expect(payload.sub).toBe(user.account.id);
  });

  it('cannot be registered unsigned, nor signed with a short secret', async () => {
    const client = { redirect_uris: ['http://127.0.0.1:4000/cb'] };
    const { applications } = idp.services;
    await expect(
      applications.createOidc({ ...client, id_token_signed_response_alg: 'none' as never }),
    ).rejects.toThrow();
    await expect(applications.createOidc({ ...client, client_secret: 'short' })).rejects.toThrow();
  });
});

describe('the access token', () => {
  it('is opaque, is valid for 15 minutes, and is active for no other client', async () => {
    const { tokens } = await signIn(httpClient(idp.issuer), app, user);
    expect(tokens.access_token).toMatch(/^[\w-]{43}$/);
    expect(tokens.expires_in).toBe(900);
    expect(tokens.token_type).toBe('bearer');
  });

  it('is valid for as long as the setting says, never more than an hour', async () => {
    const { settings } = idp.services;
    await settings.set('access_token_minutes', 60);
    expect((await signIn(httpClient(idp.issuer), app, user)).tokens.expires_in).toBe(3600);
    await expect(settings.set('access_token_minutes', 61)).rejects.toThrow();
    await settings.set('access_token_minutes', 15);
  });

  it('is a JWT for a registered resource, and for that alone', async () => {
    const { tokens } = await signIn(httpClient(idp.issuer), app, user, apiScope);
    // With openid in the scope the first token is for userinfo; the API's is requested at the token endpoint.
    const again = await signInFor(api);
    const { payload, protectedHeader } = await jose.jwtVerify(again, keys(), { issuer: idp.issuer, audience: api });
    expect(protectedHeader).toMatchObject({ typ: 'at+jwt', alg: 'RS256' });
    expect(payload).toMatchObject({
      sub: user.account.id,
      client_id: app.clientId,
      scope: 'articles:read',
      jti: expect.any(String),
    });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(900);
    expect(payload).not.toHaveProperty('email');
    expect(tokens.access_token).not.toContain('.');
  });

  async function signInFor(resource: string): Promise<string> {
    const started = await app.rp.start({ ...apiScope, resource });
    const back = await outcomeUrl(started.url);
    const answer = await oidc.authorizationCodeGrant(app.rp.config, back, started.checks, { resource });
    return answer.access_token;
  }

  async function outcomeUrl(url: string): Promise<URL> {
    const browser = httpClient(idp.issuer);
    await signIn(browser, app, user);
    const page = await browser.follow(await browser.get(url), (target) => target.startsWith(app.redirectUri));
    return new URL(page.location ?? '');
  }

  it.each(['PS256', 'ES256', 'EdDSA'])('is issued for a resource without openid, signed with its %s', async (alg) => {
    await idp.services.db.asStored.resource.update({ where: { identifier: es }, data: { signingAlg: alg, mac: '' } });
    await signRows(idp.services);
    const machine = await oidc.clientCredentialsGrant(app.rp.config, { resource: es, scope: 'things' });
    const { payload, protectedHeader } = await jose.jwtVerify(machine.access_token, keys(), { audience: es });
    expect(protectedHeader).toMatchObject({ typ: 'at+jwt', alg });
    expect(payload).toMatchObject({ sub: app.clientId, client_id: app.clientId, scope: 'things' });
  });

  it('is rejected by userinfo and revocation when it is for a resource, and active at introspection', async () => {
    const { access_token: token } = await oidc.clientCredentialsGrant(app.rp.config, {
      resource: api,
      scope: 'articles:read',
    });
    const userinfo = await httpClient(idp.issuer).get('/userinfo', { headers: { authorization: `Bearer ${token}` } });
    expect(userinfo.status).toBe(401);
    const revoked = await postAs(idp, app, '/revoke', { token });
    expect({ status: revoked.status, error: revoked.json().error }).toEqual({
      status: 400,
      error: 'unsupported_token_type',
    });
    expect((await postAs(idp, app, '/introspect', { token })).json()).toMatchObject({ active: true });
  });

  it('is rejected for a resource that is not registered', async () => {
    const browser = httpClient(idp.issuer);
    for (const resource of [
      'https://other.example',
      `${api}#x`,
      'not a uri',
      '\0https://api.example.com',
      'https://a.example/\0',
    ]) {
      const answer = await outcome(browser, authorizeUrl(idp, app.clientId, { resource }));
      expect(answer.get('error'), resource).toBe('invalid_target');
      const machine = await postAs(idp, app, '/token', { grant_type: 'client_credentials', resource });
      expect({ status: machine.status, error: machine.json().error }, resource).toEqual({
        status: 400,
        error: 'invalid_target',
      });
    }
  });

  it('is rejected for a resource that this client may not request', async () => {
    const narrow = await anApplication(idp, {
      grant_types: ['client_credentials'],
      redirect_uris: [],
      resources: [api],
    });
    expect((await oidc.clientCredentialsGrant(narrow.rp.config, { resource: api })).access_token).toBeTruthy();
    await expect(oidc.clientCredentialsGrant(narrow.rp.config, { resource: es })).rejects.toMatchObject({
      error: 'invalid_target',
    });
  });

  it('holds no scope that the resource does not have', async () => {
    const answer = await postAs(idp, app, '/token', {
      grant_type: 'client_credentials',
      resource: api,
      scope: 'articles:read things admin',
    });
    if (answer.status === 200) expect(answer.json().scope).toBe('articles:read');
    else expect(answer.json().error).toBe('invalid_scope');
  });
});
