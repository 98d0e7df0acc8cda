// Discovery advertises nothing that is not so: each entry is used here, or names the test that uses it.
import { existsSync } from 'node:fs';
import * as jose from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { createRegistrationTokens } from '../../../src/protocols/oidc/store/registration-tokens.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { anApplication, authorizeUrl, type ClientInput, postAs, redirectUri, signIn } from '../support.ts';

let idp: TestIdp;
let user: TestUser;
let keys: Record<string, { privateKey: jose.CryptoKey; jwk: jose.JWK }>;
let document: Record<string, unknown>;

const families: Record<string, string> = { RS: 'RSA', PS: 'RSA', ES: 'EC', Ed: 'OKP' };
const secret = 'a secret of more than thirty-two characters';
const now = () => Math.floor(Date.now() / 1000);
const entry = (name: string) => document[name] as string[];

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services);
  const made = ['RS256', 'ES256', 'Ed25519'].map(async (alg) => {
    const { privateKey, publicKey } = await jose.generateKeyPair(alg, { extractable: true });
    const jwk = await jose.exportJWK(publicKey);
    // Without `alg`, so that the key fits each algorithm of its type.
    return [jwk.kty, { privateKey, jwk: { ...jwk, kid: jwk.kty ?? '' } }] as const;
  });
  keys = Object.fromEntries(await Promise.all(made));
  await createRegistrationTokens(idp.services).issue();
  document = (await httpClient(idp.issuer).get('/.well-known/openid-configuration')).json();
});

const jwks = () => ({ keys: Object.values(keys).map(({ jwk }) => jwk) }) as never;

/** A JWT by a key of the client, or with its secret. */
async function signed(alg: string, claims: jose.JWTPayload, header: object = {}): Promise<string> {
  const { privateKey, jwk } = keys[families[alg.slice(0, 2)] ?? ''] ?? {};
  // WebCrypto binds a key to one algorithm: imported again, it signs with the one to be tried.
  const key = privateKey && (await jose.importJWK(await jose.exportJWK(privateKey), alg));
  return new jose.SignJWT({ iat: now(), exp: now() + 60, jti: crypto.randomUUID(), ...claims })
    .setProtectedHeader({ alg, ...(jwk && { kid: jwk.kid }), ...header })
    .sign(key ?? new TextEncoder().encode(secret));
}

const machine = (input: ClientInput = {}) =>
  anApplication(idp, { redirect_uris: [], grant_types: ['client_credentials'], client_secret: secret, ...input });

/** How each value of an entry is used; throws, or fails an expectation, where it does not work. */
const uses: Record<string, (value: string) => Promise<void>> = {
  async token_endpoint_auth_methods_supported(method) {
    if (method === 'none') {
      const { tokens } = await signIn(
        httpClient(idp.issuer),
        await anApplication(idp, { token_endpoint_auth_method: method }),
        user,
      );
      expect(tokens.access_token).toBeTruthy();
      return;
    }
    const isPrivate = method === 'private_key_jwt';
    const app = await machine({
      token_endpoint_auth_method: method as 'client_secret_basic',
      ...(isPrivate && { client_secret: undefined, jwks: jwks() }),
    });
    const grant = { grant_type: 'client_credentials' };
    const form = method.endsWith('_jwt')
      ? await assertion(app.clientId, isPrivate ? 'ES256' : 'HS256')
      : { client_id: app.clientId, client_secret: secret };
    const page =
      method === 'client_secret_basic'
        ? await postAs(idp, app, '/token', grant)
        : await httpClient(idp.issuer).post('/token', { form: { ...grant, ...form } });
    expect(page.status).toBe(200);
  },

  async token_endpoint_auth_signing_alg_values_supported(alg) {
    const auth: ClientInput =
      alg === 'HS256'
        ? { token_endpoint_auth_method: 'client_secret_jwt' }
        : { token_endpoint_auth_method: 'private_key_jwt', client_secret: undefined, jwks: jwks() };
    for (const registered of [{}, { token_endpoint_auth_signing_alg: alg as 'ES256' }]) {
      const app = await machine({ ...auth, ...registered });
      const form = { grant_type: 'client_credentials', ...(await assertion(app.clientId, alg)) };
      expect((await httpClient(idp.issuer).post('/token', { form })).status).toBe(200);
    }
    if (alg === 'HS256') return; // a client that registers itself gets another secret
    const { token } = await createRegistrationTokens(idp.services).issue();
    const body = { redirect_uris: [redirectUri], ...auth, token_endpoint_auth_signing_alg: alg };
    const headers = { authorization: `Bearer ${token}` };
    const page = await httpClient(idp.issuer).post('/register', { json: body, headers });
    expect(page.status, alg).toBe(201);
  },

  async id_token_signing_alg_values_supported(alg) {
    const app = await anApplication(idp, { id_token_signed_response_alg: alg as 'ES256', client_secret: secret });
    const { tokens } = await signIn(httpClient(idp.issuer), app, user);
    expect(jose.decodeProtectedHeader(tokens.id_token ?? '').alg).toBe(alg);
  },

  async userinfo_signing_alg_values_supported(alg) {
    const app = await anApplication(idp, { userinfo_signed_response_alg: alg as 'ES256', client_secret: secret });
    const { tokens } = await signIn(httpClient(idp.issuer), app, user);
    const headers = { authorization: `Bearer ${tokens.access_token}`, accept: '*/*' };
    const page = await httpClient(idp.issuer).get('/userinfo', { headers });
    expect(jose.decodeProtectedHeader(page.text).alg).toBe(alg);
  },

  async request_object_signing_alg_values_supported(alg) {
    const signing = { request_object_signing_alg: alg as 'ES256' };
    for (const registered of alg === 'HS256' ? [signing] : [{ jwks: jwks() }, { jwks: jwks(), ...signing }]) {
      const app = await anApplication(idp, { client_secret: secret, ...registered });
      const parameters = Object.fromEntries(new URL(authorizeUrl(idp, app.clientId)).searchParams);
      const request = await signed(alg, { ...parameters, iss: app.clientId, aud: idp.issuer });
      const page = await postAs(idp, app, '/par', { request, client_id: app.clientId });
      expect(page.status, alg).toBe(201);
    }
  },

  async authorization_signing_alg_values_supported(alg) {
    const { clientId } = await anApplication(idp, { authorization_signed_response_alg: alg as 'ES256' });
    const url = authorizeUrl(idp, clientId, { prompt: 'none', response_mode: 'jwt' });
    const back = new URL((await httpClient(idp.issuer).get(url)).location ?? '');
    const response = back.searchParams.get('response') ?? '';
    expect(jose.decodeProtectedHeader(response).alg).toBe(alg);
    expect(jose.decodeJwt(response)).toMatchObject({ error: 'login_required', aud: clientId });
  },

  async introspection_signing_alg_values_supported(alg) {
    const app = await machine({ introspection_signed_response_alg: alg as 'ES256' });
    const { access_token: token } = (await postAs(idp, app, '/token', { grant_type: 'client_credentials' })).json();
    const accept = 'application/token-introspection+jwt';
    const page = await postAs(idp, app, '/introspect', { token: String(token) }, { accept });
    expect(jose.decodeProtectedHeader(page.text).alg).toBe(alg);
  },

  async dpop_signing_alg_values_supported(alg) {
    const app = await machine();
    const { jwk } = keys[families[alg.slice(0, 2)] ?? ''] ?? {};
    const { kid: _kid, ...key } = jwk ?? {};
    const claims = { htm: 'POST', htu: `${idp.issuer}/token` };
    const dpop = await signed(alg, claims, { typ: 'dpop+jwt', jwk: key, kid: undefined });
    const page = await postAs(idp, app, '/token', { grant_type: 'client_credentials' }, { dpop });
    expect(page.json()).toMatchObject({ token_type: 'DPoP' });
  },

  async response_modes_supported(mode) {
    const { clientId } = await anApplication(idp);
    const url = authorizeUrl(idp, clientId, { prompt: 'none', response_mode: mode });
    const page = await httpClient(idp.issuer).get(url);
    const name = mode.endsWith('jwt') ? 'response' : 'error';
    if (mode.startsWith('form_post')) {
      expect(page.forms[0]?.action).toBe(redirectUri);
      expect(page.forms[0]?.fields).toHaveProperty(name);
      return;
    }
    const { searchParams, hash } = new URL(page.location ?? '');
    const parameters = mode.startsWith('fragment') ? new URLSearchParams(hash.slice(1)) : searchParams;
    expect(parameters.get(name)).toBeTruthy();
  },
};

async function assertion(clientId: string, alg: string): Promise<Record<string, string>> {
  return {
    client_id: clientId,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await signed(alg, { iss: clientId, sub: clientId, aud: idp.issuer }),
  };
}

/** Entries that tests elsewhere use, below test/. */
const usedElsewhere: Record<string, string[]> = {
  claims_locales_supported: ['oidc/claims/languages.test.ts'],
  ui_locales_supported: ['http/pages/language.test.ts'],
  acr_values_supported: [
    'oidc/engine/authentication-context.test.ts',
    'flows/passkeys.browser.test.ts',
    'federation/sign-in.test.ts',
  ],
  prompt_values_supported: ['oidc/engine/prompt.test.ts'],
  grant_types_supported: [
    'oidc/tokens/authorization-code.test.ts',
    'oidc/tokens/refresh-token.test.ts',
    'oidc/tokens/client-credentials.test.ts',
    'oidc/tokens/device-flow.test.ts',
    'oidc/tokens/token-exchange.test.ts',
    'federation/identity-assertions.test.ts',
  ],
  identity_chaining_requested_token_types_supported: ['federation/identity-assertions.test.ts'],
  authorization_grant_profiles_supported: ['federation/identity-assertions.test.ts'],
  scopes_supported: [
    'oidc/claims/standard-claims.test.ts',
    'oidc/claims/role-claims.test.ts',
    'oidc/tokens/refresh-token.test.ts',
  ],
  claims_supported: ['oidc/claims/standard-claims.test.ts', 'oidc/claims/role-claims.test.ts'],
  claim_types_supported: ['oidc/claims/standard-claims.test.ts'],
  claims_parameter_supported: ['oidc/claims/userinfo.test.ts'],
  subject_types_supported: ['oidc/claims/pairwise.test.ts'],
  device_authorization_endpoint: ['oidc/tokens/device-flow.test.ts'],
  pushed_authorization_request_endpoint: ['oidc/engine/pushed-requests.test.ts'],
  request_parameter_supported: ['oidc/engine/pushed-requests.test.ts'],
  introspection_endpoint: ['oidc/tokens/introspection.test.ts'],
  revocation_endpoint: ['oidc/tokens/introspection.test.ts'],
  end_session_endpoint: ['oidc/pages/logout.test.ts'],
  backchannel_logout_supported: ['oidc/tokens/back-channel-logout.test.ts'],
  backchannel_logout_session_supported: ['oidc/tokens/back-channel-logout.test.ts'],
  frontchannel_logout_supported: ['logout/five-applications.test.ts'],
  frontchannel_logout_session_supported: ['logout/five-applications.test.ts'],
};

/** The values of those entries; a new one needs its test above. */
const valuesElsewhere: Record<string, string[]> = {
  acr_values_supported: ['urn:gatehouse:acr:password', 'urn:gatehouse:acr:mfa', 'phr', 'urn:gatehouse:acr:federated'],
  prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
  subject_types_supported: ['public', 'pairwise'],
};

/** What a sign-in by openid-client uses, with discovery, PKCE and the checks of the response. */
const ofEachSignIn = [
  ...['issuer', 'authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'],
  ...['response_types_supported', 'code_challenge_methods_supported', 'authorization_response_iss_parameter_supported'],
];

describe('an entry of discovery', () => {
  it('has a use in a test, each of them', () => {
    const known = [...Object.keys(uses), ...Object.keys(usedElsewhere), ...ofEachSignIn];
    const others = ['registration_endpoint', 'request_uri_parameter_supported'];
    expect(Object.keys(document).sort()).toEqual([...known, ...others].sort());
    const files = Object.values(usedElsewhere).flat();
    expect(files.filter((file) => !existsSync(`test/${file}`))).toEqual([]);
    for (const [name, values] of Object.entries(valuesElsewhere)) expect(entry(name), name).toEqual(values);
  });

  it.each(Object.entries(uses))('holds only what works: %s', async (name, use) => {
    expect(entry(name).length).toBeGreaterThan(0);
    for (const value of entry(name)) await use(value);
  });

  it('lists the response types and challenge methods of a sign-in, whose response names the issuer', async () => {
    const app = await anApplication(idp);
    const { tokens, callback } = await signIn(httpClient(idp.issuer), app, user);
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    expect((await httpClient(idp.issuer).get('/userinfo', { headers })).json()).toMatchObject({ sub: user.account.id });
    expect(callback.searchParams.get('iss')).toBe(document.issuer);
    expect([entry('response_types_supported'), entry('code_challenge_methods_supported')]).toEqual([
      ['code'],
      ['S256'],
    ]);
  });

  it('names a registration endpoint that registers, and no support for a request_uri of a client', async () => {
    const { token } = await createRegistrationTokens(idp.services).issue();
    const page = await httpClient(idp.issuer).post(String(document.registration_endpoint), {
      json: { redirect_uris: [redirectUri] },
      headers: { authorization: `Bearer ${token}`, accept: '*/*' },
    });
    expect(page.status).toBe(201);
    expect(document.request_uri_parameter_supported).toBe(false);
    const parameters = { request_uri: 'https://client.example/request.jwt' };
    const answer = await httpClient(idp.issuer).get(authorizeUrl(idp, String(page.json().client_id), parameters));
    expect(new URL(answer.location ?? '').searchParams.get('error')).toBe('request_uri_not_supported');
  });
});
