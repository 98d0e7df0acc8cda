// Tokens that only the holder of a key can use (RFC 9449).
import * as jose from 'jose';
import * as oidc from 'openid-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/base/platform/random.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { type Application, anApplication, completeSignIn, postAs } from '../support.ts';

let idp: TestIdp;
let user: TestUser;
let app: Application;
let keys: jose.GenerateKeyPairResult;

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services);
  app = await anApplication(idp, { dpop_bound_access_tokens: true, token_endpoint_auth_method: 'none' });
  keys = await jose.generateKeyPair('ES256', { extractable: true });
});

async function connect() {
  const handle = oidc.getDPoPHandle(app.rp.config, keys);
  const started = await app.rp.start({ scope: 'openid offline_access', dpop_jkt: await handle.calculateThumbprint() });
  const page = await completeSignIn(httpClient(idp.issuer), started.url, { user });
  const tokens = await oidc.authorizationCodeGrant(
    app.rp.config,
    new URL(page.location ?? ''),
    started.checks,
    undefined,
    {
      DPoP: handle,
    },
  );
  return { handle, tokens, sub: tokens.claims()?.sub ?? '' };
}

/** A proof by hand. */
async function proof(
  claims: Record<string, unknown> = {},
  pair = keys,
  header: Record<string, unknown> = {},
): Promise<string> {
  const jwk = await jose.exportJWK(pair.publicKey);
  const sound = {
    jti: crypto.randomUUID(),
    htm: 'GET',
    htu: `${idp.issuer}/userinfo`,
    iat: Math.floor(Date.now() / 1000),
  };
  return new jose.SignJWT({ ...sound, ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header } as never)
    .sign(pair.privateKey);
}

const userinfo = async (token: string, DPoP?: string, scheme = 'DPoP') =>
  httpClient(idp.issuer).get('/userinfo', {
    headers: { accept: '*/*', authorization: `${scheme} ${token}`, ...(DPoP && { dpop: DPoP }) },
  });

describe('a DPoP-bound token', () => {
  it('is obtained, used and refreshed with proofs of its key', async () => {
    const { handle, tokens, sub } = await connect();
    expect(tokens.token_type).toBe('dpop');
    const info = await oidc.fetchUserInfo(app.rp.config, tokens.access_token, sub, { DPoP: handle });
    expect(info.sub).toBe(user.account.id);
    const again = await oidc.refreshTokenGrant(app.rp.config, tokens.refresh_token ?? '', undefined, { DPoP: handle });
    expect(again.token_type).toBe('dpop');
    expect((await oidc.tokenIntrospection(app.rp.config, again.access_token)).cnf).toEqual({
      jkt: await handle.calculateThumbprint(),
    });
  });

  it('is rejected without a proof, as a bearer token, or with another key', async () => {
    const { tokens } = await connect();
    const ath = sha256(tokens.access_token);
    const thief = await jose.generateKeyPair('ES256', { extractable: true });
    for (const answer of [
      await userinfo(tokens.access_token),
      await userinfo(tokens.access_token, undefined, 'Bearer'),
      await userinfo(tokens.access_token, await proof({ ath }, thief)),
      await userinfo(tokens.access_token, await proof({ ath }), 'Bearer'),
    ]) {
      expect([400, 401]).toContain(answer.status);
      expect(answer.headers['www-authenticate']).toBeTruthy();
    }
    expect((await userinfo(tokens.access_token, await proof({ ath }))).status).toBe(200);
  });

  it('accepts each proof once, even when it is sent five times at the same moment', async () => {
    const { tokens } = await connect();
    const same = await proof({ ath: sha256(tokens.access_token) });
    const answers = await Promise.all(Array.from({ length: 5 }, () => userinfo(tokens.access_token, same)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['for another method', { htm: 'POST' }, {}],
    ['for another address', { htu: 'https://other.example/userinfo' }, {}],
    ['for another token', { ath: sha256('other') }, {}],
    ['for no token', { ath: undefined }, {}],
    ['of long ago', { iat: 1_600_000_000 }, {}],
    ['of the future', { iat: 4_000_000_000 }, {}],
    ['without an id', { jti: undefined }, {}],
    ['with an id that is no text', { jti: 5 }, {}],
    ['of another type', {}, { typ: 'JWT' }],
    ['with a nonce that nobody gave', { nonce: 'guess' }, {}],
  ])('rejects a proof %s', async (_what, claims, header) => {
    const { tokens } = await connect();
    const answer = await userinfo(
      tokens.access_token,
      await proof({ ath: sha256(tokens.access_token), ...claims }, keys, header),
    );
    expect([400, 401]).toContain(answer.status);
    expect(answer.headers['www-authenticate']).toMatch(/DPoP/);
  });

  it.each(['', 'abc', 'a.b.c', '{}', 'a'.repeat(9000)])('rejects a malformed proof (%#)', async (text) => {
    const { tokens } = await connect();
    expect([400, 401]).toContain((await userinfo(tokens.access_token, text || ' ')).status);
  });

  it('is rejected at the token endpoint without a proof, or with one of another key', async () => {
    const { tokens } = await connect();
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '', client_id: app.clientId };
    expect((await postAs(idp, app, '/token', form)).status).toBe(400);
    const thief = await jose.generateKeyPair('ES256', { extractable: true });
    const dpop = await proof({ htm: 'POST', htu: `${idp.issuer}/token` }, thief);
    expect((await postAs(idp, app, '/token', form, { dpop })).json().error).toBe('invalid_grant');
    const right = await proof({ htm: 'POST', htu: `${idp.issuer}/token` });
    expect((await postAs(idp, app, '/token', form, { dpop: right })).status).toBe(200);
  });
});
