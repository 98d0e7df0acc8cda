// What a client with a security profile may not do, by requests made by hand: authentication, algorithms, times, replays, and
// requests that do not follow the profile.
import * as jose from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { anApplication, type ClientInput, postAs, signIn, verifier } from '../support.ts';
import {
  aFapiClient,
  assertion,
  callback,
  type FapiClient,
  nonceOf,
  proof,
  seconds,
  signInWithPar,
  sound,
  tokensOf,
  withAssertion,
} from './support.ts';

let idp: TestIdp;
let other: TestIdp;
let user: TestUser;
let plain: FapiClient;
let signing: FapiClient;

beforeAll(async () => {
  idp = await startIdp({ hasTamperedRows: true });
  other = await startIdp({
    hasTamperedRows: true,
    environment: { DATABASE_URL: String(idp.environment.DATABASE_URL) },
  });
  for (const one of [idp, other]) {
    await one.services.settings.set('rate_limits', false);
    await one.services.settings.reload();
  }
  user = await aUser(idp.services);
  plain = await aFapiClient(idp, 'fapi2');
  signing = await aFapiClient(idp, 'fapi2-signing');
});
afterAll(() => Promise.all([idp?.stop(), other?.stop()]));

const errorOf = (page: Page) => [page.status, page.json().error];
const push = async (jwt: string, form?: Record<string, string>) =>
  withAssertion(idp, '/par', form ?? (await sound(plain)), jwt);

describe('the assertion of a client with a profile', () => {
  it.each<[string, () => Record<string, unknown>]>([
    ['for the issuer', () => ({})],
    ['issued ten seconds in the future', () => ({ iat: seconds() + 10, nbf: seconds() + 10 })],
  ])('is accepted %s', async (_what, claims) => {
    expect((await push(await assertion(idp, plain, claims()))).status).toBe(201);
  });

  it.each<[string, () => Record<string, unknown>]>([
    ['for a list with the issuer', () => ({ aud: [idp.issuer] })],
    ['for the token endpoint', () => ({ aud: `${idp.issuer}/token` })],
    ['for the endpoint of pushed requests', () => ({ aud: `${idp.issuer}/par` })],
    ['issued a minute in the future', () => ({ iat: seconds() + 60, exp: seconds() + 120 })],
    ['valid from a minute in the future', () => ({ nbf: seconds() + 60, exp: seconds() + 120 })],
    ['that was issued at no time', () => ({ iat: 'today' })],
    ['that has expired', () => ({ exp: seconds() - 120 })],
    ['without an id', () => ({ jti: undefined })],
  ])('is rejected %s', async (_what, claims) => {
    expect(errorOf(await push(await assertion(idp, plain, claims())))).toEqual([401, 'invalid_client']);
  });

  it('is rejected with RS256, HS256 and none', async () => {
    const rsa = await jose.generateKeyPair('RS256', { extractable: true });
    const jwk = { ...(await jose.exportJWK(rsa.publicKey)), kid: 'one', kty: 'RSA' as const };
    const client = { ...(await aFapiClient(idp, 'fapi2', { jwks: { keys: [jwk] } })), keys: rsa };
    const form = await sound(client);
    const asPs256 = {
      ...client,
      keys: { ...rsa, privateKey: await asAlg(rsa.privateKey, 'PS256') },
      alg: 'PS256' as const,
    };
    expect((await push(await assertion(idp, asPs256), form)).status).toBe(201);
    const rs256 = await assertion(idp, { ...client, alg: 'RS256' as never });
    const [, payload = ''] = rs256.split('.');
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    const hs256 = await new jose.SignJWT(jose.decodeJwt(rs256))
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(JSON.stringify(jwk)));
    for (const jwt of [rs256, none, hs256]) {
      expect(errorOf(await push(jwt, form))).toEqual([401, 'invalid_client']);
    }
  });

  it('is accepted once by two instances together, however often it is sent at the same moment', async () => {
    const second = await assertion(idp, plain, { aud: other.issuer });
    const here = await assertion(idp, plain);
    const form = await sound(plain);
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => withAssertion(idp, '/par', form, here)),
      ...Array.from({ length: 4 }, () => withAssertion(other, '/par', form, second)),
    ]);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    const id = crypto.randomUUID();
    expect((await push(await assertion(idp, plain, { jti: id }))).status).toBe(201);
    const replayed = await assertion(idp, plain, { jti: id, aud: other.issuer });
    expect((await withAssertion(other, '/par', form, replayed)).status).toBeGreaterThanOrEqual(400);
  });

  it('may have another audience for a client without a profile', async () => {
    const { clientId, keys } = plain;
    const jwk = { ...(await jose.exportJWK(keys.publicKey)), kid: 'one', kty: 'EC' as const };
    const ordinary = await anApplication(
      idp,
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [jwk] } },
      oidc.PrivateKeyJwt(keys.privateKey),
    );
    expect(ordinary.clientId).not.toBe(clientId);
    const claims = { aud: [`${idp.issuer}/token`], iat: seconds() + 50 };
    const jwt = await assertion(idp, { ...plain, clientId: ordinary.clientId }, claims);
    const form = { ...(await sound(plain)), client_id: ordinary.clientId, redirect_uri: ordinary.redirectUri };
    expect((await push(jwt, form)).status).toBe(201);
  });
});

describe('the request of a client with a profile', () => {
  it('is rejected unless it was pushed', async () => {
    const page = await httpClient(idp.issuer).get(`/authorize?${new URLSearchParams(await sound(plain))}`);
    const back = new URL(page.location ?? '');
    expect(back.searchParams.get('error')).toBe('invalid_request');
    expect(back.searchParams.get('code')).toBeNull();
  });

  it.each<[string, Record<string, string | undefined>]>([
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }],
    ['with PKCE by plain', { code_challenge_method: 'plain', code_challenge: verifier }],
    ['without a redirect URI', { redirect_uri: undefined }],
    ['for a token', { response_type: 'code token' }],
    ['for an ID token', { response_type: 'code id_token' }],
  ])('is rejected when it is pushed %s', async (_what, change) => {
    const form = Object.entries({ ...(await sound(plain)), ...change }).filter(([, value]) => value !== undefined);
    const page = await push(await assertion(idp, plain), Object.fromEntries(form) as Record<string, string>);
    expect(page.status).toBe(400);
  });

  it('is rejected when it is pushed without the key of the client, and a pushed one for another client', async () => {
    expect((await httpClient(idp.issuer).post('/par', { form: await sound(plain) })).status).toBeGreaterThanOrEqual(
      400,
    );
    const pushed = await push(await assertion(idp, plain));
    expect(Number(pushed.json().expires_in)).toBeLessThan(600);
    const query = { client_id: signing.clientId, request_uri: String(pushed.json().request_uri) };
    const page = await httpClient(idp.issuer).get(`/authorize?${new URLSearchParams(query)}`);
    expect(page.status).toBe(400);
  });
});

describe('the request object of a client that signs', () => {
  const object =
    (claims: Record<string, unknown> | (() => Record<string, unknown>), header: Record<string, unknown> = {}) =>
    async () => {
      const now = seconds();
      const times = { nbf: now, iat: now, exp: now + 300 };
      const all = { ...(await sound(signing)), response_mode: 'jwt', iss: signing.clientId, aud: idp.issuer, ...times };
      return new jose.SignJWT({ ...all, ...(typeof claims === 'function' ? claims() : claims) })
        .setProtectedHeader({ alg: 'ES256', kid: 'one', ...header })
        .sign(signing.keys.privateKey);
    };
  const pushObject = async (request: string) =>
    push(await assertion(idp, signing), { client_id: signing.clientId, request });

  it.each<[string, () => Promise<string>]>([
    ['that is sound', object({})],
    ['from ten seconds in the future', object(() => ({ nbf: seconds() + 10, iat: seconds() + 10 }))],
    ['of 50 minutes ago, for the next five', object(() => ({ nbf: seconds() - 3000, exp: seconds() + 300 }))],
    ['for a list with the issuer', async () => object({ aud: [idp.issuer] })()],
  ])('is accepted %s', async (_what, make) => {
    expect((await pushObject(await make())).status).toBe(201);
  });

  it.each<[string, () => Promise<string>]>([
    ['without nbf', object({ nbf: undefined })],
    ['without exp', object({ exp: undefined })],
    ['that is older than an hour', object(() => ({ nbf: seconds() - 3700, exp: seconds() - 110 }))],
    ['that is valid for more than an hour', object(() => ({ exp: seconds() + 3900 }))],
    ['from 90 seconds in the future', object(() => ({ nbf: seconds() + 90, exp: seconds() + 300 }))],
    ['for another server', object({ aud: 'https://other.example' })],
    ['without an audience', object({ aud: undefined })],
    ['for the token endpoint', async () => object({ aud: `${idp.issuer}/token` })()],
    ['of another client', object({ iss: 'other' })],
    ['that wants its response unsigned', object({ response_mode: 'query' })],
    ['that names no response mode', object({ response_mode: undefined })],
  ])('is rejected %s', async (_what, make) => {
    const page = await pushObject(await make());
    expect(page.status).toBe(400);
    expect(page.json().error).toMatch(/^invalid_request/);
  });

  it('is rejected with an algorithm that the profile forbids, and cannot be left out', async () => {
    const rsa = await jose.generateKeyPair('RS256', { extractable: true });
    const jwk = { ...(await jose.exportJWK(rsa.publicKey)), kid: 'one', kty: 'RSA' as const };
    const client = await aFapiClient(idp, 'fapi2-signing', { jwks: { keys: [jwk] } });
    const privateKey = await asAlg(rsa.privateKey, 'PS256');
    const pushAs = async (request?: string) => {
      const jwt = await assertion(idp, { ...client, keys: { ...rsa, privateKey }, alg: 'PS256' });
      const form = request === undefined ? await sound(client) : { client_id: client.clientId, request };
      return push(jwt, form);
    };
    const now = seconds();
    const claims = { ...(await sound(client)), response_mode: 'jwt', iss: client.clientId, aud: idp.issuer, nbf: now };
    const signed = (alg: string, key: jose.CryptoKey) =>
      new jose.SignJWT({ ...claims, exp: now + 300 }).setProtectedHeader({ alg, kid: 'one' }).sign(key);
    expect((await pushAs(await signed('PS256', privateKey))).status).toBe(201);
    expect(errorOf(await pushAs(await signed('RS256', rsa.privateKey)))).toEqual([400, 'invalid_request_object']);
    const unsigned = new jose.UnsecuredJWT({ ...claims, exp: now + 300 }).encode();
    expect(errorOf(await pushAs(unsigned))).toEqual([400, 'invalid_request_object']);
    expect(errorOf(await pushAs())).toEqual([400, 'invalid_request']);
  });
});

describe('the DPoP proof of a client with a profile', () => {
  const token = async (dpop: string | undefined, form: Record<string, string> = { grant_type: 'client_credentials' }) =>
    withAssertion(idp, '/token', form, await assertion(idp, plain), dpop === undefined ? {} : { dpop });
  const url = () => `${idp.issuer}/token`;

  it('needs a nonce of the server, which a client without a profile does not', async () => {
    const page = await token(await proof({ url: url() }));
    expect(errorOf(page)).toEqual([400, 'use_dpop_nonce']);
    // Each client begins so: no rejection.
    expect(page.text).not.toContain('error reference');
    const nonce = String(page.headers['dpop-nonce']);
    expect((await token(await proof({ url: url() }, { nonce }))).json().token_type).toBe('DPoP');
    expect(errorOf(await token(await proof({ url: url() }, { nonce: 'guess' })))).toEqual([400, 'use_dpop_nonce']);
    const ordinary = await anApplication(idp, { grant_types: ['client_credentials'], redirect_uris: [] });
    const dpop = await proof({ url: url() });
    expect((await postAs(idp, ordinary, '/token', { grant_type: 'client_credentials' }, { dpop })).status).toBe(200);
  });

  it('cannot be left out: no token is a bearer token', async () => {
    expect(errorOf(await token(undefined))).toEqual([400, 'invalid_grant']);
  });

  it('is accepted ten seconds ahead of time, and rejected a minute ahead, with RS256, or for another key than before', async () => {
    const nonce = await nonceOf(idp, plain);
    expect((await token(await proof({ url: url() }, { nonce, iat: seconds() + 10 }))).status).toBe(200);
    const late = await token(await proof({ url: url() }, { nonce, iat: seconds() + 62 }));
    expect(errorOf(late)).toEqual([400, 'invalid_dpop_proof']);
    const rsa = await jose.generateKeyPair('RS256', { extractable: true });
    const rs256 = await new jose.SignJWT({ jti: 'x', htm: 'POST', htu: url(), iat: seconds(), nonce })
      .setProtectedHeader({ alg: 'RS256', typ: 'dpop+jwt', jwk: await jose.exportJWK(rsa.publicKey) })
      .sign(rsa.privateKey);
    expect(errorOf(await token(rs256))).toEqual([400, 'invalid_dpop_proof']);
  });

  it('works once, also at another instance', async () => {
    const nonce = await nonceOf(idp, plain);
    const once = { nonce, jti: crypto.randomUUID() };
    const answers = await Promise.all([1, 2, 3, 4].map(async () => token(await proof({ url: url() }, once))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const form = { grant_type: 'client_credentials' };
    const dpop = await proof({ url: `${other.issuer}/token` }, once);
    const page = await withAssertion(other, '/token', form, await assertion(other, plain), { dpop });
    expect(page.status).toBe(400);
  });

  it('needs a nonce at userinfo too', async () => {
    const keys = await jose.generateKeyPair('ES256', { extractable: true });
    const client = { ...plain, dpop: oidc.getDPoPHandle(plain.config, keys) };
    const { access_token } = await tokensOf(idp, client, user);
    const target = { method: 'GET', url: `${idp.issuer}/userinfo`, token: access_token };
    const userinfo = (dpop: string) =>
      httpClient(idp.issuer).get('/userinfo', { headers: { authorization: `DPoP ${access_token}`, dpop } });
    const first = await userinfo(await proof(target, {}, keys));
    expect([first.status, first.headers['www-authenticate']]).toEqual([401, expect.stringContaining('use_dpop_nonce')]);
    const nonce = String(first.headers['dpop-nonce']);
    expect((await userinfo(await proof(target, { nonce }, keys))).status).toBe(200);
    expect((await userinfo(await proof(target, { nonce, iat: seconds() + 62 }, keys))).status).toBe(401);
    expect((await userinfo(await proof(target, { nonce }))).status).toBe(401);
  });

  it('binds the code to the key of the pushed request, and new tokens to the key of each refresh', async () => {
    const thief = await jose.generateKeyPair('ES256', { extractable: true });
    const { back } = await signInWithPar(idp, plain, user, false);
    const code = back.searchParams.get('code') ?? '';
    const nonce = await nonceOf(idp, plain);
    const redeem = { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier };
    expect(errorOf(await token(await proof({ url: url() }, { nonce }, thief), redeem))).toEqual([400, 'invalid_grant']);

    const { refresh_token = '' } = await tokensOf(idp, plain, user);
    const refresh = { grant_type: 'refresh_token', refresh_token };
    // A refresh token of a confidential client is bound to its authentication (RFC 9449 5): without it, it is worthless.
    const dpop = await proof({ url: url() }, { nonce }, thief);
    const withoutKey = await httpClient(idp.issuer).post('/token', {
      form: { ...refresh, client_id: plain.clientId },
      headers: { dpop },
    });
    expect(errorOf(withoutKey)).toEqual([401, 'invalid_client']);
    const changed = await token(await proof({ url: url() }, { nonce }, thief), refresh);
    const jkt = await jose.calculateJwkThumbprint(await jose.exportJWK(thief.publicKey));
    const introspected = await withAssertion(
      idp,
      '/introspect',
      { token: String(changed.json().access_token) },
      await assertion(idp, plain),
    );
    expect(introspected.json().cnf).toEqual({ jkt });
  });

  it('cannot have another key at the refresh of a public client', async () => {
    const app = await anApplication(idp, { dpop_bound_access_tokens: true, token_endpoint_auth_method: 'none' });
    const keys = await jose.generateKeyPair('ES256', { extractable: true });
    const started = await app.rp.start({ scope: 'openid offline_access' });
    const browser = httpClient(idp.issuer);
    const home = await anApplication(idp);
    await signIn(browser, home, user);
    const page = await browser.follow(await browser.get(started.url), (target) => target.startsWith(app.redirectUri));
    const DPoP = oidc.getDPoPHandle(app.rp.config, keys);
    const back = new URL(page.location ?? '');
    const { refresh_token = '' } = await oidc.authorizationCodeGrant(app.rp.config, back, started.checks, undefined, {
      DPoP,
    });
    const form = { grant_type: 'refresh_token', refresh_token, client_id: app.clientId };
    const changed = await postAs(idp, app, '/token', form, { dpop: await proof({ url: url() }) });
    expect(errorOf(changed)).toEqual([400, 'invalid_grant']);
  });
});

describe('a client that gets a profile', () => {
  it('loses the tokens that it had without, and still manages its registration', async () => {
    const keys = await jose.generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await jose.exportJWK(keys.publicKey)), kid: 'one', kty: 'EC' as const };
    const input: ClientInput = {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [jwk] },
      redirect_uris: [callback],
      id_token_signed_response_alg: 'ES256',
    };
    const app = await anApplication(idp, input, oidc.PrivateKeyJwt({ key: keys.privateKey, kid: 'one' }));
    const browser = httpClient(idp.issuer);
    const { tokens } = await signIn(browser, app, user, { scope: 'openid offline_access' });
    const userinfo = () =>
      httpClient(idp.issuer).get('/userinfo', { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect((await userinfo()).status).toBe(200);
    const { db, applications } = idp.services;
    const registration = { model: 'RegistrationAccessToken', clientId: app.clientId };
    const row = await db.oidcArtifact.findFirstOrThrow({ where: { clientId: app.clientId, model: 'AccessToken' } });
    await db.oidcArtifact.create({ data: { ...row, id: `${row.id}x`, ...registration } });
    const { metadata } = await db.asStored.application.findUniqueOrThrow({ where: { id: app.applicationId } });
    const declared = { ...JSON.parse(metadata), consent: 'implicit' };
    await applications.update('oidc', app.applicationId, { ...declared, client_name: 'Bank' });
    expect((await userinfo()).status).toBe(200);
    await applications.update('oidc', app.applicationId, { ...declared, profile: 'fapi2' });
    expect((await userinfo()).status).toBe(401);
    const left = await db.oidcArtifact.findMany({ where: { clientId: app.clientId }, select: { model: true } });
    expect(left).toEqual([{ model: registration.model }]);
    const client = { ...plain, clientId: app.clientId, keys };
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
    const dpop = await proof({ url: `${idp.issuer}/token` }, { nonce: await nonceOf(idp, plain) });
    const refreshed = await withAssertion(idp, '/token', form, await assertion(idp, client), { dpop });
    expect(errorOf(refreshed)).toEqual([400, 'invalid_grant']);
  });
});

describe('the PS256 key', () => {
  it('is rotated alone, and each instance verifies what the old one signed', async () => {
    const published = async ({ issuer }: TestIdp) =>
      (await httpClient(issuer).get('/jwks')).json<{ keys: jose.JWK[] }>().keys.map(({ kid }) => kid);
    const before = await tokensOf(idp, plain, user);
    const oldKid = jose.decodeProtectedHeader(before.id_token ?? '').kid;
    const others = (await published(idp)).filter((kid) => kid !== oldKid);
    const rotated = await idp.services.keyring.rotate({ use: 'oidc', alg: 'PS256', force: true });
    expect(rotated).toMatchObject({ outcome: 'rotated', activated: [expect.any(String)] });
    await other.services.keyring.refresh();
    const after = await tokensOf(idp, plain, user);
    const { alg, kid } = jose.decodeProtectedHeader(after.id_token ?? '');
    expect([alg, rotated]).toEqual(['PS256', expect.objectContaining({ activated: [kid] })]);
    for (const one of [idp, other]) {
      expect(await published(one)).toEqual(expect.arrayContaining([oldKid, kid, ...others]));
      const keys = jose.createRemoteJWKSet(new URL(`${one.issuer}/jwks`));
      for (const { id_token: token = '' } of [before, after])
        expect((await jose.jwtVerify(token, keys, { audience: plain.clientId })).payload.sub).toBe(user.account.id);
    }
  });
});

describe('the code of a client with a profile', () => {
  it('ends after a minute, and works once', async () => {
    const { back, checks } = await signInWithPar(idp, plain, user, false);
    const grant = () => oidc.authorizationCodeGrant(plain.config, back, checks, undefined, { DPoP: plain.dpop });
    const code = await idp.services.db.oidcArtifact.findFirstOrThrow({
      where: { model: 'AuthorizationCode', clientId: plain.clientId, consumedAt: null },
      orderBy: { expiresAt: 'desc' },
    });
    const { iat, exp } = JSON.parse(code.payload) as { iat: number; exp: number };
    expect(exp - iat).toBe(60);
    await grant();
    await expect(grant()).rejects.toMatchObject({ error: 'invalid_grant' });

    const late = await signInWithPar(idp, plain, user, false);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 }); // the engine counts by the time of the process
    try {
      const tokens = oidc.authorizationCodeGrant(plain.config, late.back, late.checks, undefined, { DPoP: plain.dpop });
      await expect(tokens).rejects.toMatchObject({ error: 'invalid_grant' });
    } finally {
      vi.useRealTimers();
    }
  });
});

/** The same RSA key for another algorithm. */
async function asAlg(key: jose.CryptoKey, alg: string): Promise<jose.CryptoKey> {
  return (await jose.importJWK(await jose.exportJWK(key), alg, { extractable: true })) as jose.CryptoKey;
}
