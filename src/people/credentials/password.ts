// Hashes and verifies passwords with Argon2id; the only importer of argon2. Every verification costs one Argon2id
// computation with the current parameters, and imported hashes cost more. `equalizeWork` makes up for the difference.

import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import argon2 from 'argon2';
import pLimit from 'p-limit';
import { badRequest, unavailable } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { workerModule } from '../../base/platform/package.ts';
import { t } from '../../base/texts/text.ts';
import { remainingHashes } from './hash-work.ts';
import { parseArgon2, parseImportedHash, verifyDerived } from './imported-hash.ts';
import { createWorker } from './worker.ts';

export type Passwords = ReturnType<typeof createPasswords>;

const { argon2MemoryKib, argon2Iterations, argon2Parallelism } = limits.passwordHash;
const CURRENT = {
  type: argon2.argon2id,
  memoryCost: argon2MemoryKib,
  timeCost: argon2Iterations,
  parallelism: argon2Parallelism,
} satisfies Parameters<typeof argon2.hash>[1];
/** The beginning of every hash with the current parameters. */
export const CURRENT_PREFIX = `$argon2id$v=19$m=${argon2MemoryKib},p=${argon2Parallelism},t=${argon2Iterations}$`;

// NFKC can turn one character into eighteen; no typed password comes near this.
const MAX_BYTES = 4 * limits.password.max;

export interface PasswordsOptions {
  /** Hashes computed in parallel; more than the number of cores gains nothing, and libuv has four threads. */
  concurrency?: number;
  maxWaiting?: number;
  /** Computes scrypt and PBKDF2; tests count its calls. */
  derive?: typeof verifyDerived;
}

export function createPasswords(options: PasswordsOptions = {}) {
  const { concurrency, maxWaiting = 200, derive = verifyDerived } = options;
  const queue = createQueue({ concurrency: concurrency ?? Math.min(4, availableParallelism()), maxWaiting });
  const { verifyArgon2, verifyStored, close } = createHashVerifier({ queue, derive });
  // A well-formed hash with the current parameters that was not made from a password, so that none matches it.
  const unmatchable = `${CURRENT_PREFIX}${base64(randomBytes(16))}$${base64(randomBytes(32))}`;

  return {
    async hash(plain: string): Promise<string> {
      if (isTooLong(plain)) throw badRequest('password_rejected', { message: t('password.far-too-long') });
      return queue.run(() => argon2.hash(Buffer.from(plain.normalize('NFKC')), CURRENT));
    },

    /** `rehash`: right, but stored with another scheme or other parameters than those of today. */
    async verify(stored: string, plain: string): Promise<{ ok: boolean; rehash: boolean }> {
      // Replaced before any computation: no password of this length was ever set.
      const tooLong = isTooLong(plain);
      const typed = tooLong ? '' : plain;
      const isCurrent = isCurrentHash(stored);
      if (!isCurrent) await verifyArgon2(unmatchable, typed.normalize('NFKC'));
      const ok = (await verifyStored(stored, typed)) && !tooLong;
      return { ok, rehash: ok && !isCurrent };
    },

    /** The work of verify without anything to verify. */
    async dummyVerify(plain: string): Promise<void> {
      await verifyArgon2(unmatchable, isTooLong(plain) ? '' : plain.normalize('NFKC'));
    },

    /**
     * After a failed check: the rest of the work, so that every failure costs as much as the most expensive hash of each scheme.
     * @param own the hash that was verified, if the account has one
     * @param kinds of the stored hashes (hash-work.ts)
     */
    async equalizeWork(plain: string, own: string | undefined, kinds: readonly string[]): Promise<void> {
      const typed = isTooLong(plain) ? '' : plain;
      // The verification of a current hash is the part that every check has.
      const imported = own !== undefined && !isCurrentHash(own) ? own : undefined;
      for (const dummy of remainingHashes(kinds, imported)) await verifyStored(dummy, typed);
    },

    /** Ends the worker thread. */
    close,
  };
}

/** Compares a password with a hash of any scheme. `close` ends the worker thread. */
function createHashVerifier({ queue, derive }: { queue: Queue; derive: typeof verifyDerived }) {
  const bcrypt = createWorker<{ hash: string; passwords: string[] }, boolean>({
    file: workerModule('people/credentials/workers/bcrypt.mjs'),
    maxWaiting: 50,
  });
  const verifyArgon2 = (stored: string, password: string) =>
    queue.run(() => argon2.verify(stored, Buffer.from(password)));

  async function verifyStoredArgon2(stored: string, plain: string): Promise<boolean> {
    if (await verifyArgon2(stored, plain.normalize('NFKC'))) return true;
    // The other system may have hashed the password without normalising it.
    const isImported = !isCurrentHash(stored) && plain !== plain.normalize('NFKC');
    return isImported && (await verifyArgon2(stored, plain));
  }

  async function verifyImported(stored: string, plain: string): Promise<boolean> {
    const hash = parseImportedHash(stored);
    if (!hash) return false;
    // The other system may have hashed the password without normalising it.
    const passwords = [...new Set([plain, plain.normalize('NFKC')])];
    if (hash.scheme === 'bcrypt') {
      // C implementations of bcrypt stop at a NUL and bcryptjs does not, so no password with a NUL was ever set.
      return (await bcrypt.run({ hash: hash.hash, passwords })) && !plain.includes('\0');
    }
    const results: boolean[] = [];
    for (const password of passwords) results.push(await queue.run(() => derive(hash, password)));
    return results.includes(true);
  }

  return {
    verifyArgon2,
    verifyStored: (stored: string, typed: string) =>
      isArgon2(stored) ? verifyStoredArgon2(stored, typed) : verifyImported(stored, typed),
    close: () => bcrypt.close(),
  };
}

/** Whether an imported hash can be stored: Argon2, bcrypt, scrypt or PBKDF2 that is not too expensive to verify. */
export function isAcceptableHash(stored: string): boolean {
  return stored.length <= 500 && (isArgon2(stored) || parseImportedHash(stored) !== undefined);
}

/** Whether `stored` is exactly as `hash` makes it today. */
export function isCurrentHash(stored: string): boolean {
  return stored.startsWith(CURRENT_PREFIX);
}

function isArgon2(stored: string): boolean {
  return parseArgon2(stored) !== undefined;
}

function isTooLong(plain: string): boolean {
  if (plain.length > 2 * limits.password.max) return true; // before any work in proportion to its length
  return [...plain].length > limits.password.max || Buffer.byteLength(plain.normalize('NFKC')) > MAX_BYTES;
}

// PHC strings carry base64 without padding.
function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

type Queue = ReturnType<typeof createQueue>;

export function createQueue({ concurrency, maxWaiting }: { concurrency: number; maxWaiting: number }) {
  const limit = pLimit(concurrency);
  return {
    /** Runs `work` when its turn comes; rejects with 503 when too much is waiting. */
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (limit.pendingCount >= maxWaiting && limit.activeCount >= concurrency) {
        throw unavailable('unavailable', {
          message: t('error.busy'),
          advice: t('error.busy-advice'),
          detail: 'too many password hashes are waiting',
          headers: { 'Retry-After': '3' },
        });
      }
      return limit(work);
    },
  };
}
