// The rows of `password_credentials`: the hash of an account's password, and what is known about that password.

import type { Tx } from '../../base/storage/database.ts';
import { hotStatements } from '../../base/storage/statements.ts';
import type { Core } from '../../core/core.ts';
import { deleteLinkTokens } from '../../core/mail/link-tokens.ts';
import { kindOf } from './hash-work.ts';
import { isCurrentHash } from './password.ts';

export interface StoredPassword {
  hash: string;
  /** The owner must change it at the next sign-in. */
  mustChange: boolean;
  /** Long enough for an account without a second factor. */
  long: boolean;
  changedAt: Date;
}

export type StoredPasswords = ReturnType<typeof createStoredPasswords>;

interface Row {
  hash: string;
  mustChange: boolean | number;
  long: boolean | number;
  changedAt: Date | string;
}

/** The kind of current hashes. When the parameters change, a migration sets the kind of the older hashes (hash-work.ts). */
const CURRENT_KIND = '';

// Plain SQL: every sign-in runs it twice.
export const statements = hotStatements('passwords', {
  find: `SELECT user_id AS "userId", hash, mac, must_change AS "mustChange", long, changed_at AS "changedAt"
    FROM password_credentials WHERE user_id = ?`,
});

export function createStoredPasswords(
  dependencies: Core & {
    /** Ends the account's sign-ins that are not finished. */
    abandonSignIns(userId: string, tx: Tx): Promise<void>;
  },
) {
  const { db, sql, now, abandonSignIns } = dependencies;

  return {
    async find(userId: string, tx?: Tx): Promise<StoredPassword | undefined> {
      const [row] = await (tx ? sql.in(tx) : sql).genuine<Row>('password_credentials', statements.find, userId);
      if (!row) return undefined;
      const { hash, mustChange, long, changedAt } = row;
      return { hash, mustChange: Boolean(mustChange), long: Boolean(long), changedAt: new Date(changedAt) };
    },

    /** Stores a new password, and ends the links and sign-ins that began with the old one. */
    async replace(tx: Tx, userId: string, password: Omit<StoredPassword, 'changedAt'>): Promise<void> {
      const data = { ...password, kind: kindOfStored(password.hash), changedAt: now() };
      await tx.passwordCredential.upsert({ where: { userId }, create: { userId, ...data }, update: data });
      // Older links become invalid, also that of a change of address: an attacker who had the old password could direct the
      // next reset to an address of their own.
      await deleteLinkTokens(tx, userId, ['reset-password', 'invite', 'change-email']);
      // A sign-in that began with the old password must not finish, not even one that only has to return to the engine.
      await abandonSignIns(userId, tx);
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
