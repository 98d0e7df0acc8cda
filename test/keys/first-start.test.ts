import { createPrivateKey, X509Certificate } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/base/storage/database.ts';
import { makeKeyPair } from '../../src/core/keys/key-pair.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { anInstance, smallRsaKeys, statesOf } from './support.ts';

let test: TestDatabase;
beforeEach(async () => {
  test = await testDatabase();
});
afterEach(() => test.close());

const algs = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const complete = [
  'saml active RS256',
  'saml-sp active RS256',
  'saml-sp-encryption active RSA-OAEP',
  ...algs.map((alg) => `oidc active ${alg}`),
  ...algs.map((alg) => `oidc next ${alg}`),
];

const expectedKeys = {
  RS256: ['rsa', { modulusLength: 2048 }],
  PS256: ['rsa', { modulusLength: 2048 }],
  ES256: ['ec', { namedCurve: 'prime256v1' }],
  EdDSA: ['ed25519', {}],
} as const;

describe('the first start', () => {
  it('creates an active key of each algorithm, their published successors and a SAML certificate', async () => {
    const { keyring } = anInstance(test.database);
    await keyring.load();
    expect((await statesOf(keyring)).sort()).toEqual([...complete].sort());

    const { keys } = keyring.jwks();
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length);
    expect(keys.map(({ alg, use }) => `${alg} ${use}`)).toEqual([...algs, ...algs].map((alg) => `${alg} sig`));
    for (const jwk of keys) {
      expect(jwk.kid).toBe(await calculateJwkThumbprint(jwk));
      const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey({ key: jwk, format: 'jwk' });
      const [type, details] = expectedKeys[jwk.alg];
      expect(asymmetricKeyType).toBe(type);
      expect(asymmetricKeyDetails).toMatchObject(details);
    }
  });

  itOnSqlite('does not block the event loop while it creates RSA keys', async () => {
    let turns = 0;
    const turn = () => {
      turns += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    await makeKeyPair('RS256');
    clearImmediate(next);
    // A key created on the event loop would exist before the first turn.
    expect(turns).toBeGreaterThan(0);
  });
});

describe('the rows of the first start', () => {
  smallRsaKeys();

  it('creates a certificate of the SAML key for three years', async () => {
    const { keyring, clock } = anInstance(test.database);
    await keyring.load();
    const credential = keyring.samlCredential();
    const certificate = new X509Certificate(credential.certificatePem);
    expect(certificate.checkPrivateKey(credential.privateKey)).toBe(true);
    expect(certificate.subject).toBe('CN=id.example.com');
    expect(Date.parse(certificate.validTo) - clock.now().getTime()).toBe(3 * 365 * 24 * 3600 * 1000);
    expect(keyring.samlCertificates()).toMatchObject([{ kid: credential.kid, state: 'active' }]);
    expect(keyring.jwks().keys.map(({ kid }) => kid)).not.toContain(credential.kid);
  });

  it('creates nothing at the second start', async () => {
    const first = anInstance(test.database).keyring;
    await first.load();
    const second = anInstance(test.database).keyring;
    await second.load();
    expect(second.jwks()).toEqual(first.jwks());
    expect(await second.list()).toEqual(await first.list());
  });

  it('creates one set of keys when several instances start at once', async () => {
    const others = await Promise.all([openDatabase(test.url), openDatabase(test.url)]);
    const instances = [test.database, ...others].map((database) => anInstance(database).keyring);
    await Promise.all(instances.map((keyring) => keyring.load()));
    const [first, ...rest] = instances;
    expect(await first?.list()).toHaveLength(complete.length);
    for (const keyring of rest) {
      expect(keyring.jwks()).toEqual(first?.jwks());
      expect(keyring.samlCredential().kid).toBe(first?.samlCredential().kid);
    }
    await Promise.all(others.map((database) => database.close()));
  });

  it('rejects the use of a keyring that is not loaded', () => {
    const { keyring } = anInstance(test.database);
    expect(() => keyring.jwks()).toThrow('not loaded');
    expect(() => keyring.samlCredential()).toThrow('not loaded');
  });
});
