// The password of an account: setting it, checking it, importing its hash (seed 5.5). What follows from a change, such
// as ending sessions and telling the person, belongs to the caller.
import type { Account } from '../accounts/account.ts';
import type { Audit, By } from '../audit/audit.ts';
import { badRequest, notFound } from '../http/errors.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { DatabaseKind } from '../platform/database-url.ts';
import { type Db, sqlIn, type Tx, transaction } from '../platform/db.ts';
import { type Sql, sqlFor } from '../platform/sql.ts';
import type { Breached } from './breached.ts';
import { createEvenTime } from './even-time.ts';
import { CURRENT_PREFIX, isAcceptableHash, isCurrentHash, type Passwords } from './password.ts';
import { minimumLength, type PasswordFault, passwordFaults, passwordLength } from './password-policy.ts';

export type PasswordCheck =
  /**
   * Right. `must-change`: but an admin wants another one, or it is a one-time password. `too-short`: but shorter than an
   * account without a second factor may have. `setAt` tells it from one that was set while this one was checked.
   */
  | { outcome: 'ok' | 'must-change' | 'too-short'; setAt: Date }
  /** `reason` is for the audit only: to the outside these are one and the same. */
  | { outcome: 'wrong'; reason: 'unknown_account' | 'no_password' | 'wrong_password' | 'disabled_account' };

export type PreparedPassword =
  | { outcome: 'refused'; faults: PasswordFault[] }
  /** Checked and hashed; `store` writes it in the caller's transaction, such as the one that redeems a link. */
  | { outcome: 'ready'; store(tx: Tx): Promise<void> };

export interface SetPassword extends By {
  /** What the audit calls it: set by an admin, changed by its owner, or reset by a link. */
  event?: 'password.set' | 'password.changed' | 'password.reset';
  /** A one-time password, to be replaced at the next sign-in. */
  mustChange?: boolean;
}

export interface Credentials {
  preparePassword(account: Account, plain: string, options?: SetPassword): Promise<PreparedPassword>;
  setPassword(account: Account, plain: string, options?: SetPassword): Promise<'ok' | PasswordFault[]>;
  /** Takes the same time for every account, known or not, whenever the outcome is `wrong`. */
  checkPassword(account: Account | undefined, plain: string): Promise<PasswordCheck>;
  /** Stores a hash from another system; throws invalid_input for one that is not accepted. */
  importHash(userId: string, hash: string, by?: By, tx?: Tx): Promise<void>;
  forceChange(userId: string, by?: By): Promise<void>;
  /** Undefined for an account without a password. */
  status(userId: string, tx?: Tx): Promise<{ mustChange: boolean; long: boolean; changedAt: Date } | undefined>;
}

export interface CredentialsNeeds {
  db: Db;
  sql: Sql;
  kind: DatabaseKind;
  now: Clock;
  audit: Audit;
  passwords: Passwords;
  breached: Breached;
  hasSecondFactor(userId: string, tx?: Tx): Promise<boolean>;
  /** The product's name and the issuer's host: not to be part of a password. */
  serviceNames: readonly string[];
}

const NOBODY = 'nobody';

interface Row {
  hash: string;
  mustChange: boolean | number;
  long: boolean | number;
  changedAt: Date | string;
}

// Plain: every sign-in asks twice.
const SQL = {
  find: `SELECT hash, must_change AS "mustChange", long, changed_at AS "changedAt"
    FROM password_credentials WHERE user_id = ?`,
};

export function createCredentials(needs: CredentialsNeeds): Credentials {
  const { db, sql, kind, now, audit, passwords, breached, hasSecondFactor, serviceNames } = needs;
  const text = sqlFor(kind, SQL);
  const evenTime = createEvenTime({
    hasForeignHashes: async () =>
      (await db.passwordCredential.findFirst({
        where: { NOT: { hash: { startsWith: CURRENT_PREFIX } } },
        select: { userId: true },
      })) !== null,
  });

  async function faultsOf(account: Account, password: string): Promise<PasswordFault[]> {
    const factor = await hasSecondFactor(account.id);
    const faults = passwordFaults({ password, hasSecondFactor: factor, account, serviceNames });
    if (faults.length > 0) return faults;
    const known = await breached.check(password);
    if (known !== 'clean') return [known];
    // A forced change that may keep the old password changes nothing.
    const row = await find(account.id);
    if (row?.mustChange && (await passwords.verify(row.hash, password)).ok) return ['unchanged'];
    return [];
  }

  async function preparePassword(
    account: Account,
    plain: string,
    options: SetPassword = {},
  ): Promise<PreparedPassword> {
    const faults = await faultsOf(account, plain);
    if (faults.length > 0) return { outcome: 'refused', faults };
    const { event = 'password.set', mustChange = false, ...by } = options;
    const long = passwordLength(plain) >= minimumLength(false);
    const row = { hash: await passwords.hash(plain), mustChange, long };
    return {
      outcome: 'ready',
      async store(tx) {
        // The second factor that allowed a short password may have been removed while this one was hashed.
        if (!long && !(await hasSecondFactor(account.id, tx))) throw badRequest('password_refused');
        await write(tx, account.id, row);
        const data = { mustChange };
        await audit.record({ ...by, type: event, outcome: 'success', subjectId: account.id, data }, tx);
      },
    };
  }

  async function find(userId: string, tx?: Tx) {
    const [row] = await (tx ? sqlIn(tx) : sql).query<Row>(text.find, userId);
    if (!row) return undefined;
    const { hash, mustChange, long, changedAt } = row;
    return { hash, mustChange: Boolean(mustChange), long: Boolean(long), changedAt: new Date(changedAt) };
  }

  async function write(tx: Tx, userId: string, row: { hash: string; mustChange: boolean; long: boolean }) {
    const data = { ...row, changedAt: now() };
    await tx.passwordCredential.upsert({ where: { userId }, create: { userId, ...data }, update: data });
    // Links that were asked for before have nothing to set any more; least of all another address, to which whoever had
    // the old password would have the next reset sent.
    await tx.passwordResetToken.deleteMany({ where: { userId, usedAt: null } });
    await tx.mailToken.deleteMany({ where: { userId, purpose: { in: ['invite', 'change-email'] }, usedAt: null } });
    // A sign-in that was begun with the old password must not be finished, not even the one that only has to go back.
    await tx.signInAttempt.deleteMany({ where: { userId } });
    await tx.oidcArtifact.deleteMany({ where: { accountId: userId, model: 'Interaction' } });
  }

  return {
    preparePassword,

    async setPassword(account, plain, options) {
      const prepared = await preparePassword(account, plain, options);
      if (prepared.outcome === 'refused') return prepared.faults;
      await transaction(db, prepared.store);
      return 'ok';
    },

    async checkPassword(account, plain) {
      const time = evenTime.begin();
      const row = await find(account?.id ?? NOBODY);
      const { ok, rehash } = row ? await passwords.verify(row.hash, plain) : await nothing(passwords, plain);
      if (row && !isCurrentHash(row.hash)) time.foreign();
      if (!account || !row || !ok || !account.isActive) {
        await time.fail();
        if (!account) return { outcome: 'wrong', reason: 'unknown_account' };
        if (!row) return { outcome: 'wrong', reason: 'no_password' };
        return { outcome: 'wrong', reason: ok ? 'disabled_account' : 'wrong_password' };
      }

      const long = passwordLength(plain) >= limits.password.minWithoutMfa;
      if (rehash || long !== row.long) {
        const hash = rehash ? await passwords.hash(plain) : row.hash;
        // Only while it is still the hash that was verified: a change made meanwhile wins.
        const same = { userId: account.id, hash: row.hash };
        const { count } = await db.passwordCredential.updateMany({ where: same, data: { hash, long } });
        if (rehash && count === 1) {
          await audit.record({ type: 'password.rehashed', outcome: 'success', subjectId: account.id });
        }
      }
      const setAt = row.changedAt;
      if (row.mustChange) return { outcome: 'must-change', setAt };
      return { outcome: long || (await hasSecondFactor(account.id)) ? 'ok' : 'too-short', setAt };
    },

    async importHash(userId, hash, by = {}, outer) {
      if (!isAcceptableHash(hash)) {
        throw badRequest('invalid_input', {
          fields: [{ field: 'password_hash', message: 'Give an Argon2, bcrypt, scrypt or PBKDF2 hash.' }],
        });
      }
      const work = async (tx: Tx) => {
        await write(tx, userId, { hash, mustChange: false, long: false });
        await audit.record({ ...by, type: 'password.imported', outcome: 'success', subjectId: userId }, tx);
      };
      await (outer ? work(outer) : transaction(db, work));
      evenTime.imported();
    },

    forceChange: (userId, by = {}) =>
      transaction(db, async (tx) => {
        const { count } = await tx.passwordCredential.updateMany({ where: { userId }, data: { mustChange: true } });
        if (count === 0) throw notFound({ detail: { userId } });
        await audit.record({ ...by, type: 'password.change-forced', outcome: 'success', subjectId: userId }, tx);
      }),

    async status(userId, tx) {
      const row = await find(userId, tx);
      return row && { mustChange: row.mustChange, long: row.long, changedAt: row.changedAt };
    },
  };
}

async function nothing(passwords: Passwords, plain: string): Promise<{ ok: false; rehash: false }> {
  await passwords.dummyVerify(plain);
  return { ok: false, rehash: false };
}
