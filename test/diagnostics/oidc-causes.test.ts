// Faulty requests of OpenID Connect and OAuth: each has its own check with its own words among the rejected requests.
import * as jose from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type Application, anApplication, authorizeUrl, completeSignIn, postAs, redirectUri } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { linksOf, textOf } from '../support/pages/html.ts';
import { sharedIdp } from '../support/shared-idp.ts';

let idp: TestIdp;
let admin: HttpClient;
let user: TestUser;
let app: Application;
let byKey: Application;
let signed: Application;
let device: Application;
let key: jose.CryptoKey;
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
beforeAll(async () => {
  idp = await sharedIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  user = await aUser(idp.services);
  app = await anApplication(idp, {});
  device = await anApplication(idp, { grant_types: ['authorization_code', DEVICE] });
  const pair = await jose.generateKeyPair('ES256', { extractable: true });
  key = pair.privateKey;
  const jwks = { keys: [{ ...(await jose.exportJWK(pair.publicKey)), kty: 'EC' as const, alg: 'ES256' }] } as never;
  byKey = await anApplication(idp, {
    redirect_uris: [],
    grant_types: ['client_credentials'],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks,
  });
  signed = await anApplication(idp, {
    jwks,
    request_object_signing_alg: 'ES256',
    token_endpoint_auth_method: 'private_key_jwt',
  });
});

const CODE = /rror reference:? ([2-9A-Z]{4}-[2-9A-Z]{4})\b/;
async function causeOf(page: Page): Promise<{ rule: string | undefined; words: string; button: string | undefined }> {
  const said = page.location
    ? (new URL(page.location.replace('#', '?')).searchParams.get('error_description') ?? '')
    : textOf(page.text);
  const code = CODE.exec(said)?.[1] ?? 'no code';
  const found = await idp.services.rejections.find(code);
  const details = await admin.get(`/admin/rejections/${code}`);
  const failed = /<li class="failed">([\s\S]*?)<\/li>/.exec(details.text)?.[1] ?? '';
  // A fix with a warning has a page of its own.
  const link = linksOf(details.text, details.url).find(({ href }) => href.includes('/fix/'));
  const rule = found?.rules.find(({ state }) => state === 'failed')?.rule;
  return {
    rule: rule ?? said.slice(0, 200),
    words: textOf(failed),
    button: details.forms.find(({ fields }) => 'fix' in fields)?.buttons[0]?.label ?? link?.label,
  };
}

const now = () => Math.floor(Date.now() / 1000);
const browser = () => httpClient(idp.issuer);
const authorize = (parameters: Record<string, string>, who = app) =>
  browser().get(authorizeUrl(idp, who.clientId, parameters));
const token = (form: Record<string, string>, who: Application = app) => postAs(idp, who, '/token', form);
const assertion = async (changes: Record<string, unknown>, by: jose.CryptoKey = key) => {
  const claims = {
    iss: byKey.clientId,
    sub: byKey.clientId,
    aud: idp.issuer,
    jti: crypto.randomUUID(),
    iat: now(),
    exp: now() + 60,
    ...changes,
  };
  const jwt = await new jose.SignJWT(JSON.parse(JSON.stringify(claims))).setProtectedHeader({ alg: 'ES256' }).sign(by);
  return browser().post('/token', {
    form: {
      grant_type: 'client_credentials',
      client_assertion: jwt,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    },
  });
};
const requestObject = async (changes: Record<string, unknown>, by: jose.CryptoKey = key) => {
  const claims = {
    iss: signed.clientId,
    aud: idp.issuer,
    client_id: signed.clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    exp: now() + 60,
    ...changes,
  };
  const request = await new jose.SignJWT(JSON.parse(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'ES256' })
    .sign(by);
  return authorize({ request }, signed);
};
async function codeFor(who = app) {
  const started = await who.rp.start();
  const page = await completeSignIn(browser(), started.url, { user });
  return {
    code: new URL(page.location ?? '').searchParams.get('code') ?? '',
    verifier: started.checks.pkceCodeVerifier,
  };
}
const proof = async (changes: Record<string, unknown>, header: object = {}) => {
  const pair = await jose.generateKeyPair('ES256', { extractable: true });
  const jwk = await jose.exportJWK(pair.publicKey);
  return new jose.SignJWT(
    JSON.parse(
      JSON.stringify({ htm: 'POST', htu: `${idp.issuer}/token`, iat: now(), jti: crypto.randomUUID(), ...changes }),
    ),
  )
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header })
    .sign(pair.privateKey);
};
const withProof = async (dpop: string) =>
  browser().post('/token', {
    form: {
      grant_type: 'authorization_code',
      code: 'x',
      redirect_uri: redirectUri,
      client_id: app.clientId,
      client_secret: app.clientSecret,
    },
    headers: { dpop },
  });
const otherKey = async () => (await jose.generateKeyPair('ES256')).privateKey;

/** Name, request, failed check, words of the page, and the button of the fix. */
const faults: [string, () => Promise<Page>, string, string[], string?][] = [
  [
    'unknown client',
    () => browser().get(authorizeUrl(idp, 'nobody')),
    'client',
    ['No application has this identifier'],
  ],
  [
    'redirect uri',
    () => authorize({ redirect_uri: 'https://other.example/cb' }),
    'redirect_uri',
    ['https://other.example/cb'],
    'Add redirect URI',
  ],
  ['no pkce', () => authorize({ code_challenge: '', code_challenge_method: '' }), 'pkce', ['S256, always']],
  ['plain pkce', () => authorize({ code_challenge_method: 'plain' }), 'pkce', ['plain']],
  ['response type', () => authorize({ response_type: 'token' }), 'response_type', ['token']],
  ['response mode', () => authorize({ response_mode: 'nonsense' }), 'response_mode', ['nonsense']],
  ['scope', () => authorize({ scope: 'nothing' }), 'scope', ['nothing']],
  [
    'resource',
    () => authorize({ resource: 'https://api.nowhere.example' }),
    'resource',
    ['https://api.nowhere.example'],
  ],
  ['prompt', () => authorize({ prompt: 'none login' }), 'request', ['prompt none']],
  ['max_age', () => authorize({ max_age: '-1' }), 'request', ['max_age']],
  ['claims', () => authorize({ claims: '{' }), 'request', ['claims parameter']],
  ['id_token_hint', () => authorize({ id_token_hint: 'nonsense' }), 'hint', ['from this server']],
  [
    'request object key',
    async () => requestObject({}, await otherKey()),
    'request_object',
    ['signature verification failed'],
  ],
  ['request object expired', () => requestObject({ exp: now() - 60 }), 'request_object', ['expired']],
  ['request object aud', () => requestObject({ aud: 'https://x.example' }), 'request_object', ['audience']],
  ['request object client', () => requestObject({ client_id: 'x' }), 'request_object', ['client_id']],
  [
    'request_uri',
    () => authorize({ request_uri: 'urn:ietf:params:oauth:request_uri:unknown' }),
    'request_uri',
    ['pushed request'],
  ],
  [
    'par secret',
    () => browser().post('/par', { form: { client_id: app.clientId, client_secret: 'wrong' } }),
    'method',
    ['client_secret_post', 'client_secret_basic'],
  ],
  [
    'token no auth',
    () => browser().post('/token', { form: { grant_type: 'authorization_code', code: 'x', client_id: app.clientId } }),
    'method',
    ['none', 'client_secret_basic'],
  ],
  [
    'token wrong secret',
    () =>
      browser().post('/token', {
        form: { grant_type: 'authorization_code', code: 'x', client_id: app.clientId, client_secret: 'wrong' },
      }),
    'method',
    ['client_secret_post', 'client_secret_basic'],
  ],
  [
    'basic secret',
    () =>
      browser().post('/token', {
        form: { grant_type: 'authorization_code', code: 'x' },
        headers: { authorization: `Basic ${btoa(`${app.clientId}:wrong`)}` },
      }),
    'secret',
    ['incorrect client secret'],
  ],
  ['assertion key', async () => assertion({}, await otherKey()), 'assertion', ['signature verification failed']],
  ['assertion expired', () => assertion({ exp: now() - 600 }), 'assertion', ['expired']],
  ['assertion aud', () => assertion({ aud: 'https://x.example' }), 'assertion', ['audience']],
  ['assertion iss', () => assertion({ iss: 'x' }), 'assertion', ['iss']],
  ['assertion no jti', () => assertion({ jti: undefined }), 'assertion', ['jti']],
  [
    'grant type',
    () => token({ grant_type: 'client_credentials' }),
    'grant',
    ['client_credentials'],
    'Allow the grant client_credentials',
  ],
  ['unknown grant type', () => token({ grant_type: 'magic' }), 'grant', ['magic']],
  ['no grant type', () => token({}), 'request', ['grant_type']],
  [
    'unknown code',
    () =>
      token({ grant_type: 'authorization_code', code: 'x', redirect_uri: redirectUri, code_verifier: 'x'.repeat(43) }),
    'code',
    ['not found'],
  ],
  ['no code', () => token({ grant_type: 'authorization_code', redirect_uri: redirectUri }), 'request', ['code']],
  [
    'wrong verifier',
    async () =>
      token({
        grant_type: 'authorization_code',
        code: (await codeFor()).code,
        redirect_uri: redirectUri,
        code_verifier: 'x'.repeat(43),
      }),
    'verifier',
    ['does not match'],
  ],
  [
    'no verifier',
    async () => token({ grant_type: 'authorization_code', code: (await codeFor()).code, redirect_uri: redirectUri }),
    'verifier',
    ['must be provided'],
  ],
  [
    'wrong redirect',
    async () => {
      const { code, verifier } = await codeFor();
      return token({
        grant_type: 'authorization_code',
        code,
        redirect_uri: 'https://x.example',
        code_verifier: verifier,
      });
    },
    'code_redirect_uri',
    ['redirect_uri'],
  ],
  [
    'other client',
    async () =>
      token(
        {
          grant_type: 'authorization_code',
          code: (await codeFor()).code,
          redirect_uri: redirectUri,
          code_verifier: 'x'.repeat(43),
        },
        await anApplication(idp, {}),
      ),
    'code_client',
    ['issued to this application'],
  ],
  ['refresh unknown', () => token({ grant_type: 'refresh_token', refresh_token: 'x' }), 'refresh_token', ['not found']],
  ['no refresh token', () => token({ grant_type: 'refresh_token' }), 'request', ['refresh_token']],
  ['device unknown', () => token({ grant_type: DEVICE, device_code: 'x' }, device), 'device_code', ['device code']],
  ['dpop htu', async () => withProof(await proof({ htu: 'https://x.example' })), 'dpop', ['htu']],
  ['dpop typ', async () => withProof(await proof({}, { typ: 'jwt' })), 'dpop', ['typ']],
  [
    'device auth',
    () => postAs(idp, app, '/device/code', {}),
    'grant',
    ['device_code'],
    'Allow the grant urn:ietf:params:oauth:grant-type:device_code',
  ],
  [
    'introspect',
    () => postAs(idp, { ...app, clientSecret: 'wrong' }, '/introspect', { token: 'x' }),
    'secret',
    ['incorrect client secret'],
  ],
  [
    'revoke',
    () => postAs(idp, { ...app, clientSecret: 'wrong' }, '/revoke', { token: 'x' }),
    'secret',
    ['incorrect client secret'],
  ],
  [
    'end session return',
    () => browser().get(`/end-session?client_id=${app.clientId}&post_logout_redirect_uri=https://x.example`),
    'post_logout_redirect_uri',
    ['https://x.example'],
    'Add post-logout redirect URI',
  ],
  ['end session hint', () => browser().get('/end-session?id_token_hint=x'), 'hint', ['from this server']],
];
describe('a rejected request of OpenID Connect', () => {
  it.each(faults)('names its cause: %s', async (_name, send, rule, words, button) => {
    const cause = await causeOf(await send());
    expect(cause.rule).toBe(rule);
    for (const word of words) expect(cause.words).toContain(word);
    expect(cause.button).toBe(button);
  });
});
