// Public keys that a stranger chose, at every door: too many, too long, with exponents that take seconds. A document is rejected as a whole, the
// last good one stays in use, and no request holds the event loop for long.
import { createPublicKey, generateKeyPairSync, type JsonWebKey, type KeyObject, randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { deflateRawSync } from 'node:zlib';
import * as jose from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiCaller, aPerson } from '../admin/support.ts';
import { anApplication, redirectUri } from '../oidc/support.ts';
import { selfSigned } from '../saml/certificate.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Listening, listen } from '../support/listen.ts';
import { textOf } from '../support/pages/html.ts';

let idp: TestIdp;
let api: ApiCaller;
/** What the address of a JWK Set answers, and how often it was called. */
let published: object | string = { keys: [] };
let calls = 0;
let web: Listening;
beforeAll(async () => {
  idp = await startIdp();
  api = await aPerson(idp, ['admin']);
  web = await listen((_request, response) => {
    calls += 1;
    response.end(typeof published === 'string' ? published : JSON.stringify(published));
  });
});
afterAll(() => Promise.all([idp?.stop(), web?.close()]));

const { n } = generateKeyPairSync('rsa', { modulusLength: 3072 }).publicKey.export({ format: 'jwk' });
/** An RSA-3072 key whose exponent is as long: a verification takes 25 ms. */
function slowKey(): JsonWebKey {
  const e = randomBytes(383);
  e[0] = 0x7f;
  e[382] = 0x01;
  return { kty: 'RSA', n: String(n), e: e.toString('base64url') };
}
const ecKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
const issuerKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const asKey = (key: JsonWebKey) => createPublicKey({ key, format: 'jwk' });

function metadata(entityId: string, keys: KeyObject[], use = ' use="signing"'): string {
  const certificates = keys.map(
    (key) =>
      `<ds:X509Data><ds:X509Certificate>${selfSigned(issuerKey, key).replace(/-----[A-Z ]+-----|\s/g, '')}</ds:X509Certificate></ds:X509Data>`,
  );
  return (
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="${entityId}">` +
    `<md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">` +
    `<md:KeyDescriptor${use}><ds:KeyInfo>${certificates.join('')}</ds:KeyInfo></md:KeyDescriptor>` +
    `<md:AssertionConsumerService index="0" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://many.example/acs"/>` +
    `</md:SPSSODescriptor></md:EntityDescriptor>`
  );
}

/** The longest time in which nothing else was answered, in milliseconds. */
async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await new Promise((resolve) => setTimeout(resolve, 50));
  delay.reset();
  await work();
  await new Promise((resolve) => setTimeout(resolve, 50));
  delay.disable();
  return delay.max / 1e6;
}

describe('SAML metadata', () => {
  const register = (xml: string) =>
    api.send('POST', '/applications', { protocol: 'saml', name: 'Many', metadata: xml });

  it.each<[string, () => KeyObject[], string]>([
    ['of 140 keys with long exponents', () => Array.from({ length: 140 }, () => asKey(slowKey())), '140 signing keys'],
    ['of 400 keys on a curve', () => Array.from({ length: 400 }, ecKey), '400 signing keys'],
    ['of eleven keys', () => Array.from({ length: 11 }, ecKey), 'has 11 signing keys; at most 10 are accepted'],
    ['of one key with a long exponent', () => [ecKey(), asKey(slowKey())], 'RSA exponent that isn’t an odd number'],
    ['of a short key', () => [generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey], 'modulus of 1024 bits'],
    ['of another curve', () => [generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey], 'secp256k1'],
    ['of an Edwards curve', () => [generateKeyPairSync('ed25519').publicKey], 'key of the type ed25519'],
  ])('%s is rejected with the reason', async (_what, keys, reason) => {
    const answer = await register(metadata('https://many.example/metadata', keys()));
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(reason)]);
  });

  it('of keys for both uses counts for each', async () => {
    const keys = Array.from({ length: 11 }, ecKey);
    const answer = await register(metadata('https://many.example/metadata', keys, ''));
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('11 signing keys')]);
    const encryption = await register(metadata('https://many.example/metadata', keys, ' use="encryption"'));
    expect(encryption.text).toContain('11 encryption keys');
  });

  it('of ten keys is accepted, and a signature of none of them holds the event loop only shortly', async () => {
    const entityId = 'https://ten.example/metadata';
    // No key pair, but a verification takes as long as with one.
    const keys = Array.from({ length: 10 }, () => {
      const modulus = randomBytes(1024);
      modulus[0] = 0xff;
      modulus[1023] = 1;
      return asKey({ kty: 'RSA', n: modulus.toString('base64url'), e: '_____w' });
    });
    expect((await register(metadata(entityId, keys))).status).toBe(201);
    const xml =
      `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"` +
      ` ID="_${crypto.randomUUID()}" Version="2.0" IssueInstant="${new Date().toISOString()}" Destination="${idp.issuer}/saml/sso">` +
      `<saml:Issuer>${entityId}</saml:Issuer></samlp:AuthnRequest>`;
    const message = encodeURIComponent(deflateRawSync(xml).toString('base64'));
    const signature = encodeURIComponent(Buffer.concat([Buffer.from([0]), randomBytes(1023)]).toString('base64'));
    const algorithm = encodeURIComponent('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256');
    let text = '';
    const block = await longestBlock(async () => {
      const query = `SAMLRequest=${message}&SigAlg=${algorithm}&Signature=${signature}`;
      ({ text } = await httpClient(idp.issuer).get(`/saml/sso?${query}`));
    });
    expect(text).toContain('signature_invalid');
    expect(block).toBeLessThan(1500);
  });
});

describe('a JWK Set that is registered', () => {
  const common = { protocol: 'oidc', redirect_uris: [redirectUri], token_endpoint_auth_method: 'private_key_jwt' };

  it.each<[string, object[], string]>([
    [
      '1,200 keys on a curve',
      Array.from({ length: 1200 }, () => ({ kty: 'EC', crv: 'P-256', x: 'A', y: 'A' })),
      '1200',
    ],
    ['eleven keys', Array.from({ length: 11 }, () => ecKey().export({ format: 'jwk' })), 'has 11 signing keys'],
    ['a long exponent', [slowKey()], 'Key 1 has an RSA exponent that isn’t an odd number'],
  ])('with %s is rejected', async (_what, keys, reason) => {
    const answer = await api.send('POST', '/applications', { ...common, jwks: { keys } });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(reason)]);
  });
});

describe('a JWK Set behind a jwks_uri', () => {
  async function aSigner() {
    const pair = await jose.generateKeyPair('ES256', { extractable: true });
    const app = await anApplication(idp, {
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
      jwks_uri: `${web.origin}/${crypto.randomUUID()}`,
      request_object_signing_alg: 'ES256',
    });
    const jwk = await jose.exportJWK(pair.publicKey);
    const ask = async (key = pair.privateKey) => {
      const request = await new jose.SignJWT({
        client_id: app.clientId,
        response_type: 'code',
        redirect_uri: redirectUri,
        scope: 'openid',
        code_challenge: 'x'.repeat(43),
        code_challenge_method: 'S256',
      })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(app.clientId)
        .setAudience(idp.issuer)
        .setExpirationTime('5m')
        .sign(key);
      return httpClient(idp.issuer).get(`/authorize?client_id=${app.clientId}&request=${request}`);
    };
    return { app, jwk, ask };
  }

  it.each<[string, () => object | string, string]>([
    [
      '900 keys with long exponents',
      () => ({ keys: Array.from({ length: 900 }, slowKey) }),
      'keys has 900 signing keys',
    ],
    [
      '1,500 keys on a curve',
      () => ({ keys: Array.from({ length: 1500 }, () => ecKey().export({ format: 'jwk' })) }),
      'keys has 1500 signing keys; at most 10 are accepted',
    ],
    ['one key with a long exponent', () => ({ keys: [slowKey()] }), 'Key 1 has an RSA exponent'],
    ['text', () => 'hello', "it isn't JSON"],
  ])('with %s is rejected with the reason, without holding the event loop', async (_what, document, reason) => {
    const { ask } = await aSigner();
    published = document();
    let text = '';
    const block = await longestBlock(async () => {
      ({ text } = await ask());
    });
    expect(textOf(text)).toContain(reason);
    expect(block).toBeLessThan(1500); // 13.9 s without the rule
    const before = calls;
    await ask();
    expect(calls).toBe(before);
  });

  it('is rejected as a whole, and the last good one stays in use, also after a change of the directory', async () => {
    const { jwk, ask } = await aSigner();
    published = { keys: [jwk, { kty: 'AKP', alg: 'ML-DSA-44', pub: 'AA' }] };
    expect((await ask()).location).toContain('/signin/');
    published = { keys: [jwk, slowKey()] };
    // The document is a minute old for the engine's own clock.
    const { now: realNow } = Date;
    Date.now = () => realNow() + 90_000;
    try {
      await anApplication(idp, {});
      const other = await jose.generateKeyPair('ES256');
      const before = calls;
      expect(textOf((await ask(other.privateKey)).text)).toContain('could not validate Request Object');
      expect(calls).toBe(before + 1);
      expect((await ask()).location).toContain('/signin/');
    } finally {
      Date.now = realNow;
    }
  });

  it('lets an address send thirty bad request objects, counted like failed client authentication', async () => {
    const { jwk, ask } = await aSigner();
    published = { keys: [jwk] };
    const other = await jose.generateKeyPair('ES256');
    const statuses: number[] = [];
    for (let tries = 0; tries < 32; tries += 1) statuses.push((await ask(other.privateKey)).status);
    expect(statuses.slice(0, 30)).toEqual(Array(30).fill(400));
    expect(statuses.slice(30)).toEqual([429, 429]);
  });
});

describe('the key of a DPoP proof', () => {
  it('follows the rule, before the signature is verified', async () => {
    const app = await anApplication(idp, { token_endpoint_auth_method: 'none', dpop_bound_access_tokens: true });
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = {
      jti: crypto.randomUUID(),
      htm: 'POST',
      htu: `${idp.issuer}/token`,
      iat: Math.floor(Date.now() / 1000),
    };
    const send = (jwk: unknown) =>
      httpClient(idp.issuer).post('/token', {
        form: { grant_type: 'authorization_code', client_id: app.clientId, code: 'x', redirect_uri: redirectUri },
        headers: { dpop: `${part({ alg: 'PS256', typ: 'dpop+jwt', jwk })}.${part(claims)}.${'A'.repeat(512)}` },
      });
    const answer = await send(slowKey());
    expect([answer.status, answer.json().error]).toEqual([400, 'invalid_dpop_proof']);
    expect(answer.json().error_description).toContain(
      "the key in the proof has an RSA exponent that isn't an odd number",
    );
    expect((await send('text')).json().error).toBe('invalid_dpop_proof');
    // The reason is in a header, too.
    for (const jwk of [slowKey(), { kty: 'EC', crv: 'ü"\r\nX-Other: y', x: 'A', y: 'A' }]) {
      const dpop = `${part({ alg: 'PS256', typ: 'dpop+jwt', jwk })}.${part(claims)}.${'A'.repeat(512)}`;
      const user = await httpClient(idp.issuer).get('/userinfo', { headers: { authorization: 'DPoP x', dpop } });
      expect([user.status, user.json().error]).toEqual([401, 'invalid_dpop_proof']);
      expect(user.headers['www-authenticate']).toContain('the key in the proof has');
    }
  });
});
