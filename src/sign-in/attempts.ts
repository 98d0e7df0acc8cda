// The progress of one sign-in between its pages, stored in the database so that any instance can serve the next page.
// The OIDC engine learns the account only when every required factor is proven.

import { limits } from '../base/limits.ts';
import type { Tx } from '../base/storage/database.ts';
import { hotStatements } from '../base/storage/statements.ts';
import type { Core } from '../core/core.ts';
import type { Acr } from '../people/mfa/acr.ts';
import { removeInteractions } from '../protocols/oidc/store/removals.ts';
import type { ProvenUpstream } from './first-factor/upstream.ts';

export interface Attempt {
  /** Identifier of the engine's interaction. */
  uid: string;
  /** The account, once the first factor was proven. */
  userId: string | undefined;
  /** Authentication methods proven in this attempt (`amr`, RFC 8176). */
  amr: string[];
  /** When the password given here was set, in epoch milliseconds. A later password makes this attempt invalid. */
  passwordSetAt?: number | undefined;
  /** The user chose to sign in with another account than that of the session. */
  choosesOtherAccount: boolean;
  /** The WebAuthn challenge of the page of this step. */
  challenge?: string | undefined;
  /** A code was sent through this channel. */
  sent?: 'email' | 'sms' | undefined;
  /** The second factor was a recovery code, and the page that offers to replace the lost factor was not answered yet. */
  usedRecoveryCode?: boolean | undefined;
  /** The user has been told that the account will be deleted, and goes on. */
  knowsDeletion?: boolean | undefined;
  /** The user has been asked for own fields: the optional ones are not asked for again. */
  knowsFields?: boolean | undefined;
  /** The user chose not to be asked for the second factor in this browser again. */
  trustBrowser: boolean;
  /** What was proven at an upstream identity provider. */
  upstream?: ProvenUpstream | undefined;
  /** The acr that was last requested of the upstream. */
  upstreamLevel?: Acr | undefined;
  /** The browser was sent to the upstream for a stronger sign-in of this account. */
  stepUp?: AttemptedStepUp | undefined;
  /** The browser was sent to the connection that the request names; the next page offers the choice. */
  wasSentUpstream?: boolean | undefined;
  /** The username or address that was typed first, where it decides how the user signs in. */
  login?: string | undefined;
}

export interface AttemptedStepUp {
  userId: string;
  level: Acr;
  /** The answer came, and proved less. */
  isUnmet?: boolean;
}

export type Attempts = ReturnType<typeof createAttempts>;

interface Row {
  userId: string | null;
  factors: string;
  data: string;
  expiresAt: Date;
}

const TABLE = 'sign_in_attempts';

// Plain SQL: each page of a sign-in runs these several times.
export const statements = hotStatements('sign-in-attempts', {
  find: `SELECT uid, user_id AS "userId", factors, data, expires_at AS "expiresAt", mac
    FROM sign_in_attempts WHERE uid = ?`,
  save: `INSERT INTO sign_in_attempts (uid, user_id, factors, data, expires_at, mac) VALUES (?,?,?,?,?,?)
    ON CONFLICT (uid) DO UPDATE SET user_id = excluded.user_id, factors = excluded.factors, data = excluded.data,
      expires_at = excluded.expires_at, mac = excluded.mac`,
  remove: 'DELETE FROM sign_in_attempts WHERE uid = ?',
});

export function createAttempts({ sql, now }: Core) {
  return {
    /** The attempt of an interaction; an empty one before anything was proven. */
    async find(uid: string): Promise<Attempt> {
      const [row] = await sql.genuine<Row>(TABLE, statements.find, uid);
      if (!row || row.expiresAt <= now())
        return { uid, userId: undefined, amr: [], choosesOtherAccount: false, trustBrowser: false };
      const data = JSON.parse(row.data) as Partial<Attempt>;
      const { choosesOtherAccount = false, trustBrowser = false, ...rest } = data;
      const amr = JSON.parse(row.factors) as string[];
      return { ...rest, uid, userId: row.userId ?? undefined, amr, choosesOtherAccount, trustBrowser };
    },

    async save({ uid, userId, amr, ...data }: Attempt): Promise<void> {
      const expiresAt = new Date(now().getTime() + limits.interaction.seconds * 1000);
      const row = { userId: userId ?? null, factors: JSON.stringify(amr), data: JSON.stringify(data), expiresAt };
      const mac = sql.macs.macOf(TABLE, { uid, ...row });
      await sql.later(statements.save, [uid, row.userId, row.factors, row.data, expiresAt, mac]);
    },

    remove: (uid: string): Promise<void> => sql.later(statements.remove, [uid]),
  };
}

/** Removes the account's sign-ins that are not finished, such as those that proved a password which has been replaced. */
export async function removeAttemptsOf(userId: string, tx: Tx): Promise<void> {
  await tx.signInAttempt.deleteMany({ where: { userId } });
}

// Ends the sign-ins of an account that are not finished: when the password that they began with is void, or its sessions end.

/** Removes the account's attempts and the interactions of the engine, also those that only have to be resumed. */
export async function abandonSignIns(userId: string, tx: Tx): Promise<void> {
  await removeAttemptsOf(userId, tx);
  await removeInteractions(userId, tx);
}
