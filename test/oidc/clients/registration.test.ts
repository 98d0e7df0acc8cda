// Dynamic registration (RFC 7591, OIDC Dynamic Registration 1.0): only with a token, only by this server's rules.
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRegistrationTokens, type RegistrationTokens } from '../../../src/oidc/store/registration-tokens.ts';
import { relyingParty } from '../../support/applications/rp.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { completeSignIn, postAs, redirectUri } from '../support.ts';

let idp: TestIdp;
let user: TestUser;
let tokens: RegistrationTokens;
let initial: string;

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
  tokens = createRegistrationTokens(idp.services);
  initial = (await tokens.issue()).token;
});
afterAll(() => idp?.stop());

const register = (metadata: unknown, token: string | null = initial): Promise<Page> =>
  httpClient(idp.issuer).post('/register', {
    json: metadata,
    headers: { accept: 'text/html', ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
  });
const web = (more: object = {}) => ({ client_name: 'My app', redirect_uris: [redirectUri], ...more });

describe('registration', () => {
  it('gives no right at any API', async () => {
    const api = 'https://api.example.com';
    await idp.services.db.resource.create({ data: { identifier: api, scopes: '["articles:write"]' } });
    const page = await register(
      web({ grant_types: ['client_credentials'], redirect_uris: [], response_types: [], resources: [api] }),
    );
    const { client_id: clientId, client_secret: clientSecret } = page.json<Record<string, string>>();
    const client = { clientId: clientId ?? '', clientSecret: clientSecret ?? '', applicationId: '' };
    const ask = (form: object) => postAs(idp, client, '/token', { grant_type: 'client_credentials', ...form });
    expect((await ask({})).status).toBe(200);
    const rejected = await ask({ resource: api, scope: 'articles:write' });
    expect([rejected.status, rejected.json().error]).toEqual([400, 'invalid_target']);
  });

  it('makes a working client, with a secret that is displayed once', async () => {
    const config = await oidc.dynamicClientRegistration(new URL(idp.issuer), web(), undefined, {
      initialAccessToken: initial,
      execute: [oidc.allowInsecureRequests],
    });
    const { client_id: clientId, client_secret: clientSecret = '', ...metadata } = config.clientMetadata();
    expect(clientSecret.length).toBeGreaterThanOrEqual(32);
    const rp = await relyingParty({ issuer: idp.issuer, clientId, clientSecret, redirectUri });
    const started = await rp.start();
    const page = await completeSignIn(httpClient(idp.issuer), started.url, { user });
    expect((await rp.finish(page.location ?? '', started)).claims()?.sub).toBe(user.account.id);

    const uri = String(metadata.registration_client_uri);
    const authorization = `Bearer ${metadata.registration_access_token}`;
    const read = await httpClient().get(uri, { headers: { authorization } });
    expect(read.status).toBe(200);
    expect(read.json()).toMatchObject({ client_id: clientId, client_name: 'My app', redirect_uris: [redirectUri] });
    expect(read.json()).not.toHaveProperty('client_secret');
    expect(read.text).not.toMatch(/stored-as|placeholder/);
    const application = await idp.services.applications.find(clientId);
    expect(application).toMatchObject({ source: 'dynamic', consent: 'explicit', access: 'everyone', name: 'My app' });
  });

  it('registration is rejected without an initial access token', async () => {
    for (const token of [null, 'wrong', '', '\u00e4']) {
      const answer = await register(web(), token);
      expect([token, answer.status]).toEqual([token, token === '' ? 400 : 401]);
      expect(answer.headers['content-type']).toContain('application/json');
    }
  });

  it('registration is rejected with a token that has expired or was revoked', async () => {
    const { token } = await tokens.issue({ seconds: 1 });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect((await register(web(), token)).status).toBe(401);
    const taken = (await tokens.issue()).token;
    expect(await tokens.revokeAll()).toBeGreaterThan(0);
    expect((await register(web(), taken)).status).toBe(401);
    initial = (await tokens.issue()).token;
  });

  it.each<[string, object]>([
    ['a redirect URI over plain http', { redirect_uris: ['http://app.example/cb'] }],
    ['a redirect URI with a fragment', { redirect_uris: [`${redirectUri}#x`] }],
    ['a redirect URI with a wildcard', { redirect_uris: ['https://*.example/cb'] }],
    ['a script as redirect URI', { redirect_uris: ['javascript:alert(1)'] }],
    ['a redirect URI that is no text', { redirect_uris: [5] }],
    ['no redirect URI', { redirect_uris: [] }],
    ['the response type of SAML applications', { response_types: ['none'] }],
    ['the implicit flow', { response_types: ['id_token'], grant_types: ['implicit'] }],
    ['the password grant', { grant_types: ['password'] }],
    ['unsigned ID tokens', { id_token_signed_response_alg: 'none' }],
    ['unsigned requests', { request_object_signing_alg: 'none' }],
    ['an unknown way to prove itself', { token_endpoint_auth_method: 'tls_client_auth' }],
    ['a key way without keys', { token_endpoint_auth_method: 'private_key_jwt' }],
    ['keys that are private', { jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'a', y: 'b', d: 'c' }] } }],
    ['keys that are no keys', { jwks: 'x' }],
    [
      'client_credentials without a secret',
      { token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'client_credentials'] },
    ],
    ['an address over plain http', { backchannel_logout_uri: 'http://app.example/logout' }],
    ['a logo that is a script', { logo_uri: 'javascript:alert(1)' }],
    ['a name that is no text', { client_name: { a: 1 } }],
    ['a name that is too long', { client_name: 'x'.repeat(5000) }],
    ['a NUL in the name', { client_name: 'a\0b' }],
  ])('registration is rejected with %s', async (_what, metadata) => {
    const before = await idp.services.db.application.count();
    const answer = await register(web(metadata));
    expect(answer.status).toBe(400);
    expect(answer.json().error).toMatch(/^invalid_(client_metadata|redirect_uri|request)$/);
    expect(answer.json().error_description).toBeTruthy();
    expect(await idp.services.db.application.count()).toBe(before);
  });

  it.each<unknown>([[], 'text', 5, null, {}])('registration is rejected with a body of %j', async (body) => {
    expect((await register(body)).status).toBe(400);
  });

  it('registration does not let a client choose its id, its secret, its consent or its access', async () => {
    const answer = await register(
      web({
        client_id: 'chosen',
        client_secret: 'chosen'.repeat(10),
        consent: 'implicit',
        access: 'everyone',
        enabled: true,
        source: 'file',
      }),
    );
    expect(answer.status).toBe(201);
    const { client_id: id, client_secret: secret } = answer.json<Record<string, string>>();
    expect(id).not.toBe('chosen');
    expect(secret).not.toContain('chosen');
    expect(await idp.services.applications.find(id ?? '')).toMatchObject({ consent: 'explicit', source: 'dynamic' });
  });

  it('registration lets only its owner read a registration', async () => {
    const [one, two] = [await register(web()), await register(web())].map((answer) =>
      answer.json<Record<string, string>>(),
    );
    const read = (uri: string | undefined, token: string | undefined) =>
      httpClient().get(uri ?? '', { headers: { authorization: `Bearer ${token}` } });
    expect((await read(one?.registration_client_uri, 'wrong')).status).toBe(401);
    expect((await read(one?.registration_client_uri, initial)).status).toBe(401);
    expect((await read(one?.registration_client_uri, two?.registration_access_token)).status).toBe(401);
    for (const method of ['PUT', 'DELETE']) {
      const answer = await httpClient().request(method, one?.registration_client_uri ?? '', {
        headers: { authorization: `Bearer ${one?.registration_access_token}` },
      });
      expect([method, answer.status]).toEqual([method, 405]);
    }
  });
});
