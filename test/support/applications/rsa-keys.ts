// RSA keys for applications and identity providers of tests. Making one takes 0.2 s of CPU, so they are read from a file, and test
// files use the same keys one after the other; within a file each call has another key.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface RsaKey {
  privateKey: KeyObject;
  publicKey: KeyObject;
}

const stored: JsonWebKey[] = JSON.parse(readFileSync(path.join(import.meta.dirname, 'rsa-keys.json'), 'utf8'));
const RESERVED = 4;
const keys: RsaKey[] = [];
let used = RESERVED;

/** A key of 2048 bits that no other call of this test file was given. Not for what several files share. */
export function anRsaKey(): RsaKey {
  used += 1;
  return keyAt(used - 1);
}

/** One of the keys for what several files share, which anRsaKey() never returns. */
export function reservedRsaKey(number: 0 | 1 | 2 | 3): RsaKey {
  return keyAt(number);
}

/** Called at the beginning of each test file (setup-file.ts). */
export function startRsaKeys(): void {
  used = RESERVED;
}

function keyAt(index: number): RsaKey {
  const jwk = stored[index];
  keys[index] ??= jwk ? readKey(jwk) : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return keys[index];
}

function readKey(key: JsonWebKey): RsaKey {
  const privateKey = createPrivateKey({ key, format: 'jwk' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}
