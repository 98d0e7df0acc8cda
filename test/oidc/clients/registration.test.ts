// Dynamic registration (RFC 7591, OIDC Dynamic Registration 1.0): only with a token, only by this server's rules.
import { generateKeyPairSync } from 'node:crypto';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createRegistrationTokens,
  type RegistrationTokens,
} from '../../../src/protocols/oidc/store/registration-tokens.ts';
import { relyingParty } from '../../support/applications/rp.ts';
import { signRows } from '../../support/database/row-macs.ts';
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
    await idp.services.db.asStored.resource.create({ data: { identifier: api, scopes: '["articles:write"]' } });
    await signRows(idp.services);
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

  it('lets logout tokens name the session unless the client registers without', async () => {
    const uri = { backchannel_logout_uri: 'https://app.example.com/logout' };
    const registered = await register(web(uri));
    expect(registered.json()).toMatchObject({ ...uri, backchannel_logout_session_required: true });
    const without = await register(web({ ...uri, backchannel_logout_session_required: false }));
    expect(without.json()).toMatchObject({ backchannel_logout_session_required: false });
  });

  it.each(['registration', 'update'])('is recorded among the rejected requests when its %s fails', async (step) => {
    const bad = { redirect_uris: ['http://app.example/cb'] };
    const sent = async () => {
      if (step === 'registration') return register(bad);
      const client = (await register(web())).json<Record<string, string>>();
      const headers = { authorization: `Bearer ${client.registration_access_token}` };
      const metadata = { ...web(bad), client_id: client.client_id };
      return httpClient().request('PUT', client.registration_client_uri ?? '', { json: metadata, headers });
    };
    const answer = await sent();
    const code =
      /[2-9A-Z]{4}-[2-9A-Z]{4}/.exec(String(answer.json().error_description))?.[0] ?? expect.fail(answer.text);
    expect(await idp.services.rejections.find(code)).toMatchObject({
      endpoint: 'register',
      rules: expect.arrayContaining([
        { rule: 'registration', state: 'failed', expected: expect.stringContaining('redirect_uris[0]') },
      ]),
    });
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

  it.each([
    [{ redirect_uris: ['com.example.app:/cb'] }, 'redirect_uris\\[0\\] .*application_type must be native'],
    [{ redirect_uris: ['http://127.0.0.1:*/cb'] }, 'redirect_uris\\[0\\] .*application_type native.*every port'],
    [{ redirect_uris: ['http://app.example/cb'] }, 'redirect_uris\\[0\\] must be https .*loopback'],
    [
      { redirect_uris: ['http://app.example/cb'], application_type: 'native' },
      'redirect_uris\\[0\\] must be http on a loopback address, https or a scheme of the app',
    ],
    [
      { redirect_uris: ['https://localhost/cb'], application_type: 'native' },
      'redirect_uris\\[0\\] must be http on a loopback address',
    ],
    [{ redirect_uris: ['https://app.example/cb#x'] }, 'redirect_uris\\[0\\] must not have a fragment'],
    [{ redirect_uris: ['https://*.app.example/cb'] }, 'redirect_uris\\[0\\] must not have a wildcard'],
    [{ redirect_uris: undefined }, 'redirect_uris can.t be empty'],
    [
      { grant_types: ['authorization_code', 'implicit'] },
      'grant_types\\[1\\] .*implicit.*use authorization_code with PKCE',
    ],
    [{ grant_types: ['password'] }, 'grant_types\\[0\\] .*password'],
    [{ response_types: ['code', 'id_token'] }, 'response_types.* must be code.*PKCE'],
    [{ post_logout_redirect_uris: ['com.example.app:/out'] }, 'post_logout_redirect_uris\\[0\\] .*application_type'],
    [
      { token_endpoint_auth_method: 'tls_client_auth' },
      'token_endpoint_auth_method must be one of client_secret_basic',
    ],
    [{ id_token_signed_response_alg: 'none' }, 'id_token_signed_response_alg must be one of RS256'],
    [
      { token_endpoint_auth_method: 'private_key_jwt' },
      'jwks can.t be empty, because private_key_jwt needs jwks or jwks_uri',
    ],
    [{ application_type: 'spa' }, 'application_type must be one of web, native, not .spa'],
    [{ backchannel_logout_uri: 'http://app.example/logout' }, 'backchannel_logout_uri must be https'],
    [{ scope: 'profile' }, 'scope must include openid'],
    [{ contacts: ['nobody'] }, 'contacts\\[0\\] must be an email address'],
  ])('names the field and the remedy for %j', async (faulty, reason) => {
    const page = await register(web(faulty));
    expect(page.status).toBe(400);
    const description = String(page.json().error_description);
    expect(description).toMatch(new RegExp(`^${reason}`));
    expect(description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  });

  it.each([
    [null, 401],
    ['wrong', 401],
    ['', 400],
    ['\u00e4', 401],
  ])('is rejected with the initial access token %j, by %i', async (token, status) => {
    const answer = await register(web(), token);
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toContain('application/json');
  });

  it('is rejected with a token that has expired or was revoked', async () => {
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
    ['an unsupported client authentication method', { token_endpoint_auth_method: 'tls_client_auth' }],
    ['private_key_jwt without keys', { token_endpoint_auth_method: 'private_key_jwt' }],
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
  ])('is rejected with %s', async (_what, metadata) => {
    const before = await idp.services.db.application.count();
    const answer = await register(web(metadata));
    expect(answer.status).toBe(400);
    expect(answer.json().error).toMatch(/^invalid_(client_metadata|redirect_uri|request)$/);
    expect(answer.json().error_description).toBeTruthy();
    expect(await idp.services.db.application.count()).toBe(before);
  });

  it('gives a client with a security profile everything that the profile demands, and never takes it back', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwks = { keys: [publicKey.export({ format: 'jwk' })] };
    const profile = { profile: 'fapi2-signing', redirect_uris: ['https://bank.example.com/cb'], jwks };
    const page = await register(
      web({ ...profile, token_endpoint_auth_method: 'private_key_jwt', dpop_bound_access_tokens: false }),
    );
    expect(page.status).toBe(201);
    const made = page.json<Record<string, string>>();
    const demanded = {
      profile: 'fapi2-signing',
      token_endpoint_auth_method: 'private_key_jwt',
      require_pushed_authorization_requests: true,
      dpop_bound_access_tokens: true,
      require_signed_request_object: true,
      response_modes: ['jwt'],
      id_token_signed_response_alg: 'PS256',
    };
    expect(made).toMatchObject(demanded);
    expect(made).not.toHaveProperty('client_secret');
    const stored = async () => (await idp.services.applications.find(made.client_id ?? ''))?.metadata;
    expect(await stored()).toMatchObject({ ...demanded, require_pkce: true });

    const { registration_access_token: token, registration_client_uri: uri = '', ...metadata } = made;
    const { profile: _left, client_id_issued_at: _issued, ...without } = metadata as Record<string, unknown>;
    const weaker = { ...without, response_modes: ['query'], dpop_bound_access_tokens: false };
    const json = { headers: { authorization: `Bearer ${token}` }, json: weaker };
    expect((await httpClient().request('PUT', uri, json)).status).toBe(400);
    expect(await stored()).toMatchObject(demanded);
    expect((await register(web({ profile: 'fapi9' }))).status).toBe(400);
    expect(
      (await register(web({ ...profile, token_endpoint_auth_method: 'private_key_jwt', jwks: undefined }))).status,
    ).toBe(400);
  });

  it.each<unknown>([[], 'text', 5, null, {}])('is rejected with a body of %j', async (body) => {
    expect((await register(body)).status).toBe(400);
  });

  it('does not let a client choose its id, its secret, its consent or its access', async () => {
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

  it('lets only its owner read a registration', async () => {
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
        headers: { authorization: `Bearer ${initial}` },
      });
      expect(answer.status, method).toBe(401);
    }
  });

  it.each([
    ['POST', '/register/x', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['PATCH', '/register/x', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['PUT', '/register', 'POST, OPTIONS'],
    ['DELETE', '/register', 'POST, OPTIONS'],
  ])('answers %s %s with 405 and Allow', async (method, path, allow) => {
    const answer = await httpClient(idp.issuer).request(method, path, {});
    expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
  });
});

describe('the management of a registration (RFC 7592)', () => {
  type Registered = Record<
    'client_id' | 'client_secret' | 'registration_client_uri' | 'registration_access_token',
    string
  >;
  const manage = (
    method: string,
    { registration_client_uri: uri, registration_access_token: token }: Registered,
    json?: object,
  ) =>
    httpClient().request(method, uri, {
      headers: { authorization: `Bearer ${token}`, accept: '*/*' },
      ...(json && { json }),
    });
  const registered = async (more: object = {}) => (await register(web(more))).json<Registered>();
  const update = (one: Registered, more: object = {}) => manage('PUT', one, web({ client_id: one.client_id, ...more }));
  const stored = async ({ client_id }: Registered) => {
    const application = await idp.services.applications.find(client_id);
    if (application?.protocol !== 'oidc') throw new Error('no such client');
    return application;
  };
  const expectSignInWorks = async ({ client_id: clientId, client_secret: clientSecret }: Registered) => {
    const rp = await relyingParty({ issuer: idp.issuer, clientId, clientSecret, redirectUri });
    const started = await rp.start();
    const page = await completeSignIn(httpClient(idp.issuer), started.url, { user });
    expect((await rp.finish(page.location ?? '', started)).claims()?.sub).toBe(user.account.id);
  };

  it('replaces the metadata, rotates the access token, and keeps the secret valid', async () => {
    const one = await registered({ logo_uri: 'https://app.example/logo.png', contacts: ['a@app.example'] });
    const changed = await update(one, { client_name: 'Renamed', tos_uri: 'https://app.example/terms' });
    expect(changed.status, changed.text).toBe(200);
    const body = changed.json<Registered & Record<string, unknown>>();
    expect(body).toMatchObject({ client_name: 'Renamed', tos_uri: 'https://app.example/terms' });
    expect(body).not.toHaveProperty('client_secret');
    expect(body).not.toHaveProperty('logo_uri');
    expect((await stored(one)).metadata).not.toHaveProperty('contacts');
    expect(body.registration_access_token).not.toBe(one.registration_access_token);
    expect((await manage('GET', one)).status).toBe(401);
    expect((await manage('GET', body)).json()).toMatchObject({ client_id: one.client_id, client_name: 'Renamed' });
    await expectSignInWorks(one);
  });

  it('accepts the current secret in an update, and no other', async () => {
    const one = await registered();
    expect((await update(one, { client_secret: 'x'.repeat(43) })).status).toBe(400);
    expect((await update(one, { client_secret: one.client_secret })).status).toBe(200);
    await expectSignInWorks(one);
  });

  it('makes a secret for a public client that becomes confidential, and removes that of one that becomes public', async () => {
    const one = await registered({ token_endpoint_auth_method: 'none' });
    const confidential = (await update(one)).json<Registered>();
    expect(confidential.client_secret.length).toBeGreaterThanOrEqual(32);
    await expectSignInWorks(confidential);
    const open = await update(confidential, { token_endpoint_auth_method: 'none' });
    expect(open.status).toBe(200);
    expect(open.text).not.toContain('client_secret"');
    expect(await idp.services.applications.unexpiredSecrets((await stored(one)).id)).toEqual([]);
  });

  it('needs the secret itself in an update where it becomes the key of an HMAC', async () => {
    const one = await registered();
    const hmac = { token_endpoint_auth_method: 'client_secret_jwt' };
    const without = await update(one, hmac);
    expect(without.status).toBe(400);
    expect(without.text).toContain('send the current one');
    const changed = await update(one, { ...hmac, client_secret: one.client_secret });
    expect(changed.status, changed.text).toBe(200);
    const { client_id: clientId, client_secret: clientSecret } = one;
    const rp = await relyingParty({
      issuer: idp.issuer,
      clientId,
      redirectUri,
      clientAuth: oidc.ClientSecretJwt(clientSecret),
    });
    const started = await rp.start();
    const page = await completeSignIn(httpClient(idp.issuer), started.url, { user });
    expect((await rp.finish(page.location ?? '', started)).claims()?.sub).toBe(user.account.id);
  });

  it.each<[string, object]>([
    ['another client_id', { client_id: 'other' }],
    ['a registration access token', { registration_access_token: 'x' }],
    ['a redirect URI with a fragment', { redirect_uris: [`${redirectUri}#x`] }],
    ['the response type of SAML applications', { response_types: ['none'] }],
    ['the password grant', { grant_types: ['password'] }],
    ['unsigned ID tokens', { id_token_signed_response_alg: 'none' }],
  ])('rejects an update with %s, which changes nothing', async (_what, metadata) => {
    const one = await registered();
    const before = await stored(one);
    expect((await update(one, metadata)).status).toBe(400);
    expect(await stored(one)).toEqual(before);
    expect((await manage('GET', one)).status).toBe(200);
  });

  it('leaves out the scope of an API and the grant of other servers, at an update as at the registration', async () => {
    const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
    const grant_types = ['authorization_code', 'refresh_token', jwtBearer, 'urn:example:other'];
    const asked = { scope: 'openid articles:write', grant_types, token_endpoint_auth_method: 'none' };
    const left = { scope: 'openid offline_access', grant_types: ['authorization_code', 'refresh_token'] };
    expect((await register(web(asked))).json()).toMatchObject(left);
    const one = await registered();
    expect((await update(one, asked)).json()).toMatchObject(left);
  });

  it('leaves what an administrator has set as it is', async () => {
    const one = await registered();
    const { id, metadata } = await stored(one);
    await idp.services.roles.create({ name: 'photographer' });
    const access = { roles: ['photographer'] };
    const set = {
      ...metadata,
      mfa: 'required',
      require_pkce: false,
      claims: { dept: 'attributes.department' },
    } as const;
    await idp.services.applications.update('oidc', id, { ...set, access, client_name: 'x' });
    const sent = { enabled: true, access: 'everyone', consent: 'implicit', mfa: null, require_pkce: true, claims: {} };
    expect((await update(one, { ...sent, client_name: 'Mine' })).status).toBe(200);
    const after = await stored(one);
    expect(after).toMatchObject({ name: 'Mine', consent: 'explicit', access, source: 'dynamic' });
    expect(after.metadata).toMatchObject({ mfa: 'required', require_pkce: false, claims: set.claims });
  });

  it.each<[string, object]>([
    ['has the right to an API', { resources: ['https://api.example.com'], scope: 'openid articles:write' }],
    ['asks users for no consent', { consent: 'implicit' }],
  ])('neither changes nor deletes an application that %s by an administrator', async (_what, more) => {
    const one = await registered();
    const { id, metadata } = await stored(one);
    await idp.services.applications.update('oidc', id, { ...metadata, client_name: 'x', ...more });
    const before = await stored(one);
    const rejected = await update(one, { redirect_uris: ['https://evil.example/cb'] });
    expect([rejected.status, rejected.text]).toEqual([403, expect.stringContaining('managed by an administrator')]);
    expect((await manage('DELETE', one)).status).toBe(403);
    expect(await stored(one)).toEqual(before);
  });

  it('deletes the client with its access token', async () => {
    const one = await registered();
    await expectSignInWorks(one);
    expect((await manage('DELETE', one)).status).toBe(204);
    expect(await idp.services.applications.find(one.client_id)).toBeUndefined();
    expect((await manage('GET', one)).status).toBe(401);
    const where = { clientId: one.client_id };
    expect(await idp.services.db.oidcArtifact.count({ where })).toBe(0);
    const audited = await idp.services.audit.list({ types: ['application.deleted'] });
    expect(audited.map(({ clientId }) => clientId)).toContain(one.client_id);
  });
});
