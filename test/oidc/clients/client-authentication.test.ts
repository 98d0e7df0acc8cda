// Client authentication at the token endpoint (RFC 6749 2.3, RFC 7523, OIDC Core 9): what succeeds and what fails.
import * as jose from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Listening, listen } from '../../support/listen.ts';
import { type Application, anApplication, basic, type ClientInput, postAs } from '../support.ts';

let idp: TestIdp;
let keys: Listening;
let pair: jose.GenerateKeyPairResult;
let jwks: { keys: jose.JWK[] };

beforeAll(async () => {
  idp = await startIdp();
  pair = await jose.generateKeyPair('ES256', { extractable: true });
  jwks = { keys: [{ ...(await jose.exportJWK(pair.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] };
  keys = await listen((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(jwks));
  });
});
afterAll(async () => {
  await idp?.stop();
  await keys?.close();
});

const machine = (input: ClientInput, auth?: oidc.ClientAuth) =>
  anApplication(idp, { redirect_uris: [], grant_types: ['client_credentials'], ...input }, auth);
const tokens = (app: Application) => oidc.clientCredentialsGrant(app.rp.config);
const ask = (form: Record<string, string>, headers: Record<string, string> = {}) =>
  httpClient(idp.issuer).post('/token', { form: { grant_type: 'client_credentials', ...form }, headers });
const errorOf = (page: Page) => [page.status, page.json().error];

describe('the token endpoint', () => {
  it('authenticates a client by client_secret_basic, whatever characters its secret has', async () => {
    const plain = await machine({});
    expect((await tokens(plain)).access_token).toBeTruthy();
    const odd = await machine({ client_id: 'a!b:c/~?', client_secret: 'p:/+ %&='.repeat(5) });
    expect((await tokens(odd)).access_token).toBeTruthy();
    expect((await postAs(idp, odd, '/token', { grant_type: 'client_credentials' })).status).toBe(200);
  });

  it('authenticates a client by client_secret_post, and accepts a secret in the header or in the body', async () => {
    const secret = 'a secret of more than thirty-two characters';
    const app = await machine(
      { token_endpoint_auth_method: 'client_secret_post', client_secret: secret },
      oidc.ClientSecretPost(secret),
    );
    expect((await tokens(app)).access_token).toBeTruthy();
    expect((await ask({}, { authorization: basic(app.clientId, secret) })).status).toBe(200);
  });

  it('authenticates a client by client_secret_jwt', async () => {
    const secret = 'a secret of more than thirty-two characters';
    const app = await machine(
      { token_endpoint_auth_method: 'client_secret_jwt', client_secret: secret },
      oidc.ClientSecretJwt(secret),
    );
    expect((await tokens(app)).access_token).toBeTruthy();
    expect(errorOf(await postAs(idp, app, '/token', { grant_type: 'client_credentials' }))).toEqual([
      401,
      'invalid_client',
    ]);
  });

  it('authenticates a client by private_key_jwt, with its keys by value or by jwks_uri', async () => {
    const auth = oidc.PrivateKeyJwt({ key: pair.privateKey, kid: 'one' });
    const inline = await machine({ token_endpoint_auth_method: 'private_key_jwt', jwks: jwks as never }, auth);
    expect((await tokens(inline)).access_token).toBeTruthy();
    const remote = await machine(
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${keys.origin}/jwks` },
      auth,
    );
    expect((await tokens(remote)).access_token).toBeTruthy();
  });

  it('rejects a client whose keys cannot be fetched, or are those of another client', async () => {
    const auth = oidc.PrivateKeyJwt({ key: (await jose.generateKeyPair('ES256')).privateKey, kid: 'one' });
    const wrong = await machine(
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${keys.origin}/jwks` },
      auth,
    );
    await expect(tokens(wrong)).rejects.toMatchObject({ error: 'invalid_client' });
    const gone = await machine(
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'http://127.0.0.1:9/jwks' },
      auth,
    );
    await expect(tokens(gone)).rejects.toMatchObject({ status: 401 });
  });

  it('answers a wrong secret, a missing one and an unknown client with the same error', async () => {
    const app = await machine({});
    const answers = await Promise.all([
      ask({}, { authorization: basic(app.clientId, 'wrong') }),
      ask({}, { authorization: basic('nobody', 'wrong') }),
    ]);
    for (const answer of answers) {
      expect(errorOf(answer)).toEqual([401, 'invalid_client']);
      expect(answer.headers['www-authenticate']).toContain('Basic realm=');
      expect(answer.headers['cache-control']).toContain('no-store');
    }
    // But for the code under which an administrator finds the reason.
    const [first, second] = answers.map(({ text }) => text.replace(/error reference [\w-]{9}/, ''));
    expect(first).toBe(second);
    expect(errorOf(await ask({ client_id: app.clientId }))).toEqual([401, 'invalid_client']);
    expect(errorOf(await ask({ client_id: app.clientId, client_secret: 'wrong' }))).toEqual([401, 'invalid_client']);
  });

  it('rejects two methods at once, an incomplete one, and credentials that cannot be parsed', async () => {
    const app = await machine({});
    const authorization = basic(app.clientId, app.clientSecret);
    expect(errorOf(await ask({ client_secret: app.clientSecret }, { authorization }))).toEqual([
      400,
      'invalid_request',
    ]);
    expect(errorOf(await ask({ client_id: 'another' }, { authorization }))).toEqual([400, 'invalid_request']);
    for (const header of [
      'Basic',
      'Basic !!!',
      'Basic YQ==',
      `Bearer ${app.clientSecret}`,
      'Basic JTo=',
      'Basic OjE6',
      `Basic ${btoa('\0:\0')}`,
    ]) {
      const answer = await ask({}, { authorization: header });
      expect(answer.status, header).toBeGreaterThanOrEqual(400);
      expect(answer.status, header).toBeLessThan(500);
    }
    expect(errorOf(await ask({}))).toEqual([400, 'invalid_request']);
  });

  it('accepts a public client by its client_id, and never for client_credentials', async () => {
    const app = await anApplication(idp, { token_endpoint_auth_method: 'none' });
    const answer = await ask({ client_id: app.clientId });
    expect(errorOf(answer)).toEqual([400, 'invalid_request']);
    const code = await ask({
      client_id: app.clientId,
      grant_type: 'authorization_code',
      code: 'x',
      redirect_uri: app.redirectUri,
    });
    expect(errorOf(code)).toEqual([400, 'invalid_grant']);
    expect(errorOf(await ask({ client_id: app.clientId, client_secret: 'x' }))).toEqual([401, 'invalid_client']);
  });
});
