// Argon2id hashes, and the verification of imported ones.
import { pbkdf2Sync, randomBytes, scryptSync } from 'node:crypto';
import argon2 from 'argon2';
import bcrypt from 'bcryptjs';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createPasswords, isAcceptableHash, isCurrentHash } from '../../src/people/credentials/password.ts';
import { computeEveryHash } from '../support/hash-cache.ts';

computeEveryHash();
const passwords = createPasswords();
afterAll(() => passwords.close());

const secret = 'correct horse battery staple';
const b64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
const passlib = (bytes: Buffer) => b64(bytes).replaceAll('+', '.');
const salt = randomBytes(16);

describe('hash', () => {
  test('is Argon2id with 19456 KiB, two passes and one lane, and never the same twice', async () => {
    const [one, other] = await Promise.all([passwords.hash(secret), passwords.hash(secret)]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,p=1,t=2\$/);
    expect(one).not.toBe(other);
    expect(isCurrentHash(one)).toBe(true);
    expect(await passwords.verify(one, secret)).toEqual({ ok: true, rehash: false });
    expect(await passwords.verify(one, `${secret} `)).toEqual({ ok: false, rehash: false });
  });

  test.each([
    ['spaces at both ends', '  two  spaces  '],
    ['emoji', '🦄🌈 unicorn 👩‍👩‍👧‍👦'],
    ['a NUL', 'before\0after'],
    ['256 characters outside the basic plane', '🦄'.repeat(256)],
    ['one character', 'x'],
  ])('verifies %s and no shorter or longer password', async (_, plain) => {
    const hash = await passwords.hash(plain);
    expect((await passwords.verify(hash, plain)).ok).toBe(true);
    expect((await passwords.verify(hash, plain.slice(0, -1))).ok).toBe(false);
    expect((await passwords.verify(hash, `${plain}x`)).ok).toBe(false);
  });

  test('includes what follows a NUL', async () => {
    expect((await passwords.verify(await passwords.hash('before\0after'), 'before\0other')).ok).toBe(false);
  });

  test('is made of the normalized text, so that every keyboard gives the same', async () => {
    const hash = await passwords.hash('Zoe\u0308 ﬁnd ﬂowers');
    expect((await passwords.verify(hash, 'Zoë find flowers')).ok).toBe(true);
  });

  test.each([
    ['257 characters', 'x'.repeat(257)],
    ['a megabyte', 'x'.repeat(1_000_000)],
    ['what grows when normalised', '\ufdfa'.repeat(256)],
  ])('is not made of %s, whose check hashes the empty password instead', async (_, plain) => {
    await expect(passwords.hash(plain)).rejects.toMatchObject({ code: 'password_rejected' });
    const hash = await passwords.hash(secret);
    const verify = vi.spyOn(argon2, 'verify');
    expect((await passwords.verify(hash, plain)).ok).toBe(false);
    await passwords.dummyVerify(plain);
    expect(verify.mock.calls.map(([, typed]) => typed.toString())).toEqual(['', '']);
  });
});

describe('an imported hash', () => {
  const derived = scryptSync(secret, salt, 32, { N: 2 ** 14, r: 8, p: 1 });
  const pbkdf2 = (digest: string, bytes: number, from: Buffer | string = salt) =>
    pbkdf2Sync(secret, from, 20_000, bytes, digest);
  const imported: [string, string][] = [
    ['bcrypt $2b$', bcrypt.hashSync(secret, 6)],
    ['bcrypt $2y$', bcrypt.hashSync(secret, 6).replace('$2b$', '$2y$')],
    ['bcrypt $2a$', bcrypt.hashSync(secret, 6).replace('$2b$', '$2a$')],
    ['scrypt', `$scrypt$ln=14,r=8,p=1$${b64(salt)}$${b64(derived)}`],
    ['passlib PBKDF2 SHA-256', `$pbkdf2-sha256$20000$${passlib(salt)}$${passlib(pbkdf2('sha256', 32))}`],
    ['passlib PBKDF2 SHA-512', `$pbkdf2-sha512$20000$${passlib(salt)}$${passlib(pbkdf2('sha512', 64))}`],
    ['PBKDF2 with named parameters', `$pbkdf2-sha512$i=20000,l=64$${b64(salt)}$${b64(pbkdf2('sha512', 64))}`],
    ['Django PBKDF2', `pbkdf2_sha256$20000$saltText$${pbkdf2('sha256', 32, 'saltText').toString('base64')}`],
  ];

  test.each(imported)('verifies and must be replaced: %s', async (_, stored) => {
    expect(isAcceptableHash(stored)).toBe(true);
    expect(await passwords.verify(stored, secret)).toEqual({ ok: true, rehash: true });
    expect(await passwords.verify(stored, 'something else')).toEqual({ ok: false, rehash: false });
    expect(await passwords.verify(stored, '')).toEqual({ ok: false, rehash: false });
  });

  test('is replaced when it is Argon2 with other parameters', async () => {
    const stored = await argon2.hash(secret, { type: argon2.argon2id, memoryCost: 4096, timeCost: 3, parallelism: 2 });
    expect(isAcceptableHash(stored)).toBe(true);
    expect(await passwords.verify(stored, secret)).toEqual({ ok: true, rehash: true });
    const reordered = stored.replace(/m=(\d+),p=(\d+),t=(\d+)/, 'm=$1,t=$3,p=$2');
    expect(await passwords.verify(reordered, secret)).toEqual({ ok: true, rehash: true });
  });

  test('verifies text that was hashed without normalizing', async () => {
    const stored = bcrypt.hashSync('caf\u00e9 \u00b2\u00b2', 4);
    expect((await passwords.verify(stored, 'caf\u00e9 \u00b2\u00b2')).ok).toBe(true);
  });

  test('verifies text that was hashed by Argon2 without normalizing', async () => {
    const stored = await argon2.hash('caf\u00e9 \u00b2\u00b2', { memoryCost: 1024, timeCost: 1, parallelism: 1 });
    expect(await passwords.verify(stored, 'caf\u00e9 \u00b2\u00b2')).toEqual({ ok: true, rehash: true });
    expect((await passwords.verify(stored, 'caf\u00e9 22')).ok).toBe(false);
  });

  test('rejects, as bcrypt, a password that continues after a NUL', async () => {
    expect((await passwords.verify(bcrypt.hashSync('short', 4), 'short\0more')).ok).toBe(false);
  });

  test('verifies when it is the published vector of RFC 7914', async () => {
    const key = Buffer.from(
      '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887',
      'hex',
    );
    const stored = `$scrypt$ln=14,r=8,p=1$${b64(Buffer.from('SodiumChloride'))}$${b64(key)}`;
    expect((await passwords.verify(stored, 'pleaseletmein')).ok).toBe(true);
  });
});

describe('the import of a hash', () => {
  test.each([
    ['plain text', 'hunter2'],
    ['nothing', ''],
    ['MD5', '5f4dcc3b5aa765d61d8327deb882cf99'],
    ['SHA-1', '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g='],
    ['SHA-256 crypt', '$5$rounds=5000$saltsalt$ZBhzCwLBmaA5jYVYE7nZVmMCAPnaWfVTOrO.7W0zO30'],
    ['bcrypt beyond cost 15', bcrypt.hashSync('x', 4).replace('$04$', '$16$')],
    ['bcrypt of cost 3', bcrypt.hashSync('x', 4).replace('$04$', '$03$')],
    ['scrypt that takes a gigabyte', `$scrypt$ln=20,r=8,p=1$${b64(salt)}$${b64(randomBytes(32))}`],
    ['PBKDF2 with ten iterations', `$pbkdf2-sha256$10$${b64(salt)}$${b64(randomBytes(32))}`],
    ['PBKDF2 with a key of four bytes', `$pbkdf2-sha256$20000$${b64(salt)}$${b64(randomBytes(4))}`],
    ['Argon2 that takes a gigabyte', `$argon2id$v=19$m=1048576,t=2,p=1$${b64(salt)}$${b64(randomBytes(32))}`],
    ['Argon2 without memory', `$argon2id$v=19$t=2,p=1$${b64(salt)}$${b64(randomBytes(32))}`],
    ['something very long', `$2b$12$${'a'.repeat(1000)}`],
  ])('rejects %s', async (_, stored) => {
    expect(isAcceptableHash(stored)).toBe(false);
    expect((await passwords.verify(stored, stored)).ok).toBe(false);
  });
});
