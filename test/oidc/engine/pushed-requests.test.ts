// Pushed (RFC 9126) and signed (RFC 9101) requests: used once, by their own client, with only their own parameters.
import * as jose from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
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
} from '../support.ts';

let idp: TestIdp;
let user: TestUser;
let app: Application;
let signing: Application;
let key: jose.CryptoKey;
let browser: HttpClient;

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services);
  app = await anApplication(idp);
  const pair = await jose.generateKeyPair('ES256', { extractable: true });
  key = pair.privateKey;
  const jwk = { ...(await jose.exportJWK(pair.publicKey)), kty: 'EC' as const, alg: 'ES256' };
  signing = await anApplication(idp, { jwks: { keys: [jwk] }, request_object_signing_alg: 'ES256' });
  browser = httpClient(idp.issuer);
  await signIn(browser, app, user);
});

const parametersOf = (client: Application, more: Record<string, string | null> = {}) =>
  Object.fromEntries(new URL(authorizeUrl(idp, client.clientId, more)).searchParams);
const push = (client: Application, form: Record<string, string>) => postAs(idp, client, '/par', form);
const open = (query: Record<string, string>) => `${idp.issuer}/authorize?${new URLSearchParams(query)}`;
const signed = (claims: jose.JWTPayload, header: Partial<jose.JWTHeaderParameters> = {}) =>
  new jose.SignJWT({ iss: signing.clientId, aud: idp.issuer, exp: Math.floor(Date.now() / 1000) + 60, ...claims })
    .setProtectedHeader({ alg: 'ES256', ...header })
    .sign(key);

describe('a pushed request', () => {
  it('is used once, and expires after a minute', async () => {
    const pushed = await push(app, parametersOf(app));
    expect([pushed.status, pushed.json().expires_in]).toEqual([201, 60]);
    expect(pushed.headers['cache-control']).toContain('no-store');
    const query = { client_id: app.clientId, request_uri: String(pushed.json().request_uri) };
    expect((await outcome(browser, open(query))).get('code')).toBeTruthy();
    const again = await browser.get(open(query));
    expect([again.status, again.location]).toEqual([400, undefined]);
  });

  it('gives one code when it is opened ten times at the same moment', async () => {
    const pushed = await push(app, parametersOf(app));
    const query = { client_id: app.clientId, request_uri: String(pushed.json().request_uri) };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        httpClient(idp.issuer, { headers: { cookie: cookies(browser) } }).get(open(query)),
      ),
    );
    expect(answers.filter(({ location }) => location?.includes('code='))).toHaveLength(1);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  });

  const cookies = (who: HttpClient) => who.cookies.headerFor(new URL(idp.issuer));

  it('survives the sign-in pages', async () => {
    const pushed = await push(app, parametersOf(app, { state: 'pushed-state' }));
    const query = { client_id: app.clientId, request_uri: String(pushed.json().request_uri) };
    const page = await completeSignIn(httpClient(idp.issuer), open(query), { user });
    expect(page.location).toContain('state=pushed-state');
  });

  it('belongs to one client, and only its pushed parameters are used', async () => {
    const pushed = await push(app, parametersOf(app));
    const uri = String(pushed.json().request_uri);
    const foreign = await browser.get(open({ client_id: signing.clientId, request_uri: uri }));
    expect([foreign.status, foreign.location]).toEqual([400, undefined]);
    const mixed = await outcome(
      browser,
      open({ client_id: app.clientId, request_uri: uri, state: 'other', redirect_uri: 'https://attacker.example' }),
    );
    expect(mixed.get('state')).toBe('the-state');
  });

  it('is checked when it is pushed', async () => {
    const invalidParameters: [Record<string, string | null>, string][] = [
      [{ redirect_uri: 'https://attacker.example/' }, 'invalid_request'],
      [{ code_challenge: null, code_challenge_method: null }, 'invalid_request'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ scope: 'a"b' }, 'invalid_scope'],
      [{ request_uri: 'urn:ietf:params:oauth:request_uri:x' }, 'request_uri_not_supported'],
    ];
    for (const [more, error] of invalidParameters) {
      const answer = await push(app, parametersOf(app, more));
      expect({ status: answer.status, error: answer.json().error }, JSON.stringify(more)).toEqual({
        status: 400,
        error,
      });
    }
    expect((await push({ ...app, clientSecret: 'wrong' }, parametersOf(app))).status).toBe(401);
  });

  it('is rejected when it was never pushed', async () => {
    for (const uri of [
      'urn:ietf:params:oauth:request_uri:x',
      'urn:ietf:params:oauth:request_uri:',
      'urn:ietf:params:oauth:request_uri:\0',
      'https://a.example',
      'x',
    ]) {
      const page = await browser.get(open({ client_id: app.clientId, request_uri: uri }));
      expect({ status: page.status, location: page.location }, uri).toEqual({ status: 400, location: undefined });
    }
  });

  it('may be the only kind that a client accepts', async () => {
    const strict = await anApplication(idp, { require_pushed_authorization_requests: true });
    expect((await outcome(browser, authorizeUrl(idp, strict.clientId))).get('error')).toBe('invalid_request');
  });
});

describe('a signed request', () => {
  const claims = (more = {}) => ({ ...parametersOf(signing), ...more });

  it('is used instead of the parameters beside it', async () => {
    const request = await signed(claims({ state: 'signed-state' }));
    const answer = await outcome(browser, open({ ...parametersOf(signing), request, state: 'other' }));
    expect(answer.get('code')).toBeTruthy();
    expect(answer.get('state')).toBe('signed-state');
  });

  it.each<[string, () => Promise<string> | string]>([
    ['without a signature', () => new jose.UnsecuredJWT(claims()).encode()],
    ['that has expired', () => signed({ ...claims(), exp: 1_600_000_000 })],
    ['for another server', () => signed({ ...claims(), aud: 'https://other.example' })],
    ['of another client', () => signed({ ...claims(), iss: 'other' })],
    [
      'of another key',
      async () =>
        new jose.SignJWT(claims())
          .setProtectedHeader({ alg: 'ES256' })
          .sign((await jose.generateKeyPair('ES256')).privateKey),
    ],
    [
      'of another algorithm',
      () =>
        new jose.SignJWT(claims())
          .setProtectedHeader({ alg: 'HS256' })
          .sign(new TextEncoder().encode(signing.clientSecret)),
    ],
    ['in another one', async () => signed({ ...claims(), request: await signed(claims()) })],
    ['that is no JWT', () => 'abc'],
    ['that is cut off', async () => (await signed(claims())).slice(0, -10)],
  ])('is rejected: %s', async (_what, make) => {
    const page = await browser.get(
      open({ client_id: signing.clientId, redirect_uri: redirectUri, response_type: 'code', request: await make() }),
    );
    const error = page.location ? new URL(page.location).searchParams.get('error') : 'page';
    expect(['invalid_request_object', 'page']).toContain(error);
    expect(page.status).toBeLessThan(500);
    expect(page.location ?? '').not.toContain('code=');
  });

  it('never sends a response to a redirect URI that only it names', async () => {
    const request = await signed(claims({ redirect_uri: 'https://attacker.example/' }));
    const page = await browser.get(open({ client_id: signing.clientId, response_type: 'code', request }));
    expect([page.status, page.location]).toEqual([400, undefined]);
  });

  it('may be the only kind that a client accepts', async () => {
    const strict = await anApplication(idp, {
      require_signed_request_object: true,
      request_object_signing_alg: 'HS256',
    });
    expect((await outcome(browser, authorizeUrl(idp, strict.clientId))).get('error')).toBe('invalid_request');
    const request = await new jose.SignJWT({ ...parametersOf(strict), iss: strict.clientId, aud: idp.issuer })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('1m')
      .sign(new TextEncoder().encode(strict.clientSecret));
    const query = { client_id: strict.clientId, response_type: 'code', redirect_uri: redirectUri, request };
    expect((await outcome(browser, open(query))).get('code')).toBeTruthy();
  });
});
