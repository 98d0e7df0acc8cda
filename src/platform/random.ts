// The only source of randomness (seed 2.2 and 5.5: 32 bytes from a cryptographically secure source), and the
// one-way hash under which bearer secrets are stored.
import { createHash, hash, randomFillSync, timingSafeEqual } from 'node:crypto';

// Asking the system for a few bytes costs as much as asking for thousands. Each byte is handed out once and erased.
const pool = Buffer.allocUnsafeSlow(4096);
let used = pool.length;

/** A bearer secret such as a reset token, base64url; 32 bytes unless asked otherwise. */
export function randomToken(bytes = 32): string {
  if (bytes > pool.length) throw new RangeError('a token is not that long');
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const token = pool.toString('base64url', used, used + bytes);
  pool.fill(0, used, used + bytes);
  used += bytes;
  return token;
}

/** A row id: 24 base64url characters, 144 bits, not guessable and never seen twice. */
export function randomId(): string {
  return randomToken(18);
}

/** SHA-256 as base64url. Enough for secrets of 32 random bytes; never for passwords. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'base64url');
}

/** Compares in a time that depends neither on the content nor on where the two differ. */
export function safeEqual(a: string, b: string): boolean {
  // Hashed first because timingSafeEqual wants equal lengths, and the length may be secret too.
  const digest = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** Between 0 and 1, to spread retries of several instances; not for secrets. */
export function jitter(): number {
  return Math.random();
}
