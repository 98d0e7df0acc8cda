// Argon2 computes each hash once per process: the same password and parameters give the same hash, and a verification that was
// done has its result. Nearly all users of tests have one password, and a hash takes 30 ms of CPU. What is stored and checked is
// a real hash with the real parameters; only the salt repeats.
import argon2 from 'argon2';

const { hash, verify } = argon2;
const hashes = new Map<string, Promise<string>>();
const verifications = new Map<string, Promise<boolean>>();

/** Once per process and key; what fails is computed again. */
function once<T>(results: Map<string, Promise<T>>, key: string, compute: () => Promise<T>): Promise<T> {
  const result = results.get(key) ?? compute();
  results.set(key, result);
  result.catch(() => results.delete(key));
  return result;
}

const keyOf = (...parts: unknown[]) =>
  JSON.stringify(parts.map((part) => (Buffer.isBuffer(part) ? part.toString('base64') : part)));

/** Every file begins so (setup-file.ts). */
export function cacheHashes(): void {
  argon2.hash = ((plain: Buffer, options: object) =>
    once(hashes, keyOf(plain, options), () => hash(plain, options))) as typeof argon2.hash;
  argon2.verify = (stored, plain, options) =>
    once(verifications, keyOf(stored, plain, options), () => verify(stored, plain, options));
}

/** For a file about hashes themselves: their salt, memory or number. */
export function computeEveryHash(): void {
  Object.assign(argon2, { hash, verify });
}
