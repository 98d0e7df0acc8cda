// The password of an account: set it, check it, import its hash. What follows from a change, such as ending sessions
// and notices to the owner, is up to the caller.

import { badRequest, invalidInput, notFound } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { traced } from '../../base/platform/tracing.ts';
import { type Tx, transaction, withinTransaction } from '../../base/storage/database.ts';
import { hotStatements } from '../../base/storage/statements.ts';
import { fault } from '../../base/texts/faults.ts';
import { type Text, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { deleteLinkTokens } from '../../core/mail/link-tokens.ts';
import type { Account } from '../accounts/account.ts';
import { inactiveReason } from '../accounts/active.ts';
import type { Breached } from './breached.ts';
import { kindOf } from './hash-work.ts';
import { isAcceptableHash, isCurrentHash, type Passwords } from './password.ts';
import {
  minimumLength,
  type PasswordFault,
  type PasswordLengths,
  passwordFaults,
  passwordLength,
  withoutKnownWords,
} from './password-policy.ts';

export type Credentials = ReturnType<typeof createCredentials>;

export interface CredentialsDependencies {
  passwords: Passwords;
  breached: Breached;
  hasSecondFactor(userId: string, tx?: Tx): Promise<boolean>;
  /** Ends the account's sign-ins that are not finished. */
  abandonSignIns(userId: string, tx: Tx): Promise<void>;
  /** Ends the app passwords of the account. */
  endAppPasswords(userId: string, by: Actor, tx: Tx): Promise<void>;
  /** The product's name and the issuer's host, which must not be part of a password. */
  serviceNames(): readonly string[];
}

export function createCredentials(dependencies: Core & CredentialsDependencies) {
  const { db, audit, settings, endAppPasswords } = dependencies;
  const lengths = (): PasswordLengths => {
    const { password_min_length: alone, password_min_length_with_mfa: withMfa } = settings.latest();
    return { alone, withMfa };
  };
  const storedPasswords = createStoredPasswords(dependencies);
  const preparePassword = createPreparePassword({ ...dependencies, lengths, storedPasswords });

  return {
    /** Checks and hashes a new password without storing it. */
    preparePassword,
    /** When the outcome is `wrong`, does the same work for every account and for an unknown one. */
    checkPassword: createCheckPassword({ ...dependencies, lengths, storedPasswords }),

    /** The shortest password that an account may have. */
    minimumLength: (hasSecondFactor: boolean): number => minimumLength(hasSecondFactor, lengths()),
    /** One sentence that says what to do about a password. */
    advice: (fault: PasswordFault, hasSecondFactor: boolean): Text =>
      passwordAdvice(fault, hasSecondFactor, minimumLength(hasSecondFactor, lengths())),

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
      await withinTransaction(db, outer, async (tx) => {
        await storedPasswords.replace(tx, userId, { hash, mustChange: false, long: false }, by);
        await audit.record({ ...by, type: 'password.imported', outcome: 'success', subjectId: userId }, tx);
      });
    },

    forceChange: (userId: string, by: Actor = {}): Promise<void> =>
      transaction(db, async (tx) => {
        const { count } = await tx.passwordCredential.updateMany({ where: { userId }, data: { mustChange: true } });
        if (count === 0) throw notFound({ detail: { userId } });
        await endAppPasswords(userId, by, tx);
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
  /** `reason` is for the audit log; the response must be the same for all of them, unless the account `isInactive`: the password is right. */
  | { outcome: 'wrong'; reason: 'unknown_account' | 'no_password' | 'wrong_password' }
  | { outcome: 'wrong'; reason: ReturnType<typeof inactiveReason>; isInactive: true };

type CheckPassword = (account: Account | undefined, plain: string) => Promise<PasswordCheck>;

/** Replaces the account id of an unknown login. */
export const NO_ACCOUNT = 'none';

function createCheckPassword(
  dependencies: Core & {
    hasSecondFactor(userId: string): Promise<boolean>;
    lengths(): PasswordLengths;
    passwords: Passwords;
    storedPasswords: StoredPasswords;
  },
): CheckPassword {
  const { audit, hasSecondFactor, lengths, passwords, storedPasswords } = dependencies;

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
      return ok
        ? { outcome: 'wrong', reason: inactiveReason(account), isInactive: true }
        : { outcome: 'wrong', reason: 'wrong_password' };
    }

    const long = passwordLength(plain) >= minimumLength(false, lengths());
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
  dependencies: Core & CredentialsDependencies & { lengths(): PasswordLengths; storedPasswords: StoredPasswords },
): PreparePassword {
  const { audit, breached, hasSecondFactor, lengths, passwords, serviceNames, storedPasswords } = dependencies;

  async function faultsOf(account: Account, password: string, current: PasswordLengths): Promise<PasswordFault[]> {
    const factor = await hasSecondFactor(account.id);
    const input = { password, hasSecondFactor: factor, lengths: current, account, serviceNames: serviceNames() };
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
    const current = lengths();
    const faults = await faultsOf(account, plain, current);
    if (faults.length > 0) return { outcome: 'rejected', faults };
    const long = passwordLength(plain) >= minimumLength(false, current);
    const password = { hash: await passwords.hash(plain), mustChange, long };
    return {
      outcome: 'ready',
      async store(tx) {
        // The second factor that allows a short password may have been removed during the hashing.
        if (!long && !(await hasSecondFactor(account.id, tx))) throw badRequest('password_rejected');
        await storedPasswords.replace(tx, account.id, password, by);
        const data = { mustChange };
        await audit.record({ ...by, type: event, outcome: 'success', subjectId: account.id, data }, tx);
      },
    };
  };
}

// The rows of `password_credentials`: the hash of an account's password, and what is known about that password.

interface StoredPassword {
  hash: string;
  /** The owner must change it at the next sign-in. */
  mustChange: boolean;
  /** Long enough for an account without a second factor. */
  long: boolean;
  changedAt: Date;
}

type StoredPasswords = ReturnType<typeof createStoredPasswords>;

interface Row {
  hash: string;
  mustChange: boolean | number;
  long: boolean | number;
  changedAt: Date | string;
}

/** The kind of current hashes. When the parameters change, a migration sets the kind of the older hashes (hash-work.ts). */
const CURRENT_KIND = '';

// Plain SQL: every sign-in runs it twice.
const statements = hotStatements('passwords', {
  find: `SELECT user_id AS "userId", hash, mac, must_change AS "mustChange", long, changed_at AS "changedAt"
    FROM password_credentials WHERE user_id = ?`,
});

function createStoredPasswords(
  dependencies: Core & {
    /** Ends the account's sign-ins that are not finished. */
    abandonSignIns(userId: string, tx: Tx): Promise<void>;
    /** Ends the app passwords of the account. */
    endAppPasswords(userId: string, by: Actor, tx: Tx): Promise<void>;
  },
) {
  const { db, sql, now, abandonSignIns, endAppPasswords } = dependencies;

  return {
    async find(userId: string, tx?: Tx): Promise<StoredPassword | undefined> {
      const [row] = await (tx ? sql.in(tx) : sql).genuine<Row>('password_credentials', statements.find, userId);
      if (!row) return undefined;
      const { hash, mustChange, long, changedAt } = row;
      return { hash, mustChange: Boolean(mustChange), long: Boolean(long), changedAt: new Date(changedAt) };
    },

    /** Stores a new password, and ends the app passwords, links and sign-ins that began with the old one. */
    async replace(tx: Tx, userId: string, password: Omit<StoredPassword, 'changedAt'>, by: Actor): Promise<void> {
      const data = { ...password, kind: kindOfStored(password.hash), changedAt: now() };
      await tx.passwordCredential.upsert({ where: { userId }, create: { userId, ...data }, update: data });
      // Older links become invalid, also that of a change of address: an attacker who had the old password could direct the
      // next reset to an address of their own.
      await deleteLinkTokens(tx, userId, ['reset-password', 'invite', 'accepted', 'change-email']);
      // A sign-in that began with the old password must not finish, not even one that only has to return to the engine.
      await abandonSignIns(userId, tx);
      await endAppPasswords(userId, by, tx);
    },

    /** Stores another hash of the same password; false when the password was changed meanwhile. */
    async rehash(userId: string, oldHash: string, password: Pick<StoredPassword, 'hash' | 'long'>): Promise<boolean> {
      const where = { userId, hash: oldHash };
      const data = { ...password, kind: kindOfStored(password.hash) };
      return (await db.passwordCredential.updateMany({ where, data })).count === 1;
    },

    /** The kinds of all hashes (hash-work.ts) that cost more or less to verify than a current one. */
    async kinds(): Promise<string[]> {
      const where = { kind: { gt: CURRENT_KIND } };
      const groups = await db.passwordCredential.groupBy({ by: ['kind'], where });
      return groups.map(({ kind }) => kind);
    },
  };
}

function kindOfStored(hash: string): string {
  return isCurrentHash(hash) ? CURRENT_KIND : kindOf(hash);
}

/** What a user reads about a password that the rules reject: one sentence. @param count the shortest password that is accepted */
export function passwordAdvice(fault: PasswordFault, hasSecondFactor: boolean, count: number): Text {
  switch (fault) {
    case 'too_short':
      return hasSecondFactor ? t('password.too-short-with-mfa', { count }) : t('password.too-short', { count });
    case 'too_long':
      return t('password.too-long', { count: limits.password.max });
    default:
      return t(`password.${fault}`);
  }
}
