// Password hashes imported from another system: the first sign-in verifies the hash and replaces it with Argon2id.
import { pbkdf2Sync, scryptSync } from 'node:crypto';
import argon2 from 'argon2';
import bcrypt from 'bcryptjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Application, anApplication } from '../oidc/support.ts';
import { aUser } from '../support/factories.ts';
import type { HttpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { enter as enterApp, expectNotSignedIn, expectSignedIn } from '../support/pages/enter.ts';

let idp: TestIdp;
let app: Application;

beforeAll(async () => {
  idp = await startIdp();
  app = await anApplication(idp);
});
afterAll(() => idp?.stop());

const enter = (username: string, password: string, browser?: HttpClient) =>
  enterApp(idp, { clientId: app.clientId, username, password }, browser);

describe('an imported hash', () => {
  const b64 = (data: Buffer) => data.toString('base64').replace(/=+$/, '');
  const salt = Buffer.from('0123456789abcdef');
  const makers: [string, (password: string) => Promise<string> | string][] = [
    ['bcrypt', (password) => bcrypt.hash(password, 4)],
    [
      'scrypt',
      (password) =>
        `$scrypt$ln=14,r=8,p=1$${b64(salt)}$${b64(scryptSync(password, salt, 32, { N: 16384, r: 8, p: 1, maxmem: 64e6 }))}`,
    ],
    [
      'PBKDF2',
      (password) => `$pbkdf2-sha256$i=10000$${b64(salt)}$${b64(pbkdf2Sync(password, salt, 10_000, 32, 'sha256'))}`,
    ],
    [
      'weak Argon2',
      (password) => argon2.hash(password, { type: argon2.argon2id, memoryCost: 4096, timeCost: 1, parallelism: 1 }),
    ],
  ];

  it.each(makers)('signs its owner in as %s, and is replaced by Argon2id', async (_name, make) => {
    const user = await aUser(idp.services);
    const password = 'an imported pass phrase, long enough';
    await idp.services.credentials.importHash(user.account.id, await make(password));
    const hash = async () =>
      (await idp.services.db.asStored.passwordCredential.findUniqueOrThrow({ where: { userId: user.account.id } }))
        .hash;
    const imported = await hash();
    expectNotSignedIn(await enter(user.username, 'wrong pass phrase, long enough'));
    expect(await hash()).toBe(imported);
    expectSignedIn(await enter(user.username, password));
    expect(await hash()).toMatch(/^\$argon2id\$v=19\$m=19456,(t=2,p=1|p=1,t=2)\$/);
    expectSignedIn(await enter(user.username, password));
  });
});
