// What the verification of a hash costs, and hashes that cost a given part of it. A failed sign-in does the same work for
// every account and for an unknown name (credentials.ts), so its time does not reveal which accounts exist. Pure.
import { parseArgon2, parseImportedHash } from './imported-hash.ts';

export interface HashWork {
  /** Hashes of one family differ only in the number of units; a verification takes time in proportion to them. */
  family: string;
  units: number;
  /** Hashes that no password matches, whose verifications together cost the units that are not `spent` yet. */
  rest(spent: number): string[];
}

/** The work of verifying `stored`; undefined for what is no hash. */
export function workOf(stored: string): HashWork | undefined {
  const argon2 = parseArgon2(stored);
  if (argon2) {
    const { type, memoryKib, iterations, parallelism, salt, key } = argon2;
    const hashOf = (t: number) => `$${type}$v=19$m=${memoryKib},t=${t},p=${parallelism}$${zeros(salt)}$${zeros(key)}`;
    const family = hashOf(0);
    return { family, units: iterations, rest: (spent) => (spent < iterations ? [hashOf(iterations - spent)] : []) };
  }
  const imported = parseImportedHash(stored);
  if (imported?.scheme === 'bcrypt') {
    const hashOf = (log: number) => `$2b$${String(log).padStart(2, '0')}$${'.'.repeat(53)}`;
    return workWithDoublingCost('bcrypt', Number(imported.hash.slice(4, 6)), hashOf);
  }
  if (imported?.scheme === 'scrypt') {
    const { cost, blockSize, parallelism, key } = imported;
    const end = `r=${blockSize},p=${parallelism}$${SALT}$${ofBytes(key)}`;
    return workWithDoublingCost(end, Math.log2(cost), (log) => `$scrypt$ln=${log},${end}`);
  }
  if (imported?.scheme === 'pbkdf2') {
    const { digest, iterations, key } = imported;
    const hashOf = (count: number) => `$pbkdf2-${digest}$i=${count}$${SALT}$${ofBytes(key)}`;
    return {
      family: hashOf(0),
      units: iterations,
      rest: (spent) => (spent < iterations ? [hashOf(Math.max(1000, iterations - spent))] : []), // the least that is parsed
    };
  }
  return undefined;
}

/** One string for all hashes that cost the same: itself a hash that costs it. Empty for what is no hash. */
export function kindOf(stored: string): string {
  return workOf(stored)?.rest(0)[0] ?? '';
}

/**
 * Hashes to verify besides `own`, so that every family costs as much as the most expensive of its `kinds`.
 * @param own the hash that was verified, if the account has one
 */
export function remainingHashes(kinds: readonly string[], own: string | undefined): string[] {
  const spent = own === undefined ? undefined : workOf(own);
  const mostExpensive = new Map<string, HashWork>();
  for (const work of kinds.map(workOf)) {
    if (work && work.units > (mostExpensive.get(work.family)?.units ?? 0)) mostExpensive.set(work.family, work);
  }
  return [...mostExpensive.values()].flatMap((work) => work.rest(work.family === spent?.family ? spent.units : 0));
}

const SALT = 'A'.repeat(22);

/** Each step doubles the work, so the steps from `spent` up to one below this are the difference. */
function workWithDoublingCost(family: string, log: number, hashOf: (log: number) => string): HashWork {
  return {
    family,
    units: 2 ** log,
    rest(spent) {
      if (spent === 0) return [hashOf(log)];
      const from = Math.log2(spent);
      return Array.from({ length: Math.max(0, log - from) }, (_, index) => hashOf(from + index));
    },
  };
}

/** Base64 of zero bytes, as long as this text. */
function zeros(base64: string): string {
  return 'A'.repeat(base64.length);
}

function ofBytes(key: Buffer): string {
  return Buffer.alloc(key.length).toString('base64').replaceAll('=', '');
}
