// Client assertions (RFC 7523) that must be rejected: expired, used twice, for another client, unsigned, with another algorithm.
import { createPublicKey } from 'node:crypto';
import * as jose from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Application, anApplication } from '../oidc/support.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

const secret = 'a secret of more than thirty-two characters';
let idp: TestIdp;
let byKey: Application;
let bySecret: Application;
let key: jose.CryptoKey;
let publicPem: string;

beforeAll(async () => {
  idp = await startIdp();
  const pair = await jose.generateKeyPair('RS256', { extractable: true });
  key = pair.privateKey;
  const jwk = await jose.exportJWK(pair.publicKey);
  publicPem = createPublicKey({ key: jwk as never, format: 'jwk' })
    .export({ type: 'spki', format: 'pem' })
    .toString();
  const common = { redirect_uris: [], grant_types: ['client_credentials'] as const };
  byKey = await anApplication(idp, {
    ...common,
    grant_types: ['client_credentials'],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...jwk, kty: 'RSA', alg: 'RS256' }] },
  });
  bySecret = await anApplication(idp, {
    ...common,
    grant_types: ['client_credentials'],
    token_endpoint_auth_method: 'client_secret_jwt',
    client_secret: secret,
  });
});
afterAll(() => idp?.stop());

const now = () => Math.floor(Date.now() / 1000);

/** A valid assertion with replaced claims; `null` removes a claim. */
function claims(app: Application, changes: Record<string, unknown> = {}): jose.JWTPayload {
  const sound = {
    iss: app.clientId,
    sub: app.clientId,
    aud: idp.issuer,
    jti: crypto.randomUUID(),
    iat: now(),
    exp: now() + 60,
  };
  const entries = Object.entries({ ...sound, ...changes }).filter(([, value]) => value !== null);
  return Object.fromEntries(entries);
}

const signed = (app: Application, changes: Record<string, unknown> = {}, alg = app === byKey ? 'RS256' : 'HS256') =>
  new jose.SignJWT(claims(app, changes))
    .setProtectedHeader({ alg })
    .sign(app === byKey ? key : new TextEncoder().encode(secret));

const send = (assertion: string, more: Record<string, string> = {}) =>
  httpClient(idp.issuer).post('/token', {
    form: {
      grant_type: 'client_credentials',
      client_assertion: assertion,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      ...more,
    },
  });

describe('a client assertion', () => {
  it('is accepted once', async () => {
    for (const app of [byKey, bySecret]) {
      const assertion = await signed(app);
      expect((await send(assertion)).status).toBe(200);
      expect((await send(assertion)).status).toBe(401);
    }
  });

  it('is accepted once, even when it is sent ten times at the same moment', async () => {
    const assertion = await signed(byKey);
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(assertion)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status } of answers) expect([200, 400, 401]).toContain(status);
  });

  it('may have the token endpoint as its audience, and an expiry with fractions or far in the future', async () => {
    for (const changes of [
      { aud: `${idp.issuer}/token` },
      { exp: now() + 60.5 },
      { exp: 1e15 },
      { exp: 1e300 },
      { aud: [idp.issuer, 'x'] },
    ]) {
      expect((await send(await signed(byKey, changes))).status, JSON.stringify(changes)).toBe(200);
    }
  });

  it.each<[string, Record<string, unknown>]>([
    ['that has expired', { exp: 1_600_000_000 }],
    ['without an expiry', { exp: null }],
    ['with an expiry that is no number', { exp: 'tomorrow' }],
    ['that is not valid yet', { nbf: 4_000_000_000 }],
    ['without an id', { jti: null }],
    ['with an id that is no text', { jti: 5 }],
    ['of another issuer', { iss: 'other-issuer' }],
    ['without an issuer', { iss: null }],
    ['for another server', { aud: 'https://other.example' }],
    ['without an audience', { aud: null }],
    ['for an audience that is no text', { aud: 5 }],
    ['of an unknown client', { sub: 'unknown', iss: 'unknown' }],
    ['of a subject that is no text', { sub: { a: 1 } }],
    ['without a subject', { sub: null }],
  ])('is rejected: %s', async (_what, changes) => {
    const answer = await send(await signed(byKey, changes));
    expect([400, 401]).toContain(answer.status);
    expect(answer.json().error).toMatch(/^invalid_(client|request)$/);
  });

  it('is rejected without a signature', async () => {
    const unsigned = new jose.UnsecuredJWT(claims(byKey)).encode();
    expect((await send(unsigned)).status).toBe(401);
  });

  it('is rejected when it is signed with the public key as an HMAC secret', async () => {
    for (const material of [publicPem, publicPem.trim()]) {
      const forged = await new jose.SignJWT(claims(byKey))
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode(material));
      expect((await send(forged)).status).toBe(401);
    }
  });

  it('is rejected with another secret, or with an algorithm of another method', async () => {
    const wrong = await new jose.SignJWT(claims(bySecret))
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode('x'.repeat(40)));
    expect((await send(wrong)).status).toBe(401);
    expect((await send(await signed(bySecret, {}, 'HS512'))).status).toBe(401);
    const crossed = await new jose.SignJWT(claims(bySecret)).setProtectedHeader({ alg: 'RS256' }).sign(key);
    expect((await send(crossed)).status).toBe(401);
  });

  it.each(['', 'abc', 'a.b.c', '....', `${'a'.repeat(10_000)}.b.c`, '\0'])(
    'is rejected when it is not a JWT (%#)',
    async (text) => {
      expect((await send(text)).status).toBe(400);
    },
  );

  it('is rejected with another type or another client_id', async () => {
    expect((await send(await signed(byKey), { client_assertion_type: 'x' })).status).toBe(400);
    expect((await send(await signed(byKey), { client_id: bySecret.clientId })).status).toBe(400);
  });
});
