// Password hashes (seed 5.5: Argon2id is best). The only importer of argon2. Whatever is verified costs at least one
// Argon2id computation with the current parameters, so an account that does not exist costs the same as one that does.
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import argon2 from 'argon2';
import { badRequest } from '../http/errors.ts';
import { limits } from '../limits.ts';
import { parseImportedHash, verifyDerived } from './imported-hash.ts';
import { createQueue } from './queue.ts';
import { createWorker } from './worker.ts';

export interface Passwords {
  hash(plain: string): Promise<string>;
  /** `rehash`: right, but not stored as `hash` would store it now. */
  verify(stored: string, plain: string): Promise<{ ok: boolean; rehash: boolean }>;
  /** The work of verify without anything to verify. */
  dummyVerify(plain: string): Promise<void>;
  /** Ends the worker thread. */
  close(): Promise<void>;
}

const { argon2MemoryKib, argon2Iterations, argon2Parallelism } = limits.passwordHash;
const CURRENT = {
  type: argon2.argon2id,
  memoryCost: argon2MemoryKib,
  timeCost: argon2Iterations,
  parallelism: argon2Parallelism,
} satisfies Parameters<typeof argon2.hash>[1];
/** How every hash of ours begins. */
export const CURRENT_PREFIX = `$argon2id$v=19$m=${argon2MemoryKib},p=${argon2Parallelism},t=${argon2Iterations}$`;

// NFKC can make one character eighteen; nothing a person types comes near this.
const MAX_BYTES = 4 * limits.password.max;
const ARGON2 =
  /^\$argon2(?:id|i|d)\$v=19\$(?=[^$]*m=(\d+))(?=[^$]*t=(\d+))(?=[^$]*p=(\d+))[mtp=\d,]+\$[\w+/]+\$[\w+/]+$/;
// Dearer imported Argon2 hashes would let one sign-in take the memory of many.
const MAX_ARGON2 = { memoryKib: 256 * 1024, iterations: 20, parallelism: 16 };

export interface PasswordsOptions {
  /** Hashes computed at the same time; more than the cores gain nothing, and libuv has four threads. */
  concurrency?: number;
  maxWaiting?: number;
}

export function createPasswords({ concurrency, maxWaiting = 200 }: PasswordsOptions = {}): Passwords {
  const queue = createQueue({ concurrency: concurrency ?? Math.min(4, availableParallelism()), maxWaiting });
  const bcrypt = createWorker<{ hash: string; passwords: string[] }, boolean>({
    modules: ['bcryptjs'],
    // Both spellings are always tried, so that the time does not depend on which one was right.
    task: 'return task.passwords.map((password) => modules[0].compareSync(password, task.hash)).includes(true);',
    maxWaiting: 50,
  });
  // Well-formed, with parameters as above, and made from no password: nobody knows one that it would accept.
  const nobody = `${CURRENT_PREFIX}${base64(randomBytes(16))}$${base64(randomBytes(32))}`;
  const verifyArgon2 = (stored: string, password: string) =>
    queue.run(() => argon2.verify(stored, Buffer.from(password)));

  async function verifyImported(stored: string, plain: string): Promise<boolean> {
    const hash = parseImportedHash(stored);
    if (!hash) return false;
    // The other system hashed what was typed, perhaps without normalising it.
    const passwords = [...new Set([plain, plain.normalize('NFKC')])];
    if (hash.scheme === 'bcrypt') {
      // C implementations of bcrypt stop at a NUL, ours would not: such a password was never set.
      return (await bcrypt.run({ hash: hash.hash, passwords })) && !plain.includes('\0');
    }
    const results: boolean[] = [];
    for (const password of passwords) results.push(await queue.run(() => verifyDerived(hash, password)));
    return results.includes(true);
  }

  return {
    async hash(plain) {
      if (isTooLong(plain)) throw badRequest('password_refused', { message: 'This password is too long.' });
      return queue.run(() => argon2.hash(Buffer.from(plain.normalize('NFKC')), CURRENT));
    },

    async verify(stored, plain) {
      // Cut before anything is computed over it: what is too long was never set as a password.
      const tooLong = isTooLong(plain);
      const typed = tooLong ? '' : plain;
      if (isArgon2(stored)) {
        const ok = (await verifyArgon2(stored, typed.normalize('NFKC'))) && !tooLong;
        return { ok, rehash: ok && !isCurrentHash(stored) };
      }
      await verifyArgon2(nobody, typed);
      const ok = (await verifyImported(stored, typed)) && !tooLong;
      return { ok, rehash: ok };
    },

    async dummyVerify(plain) {
      await verifyArgon2(nobody, isTooLong(plain) ? '' : plain.normalize('NFKC'));
    },

    close: () => bcrypt.close(),
  };
}

/** Whether a hash from elsewhere can be stored: Argon2, bcrypt, scrypt or PBKDF2 that is not too dear to verify. */
export function isAcceptableHash(stored: string): boolean {
  return stored.length <= 500 && (isArgon2(stored) || parseImportedHash(stored) !== undefined);
}

/** Whether `stored` is exactly as `hash` makes it today. */
export function isCurrentHash(stored: string): boolean {
  return stored.startsWith(CURRENT_PREFIX);
}

function isArgon2(stored: string): boolean {
  const [, memory, iterations, parallelism] = ARGON2.exec(stored) ?? [];
  return (
    Number(memory) <= MAX_ARGON2.memoryKib &&
    Number(iterations) <= MAX_ARGON2.iterations &&
    Number(parallelism) <= MAX_ARGON2.parallelism
  );
}

function isTooLong(plain: string): boolean {
  if (plain.length > 2 * limits.password.max) return true; // before any work in proportion to its length
  return [...plain].length > limits.password.max || Buffer.byteLength(plain.normalize('NFKC')) > MAX_BYTES;
}

// PHC strings carry base64 without padding.
function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
