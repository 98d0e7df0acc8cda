// Random tokens and IDs from a cryptographically secure source (RFC 6749, section 10.10), and the hash under which bearer
// secrets are stored.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A bearer secret such as a reset token, base64url; 32 bytes unless given. */
export function randomToken(bytes = 32): string {
  return randomBytes(bytes).toString('base64url');
}

/** A row ID: 24 base64url characters, almost 144 bits, not guessable and unique. */
export function randomId(): string {
  const id = randomToken(18);
  // On a command line, a leading "-" would make an option of it.
  return id.startsWith('-') ? randomId() : id;
}

/** SHA-256 as base64url. Enough for secrets of 32 random bytes; never for passwords. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'base64url');
}

/** Compares in constant time, whatever the contents and lengths. */
export function safeEqual(a: string, b: string): boolean {
  // Hashed first: timingSafeEqual needs equal lengths, and the length may be secret too.
  const digest = (value: string) => hash('sha256', value, 'buffer');
  return timingSafeEqual(digest(a), digest(b));
}

/** Between 0 and 1, to spread the timers of several instances; not for secrets. */
export function jitter(): number {
  return Math.random();
}
