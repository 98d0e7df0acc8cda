import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/base/platform/errors.ts';
import { selfSignedCertificate } from '../../src/core/keys/certificate.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';
import { testSecret } from '../support/secret.ts';
import { anInstance, startOfTests } from './support.ts';

let test: TestDatabase;
beforeEach(async () => {
  test = await testDatabase({ keysFrom: startOfTests });
});
afterEach(() => test.close());

const newSecret = randomBytes(32);

describe('private keys at rest', () => {
  it('are not readable in the table, the database file or the log', async () => {
    const log: string[] = [];
    const { keyring } = anInstance({ ...test.database, log });
    await keyring.load();
    await keyring.rotate({ use: 'oidc', force: true }); // makes new ones
    const rows = await test.database.db.signingKey.findMany();
    const file = test.database.kind === 'sqlite' ? [test.url.slice('file:'.length)] : [];
    const stored = [JSON.stringify(rows), log.join(), ...file.flatMap((name) => [name, `${name}-wal`].map(readText))];
    expect(stored[0]).toContain(keyring.jwks().keys[0]?.n);
    const pem = (der: Buffer) => der.toString('base64').slice(200, 260);
    for (const jwk of keyring.jwks().keys) {
      const der = createPrivateKey({ key: jwk, format: 'jwk' }).export({ type: 'pkcs8', format: 'der' });
      const { d = '', p = '' } = jwk;
      const traces = [d, p, pem(der), der.toString('latin1').slice(-40), Buffer.from(d, 'base64url').toString('hex')];
      for (const trace of traces.filter((text) => text.length > 8))
        expect(stored.filter((text) => text.includes(trace))).toEqual([]);
    }
  });

  it('cannot be opened from another row', async () => {
    const { keyring } = anInstance(test.database);
    await keyring.load();
    const [one, two] = keyring.jwks().keys;
    const sealed = await test.database.db.signingKey.findUniqueOrThrow({ where: { id: two?.kid ?? '' } });
    await test.database.db.signingKey.update({
      where: { id: one?.kid ?? '' },
      data: { privateSealed: sealed.privateSealed },
    });
    const failure = anInstance(test.database).keyring.load();
    await expect(failure).rejects.toThrow(OperatorError);
    await expect(failure).rejects.toThrow(`signing key ${one?.kid} cannot be opened`);
  });

  it('are rejected when the sealed key, id, algorithm, certificate or state of the row was changed', async () => {
    const { keyring } = anInstance(test.database);
    await keyring.load();
    const { db } = test.database;
    const row = await db.signingKey.findFirstOrThrow({ where: { use: 'saml' } });
    const foreign = await anotherCertificate();
    const changes = [
      { privateSealed: row.privateSealed.replace(/.(?=.{9}$)/, (sign) => (sign === 'A' ? 'B' : 'A')) },
      { id: 'chosen-by-an-attacker' },
      { alg: 'ES256' },
      { alg: 'none' },
      { state: 'hidden' },
      { certificate: foreign },
    ];
    for (const change of changes) {
      await db.signingKey.update({ where: { id: row.id }, data: change });
      await expect(anInstance(test.database).keyring.load(), JSON.stringify(change)).rejects.toThrow();
      const { id = row.id } = change;
      await db.signingKey.delete({ where: { id } });
      await db.signingKey.create({ data: row });
    }
    await expect(anInstance(test.database).keyring.load()).resolves.toBeUndefined();
  });
});

describe('a new GATEHOUSE_SECRET', () => {
  it('opens the keys that the old one sealed while the old one is still listed', async () => {
    const before = anInstance(test.database).keyring;
    await before.load();
    const after = anInstance({ ...test.database, secrets: [newSecret, testSecret] }).keyring;
    await after.load();
    expect(after.jwks()).toEqual(before.jwks());
  });

  it('seals the keys again, so that the old one can be removed', async () => {
    const both = anInstance({ ...test.database, secrets: [newSecret, testSecret] }).keyring;
    await both.load();
    const alone = anInstance({ ...test.database, secrets: [newSecret] }).keyring;
    await alone.load();
    expect(alone.jwks()).toEqual(both.jwks());
    await expect(anInstance(test.database).keyring.load()).rejects.toThrow(OperatorError);
  });

  it('is rejected alone, with a message that names the missing secret', async () => {
    const alone = anInstance({ ...test.database, secrets: [newSecret] }).keyring;
    await expect(alone.load()).rejects.toThrow(/GATEHOUSE_SECRET.*add the old value back/);
    expect(await test.database.db.signingKey.count()).toBe(11);
  });
});

function readText(file: string): string {
  return readFileSync(file).toString('latin1');
}

function anotherCertificate(): Promise<string> {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return selfSignedCertificate({ ...pair, host: 'id.example.com', from: startOfTests, until: new Date('2099-01-01') });
}
