// RSA keys for service providers of tests. Making one takes 0.2 s of CPU, so test files use the same keys one after the
// other; within a file each call has another key.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';

export interface RsaKey {
  privateKey: KeyObject;
  publicKey: KeyObject;
}

const keys: RsaKey[] = [];
let used = 0;

/** A key of 2048 bits that no other call of this test file was given. Not for what several files share. */
export function anRsaKey(): RsaKey {
  keys[used] ??= generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = keys[used] as RsaKey;
  used += 1;
  return key;
}

/** Called at the beginning of each test file (setup-file.ts). */
export function startRsaKeys(): void {
  used = 0;
}
