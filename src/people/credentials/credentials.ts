// The password of an account: set it, check it, import its hash. What follows from a change, such as ending sessions
// and notices to the owner, is up to the caller.

import { badRequest, invalidInput, notFound } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { traced } from '../../base/platform/tracing.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { fault } from '../../base/texts/faults.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../accounts/account.ts';
import type { Breached } from './breached.ts';
import { isAcceptableHash, type Passwords } from './password.ts';
import {
  minimumLength,
  type PasswordFault,
  passwordFaults,
  passwordLength,
  withoutKnownWords,
} from './password-policy.ts';
import { createStoredPasswords, type StoredPassword, type StoredPasswords } from './stored-password.ts';

export type Credentials = ReturnType<typeof createCredentials>;

export interface CredentialsDependencies {
  passwords: Passwords;
  breached: Breached;
  hasSecondFactor(userId: string, tx?: Tx): Promise<boolean>;
  /** Ends the account's sign-ins that are not finished. */
  abandonSignIns(userId: string, tx: Tx): Promise<void>;
  /** The product's name and the issuer's host, which must not be part of a password. */
  serviceNames(): readonly string[];
}

export function createCredentials(dependencies: Core & CredentialsDependencies) {
  const { db, audit } = dependencies;
  const storedPasswords = createStoredPasswords(dependencies);
  const preparePassword = createPreparePassword({ ...dependencies, storedPasswords });

  return {
    /** Checks and hashes a new password without storing it. */
    preparePassword,
    /** When the outcome is `wrong`, does the same work for every account and for an unknown one. */
    checkPassword: createCheckPassword({ ...dependencies, storedPasswords }),

    /** Checks, hashes and stores a new password; returns what is wrong with a rejected one. */
    async setPassword(account: Account, plain: string, options?: SetPassword): Promise<'ok' | PasswordFault[]> {
      const prepared = await preparePassword(account, plain, options);
      if (prepared.outcome === 'rejected') return prepared.faults;
      await transaction(db, prepared.store);
      return 'ok';
    },

    /** Stores a hash from another system; throws invalid_input for one that is not accepted. */
    async importHash(userId: string, hash: string, by: Actor = {}, outer?: Tx): Promise<void> {
      if (!isAcceptableHash(hash)) {
        throw invalidInput([fault(['password_hash'], 'password-hash')]);
      }
      const work = async (tx: Tx) => {
        await storedPasswords.replace(tx, userId, { hash, mustChange: false, long: false });
        await audit.record({ ...by, type: 'password.imported', outcome: 'success', subjectId: userId }, tx);
      };
      await (outer ? work(outer) : transaction(db, work));
    },

    forceChange: (userId: string, by: Actor = {}): Promise<void> =>
      transaction(db, async (tx) => {
        const { count } = await tx.passwordCredential.updateMany({ where: { userId }, data: { mustChange: true } });
        if (count === 0) throw notFound({ detail: { userId } });
        await audit.record({ ...by, type: 'password.change-forced', outcome: 'success', subjectId: userId }, tx);
      }),

    /** Undefined for an account without a password. */
    async status(
      userId: string,
      tx?: Tx,
    ): Promise<{ mustChange: boolean; long: boolean; changedAt: Date } | undefined> {
      const stored = await storedPasswords.find(userId, tx);
      return stored && { mustChange: stored.mustChange, long: stored.long, changedAt: stored.changedAt };
    },
  };
}

// Checks the password of an account at a sign-in. A failure takes the same time for every account and for an unknown one: in each
// hash scheme, it costs as much as the most expensive stored hash. The schemes and costs in use (`kinds`) are read from the
// database each time, because another instance may have added some.

type PasswordCheck =
  /**
   * Right. `must-change`: an administrator demands a new one, or it is a temporary password. `too-short`: shorter than
   * allowed without a second factor. `setAt` tells it apart from a password that was set during the check.
   */
  | { outcome: 'ok' | 'must-change' | 'too-short'; setAt: Date }
  /** `reason` is for the audit log; the response must be the same for all of them, but for `disabled_account`: the password is right. */
  | { outcome: 'wrong'; reason: 'unknown_account' | 'no_password' | 'wrong_password' | 'disabled_account' };

type CheckPassword = (account: Account | undefined, plain: string) => Promise<PasswordCheck>;

/** Replaces the account id of an unknown login. */
export const NO_ACCOUNT = 'none';

function createCheckPassword(
  dependencies: Core & {
    hasSecondFactor(userId: string): Promise<boolean>;
    passwords: Passwords;
    storedPasswords: StoredPasswords;
  },
): CheckPassword {
  const { audit, hasSecondFactor, passwords, storedPasswords } = dependencies;

  async function verify(stored: StoredPassword | undefined, plain: string): Promise<{ ok: boolean; rehash: boolean }> {
    if (stored) return passwords.verify(stored.hash, plain);
    await passwords.dummyVerify(plain);
    return { ok: false, rehash: false };
  }

  const check: CheckPassword = async (account, plain) => {
    const stored = await storedPasswords.find(account?.id ?? NO_ACCOUNT);
    const { ok, rehash } = await verify(stored, plain);
    if (!account || !stored || !ok || !account.isActive) {
      await passwords.equalizeWork(plain, stored?.hash, await storedPasswords.kinds());
      if (!account) return { outcome: 'wrong', reason: 'unknown_account' };
      if (!stored) return { outcome: 'wrong', reason: 'no_password' };
      return { outcome: 'wrong', reason: ok ? 'disabled_account' : 'wrong_password' };
    }

    const long = passwordLength(plain) >= limits.password.minWithoutMfa;
    if (rehash || long !== stored.long) {
      const hash = rehash ? await passwords.hash(plain) : stored.hash;
      const isStored = await storedPasswords.rehash(account.id, stored.hash, { hash, long });
      if (rehash && isStored) {
        await audit.record({ type: 'password.rehashed', outcome: 'success', subjectId: account.id });
      }
    }
    const setAt = stored.changedAt;
    if (stored.mustChange) return { outcome: 'must-change', setAt };
    return { outcome: long || (await hasSecondFactor(account.id)) ? 'ok' : 'too-short', setAt };
  };
  return traced('password check', check);
}

// Prepares a new password: checks it against the rules and the lists of known passwords, and hashes it. Storing it is a
// step of its own, inside the caller's transaction.

type PreparedPassword =
  | { outcome: 'rejected'; faults: PasswordFault[] }
  /** Checked and hashed; `store` writes it in the caller's transaction, for example the one that uses a link up. */
  | { outcome: 'ready'; store(tx: Tx): Promise<void> };

export interface SetPassword extends Actor {
  /** The audit event: set by an administrator, changed by its owner, or reset with a link. */
  event?: 'password.set' | 'password.changed' | 'password.reset';
  /** A temporary password, to be changed at the next sign-in. */
  mustChange?: boolean;
}

type PreparePassword = (account: Account, plain: string, options?: SetPassword) => Promise<PreparedPassword>;

function createPreparePassword(
  dependencies: Core & CredentialsDependencies & { storedPasswords: StoredPasswords },
): PreparePassword {
  const { audit, breached, hasSecondFactor, passwords, serviceNames, storedPasswords } = dependencies;

  async function faultsOf(account: Account, password: string): Promise<PasswordFault[]> {
    const factor = await hasSecondFactor(account.id);
    const input = { password, hasSecondFactor: factor, account, serviceNames: serviceNames() };
    const faults = passwordFaults(input);
    if (faults.length > 0) return faults;
    const known = await breached.check(password);
    if (known !== 'clean') return [known];
    // "Password123" does not become better by a name before it.
    const { rest, found } = withoutKnownWords(input);
    if (found.length > 0 && (await breached.isCommon(rest.replace(/[^\p{L}\p{N}]+/gu, '')))) return found;
    // A forced change to the same password would change nothing.
    const stored = await storedPasswords.find(account.id);
    if (stored?.mustChange && (await passwords.verify(stored.hash, password)).ok) return ['unchanged'];
    return [];
  }

  return async (account, plain, { event = 'password.set', mustChange = false, ...by } = {}) => {
    const faults = await faultsOf(account, plain);
    if (faults.length > 0) return { outcome: 'rejected', faults };
    const long = passwordLength(plain) >= minimumLength(false);
    const password = { hash: await passwords.hash(plain), mustChange, long };
    return {
      outcome: 'ready',
      async store(tx) {
        // The second factor that allows a short password may have been removed during the hashing.
        if (!long && !(await hasSecondFactor(account.id, tx))) throw badRequest('password_rejected');
        await storedPasswords.replace(tx, account.id, password);
        const data = { mustChange };
        await audit.record({ ...by, type: event, outcome: 'success', subjectId: account.id, data }, tx);
      },
    };
  };
}
