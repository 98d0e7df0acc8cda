// The progress of one sign-in between its pages, in the database: any instance can serve the next page, and the engine
// hears of the person only when all that was needed is proven.
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { DatabaseKind } from '../platform/database-url.ts';
import { type Sql, sqlFor } from '../platform/sql.ts';

export interface Attempt {
  uid: string;
  /** Who this is, once the first factor was proven. */
  userId: string | undefined;
  /** Authentication methods proven here, as `amr` names them (RFC 8176). */
  amr: string[];
  /** When the password that was given here had been set, in epoch milliseconds; void once another one is. */
  passwordSetAt?: number | undefined;
  /** The person asked for another account than the one of the session. */
  wantsOther: boolean;
  /** The WebAuthn challenge that the page of this step carries. */
  challenge?: string | undefined;
  /** A code is on its way. */
  sent?: 'email' | 'sms' | undefined;
  /** The person asked not to be asked for the second factor here again. */
  trustBrowser: boolean;
}

export interface Attempts {
  /** The attempt of an interaction; an empty one before anything was proven. */
  find(uid: string): Promise<Attempt>;
  save(attempt: Attempt): Promise<void>;
  remove(uid: string): Promise<void>;
}

interface Row {
  userId: string | null;
  factors: string;
  data: string;
  expiresAt: Date;
}

// Plain statements: each page of a sign-in passes here several times.
const SQL = {
  find: `SELECT user_id AS "userId", factors, data, expires_at AS "expiresAt" FROM sign_in_attempts WHERE uid = ?`,
  save: `INSERT INTO sign_in_attempts (uid, user_id, factors, data, expires_at) VALUES (?,?,?,?,?)
    ON CONFLICT (uid) DO UPDATE SET user_id = excluded.user_id, factors = excluded.factors, data = excluded.data,
      expires_at = excluded.expires_at`,
  remove: 'DELETE FROM sign_in_attempts WHERE uid = ?',
};

export interface AttemptsNeeds {
  sql: Sql;
  kind: DatabaseKind;
  now: Clock;
}

export function createAttempts({ sql, kind, now }: AttemptsNeeds): Attempts {
  const text = sqlFor(kind, SQL);

  return {
    async find(uid) {
      const [row] = await sql.query<Row>(text.find, uid);
      if (!row || row.expiresAt <= now())
        return { uid, userId: undefined, amr: [], wantsOther: false, trustBrowser: false };
      const kept = JSON.parse(row.data) as Partial<Attempt>;
      const { wantsOther = false, trustBrowser = false, challenge, sent, passwordSetAt } = kept;
      const amr = JSON.parse(row.factors) as string[];
      return { uid, userId: row.userId ?? undefined, amr, wantsOther, trustBrowser, challenge, sent, passwordSetAt };
    },

    async save({ uid, userId, amr, wantsOther, trustBrowser, challenge, sent, passwordSetAt }) {
      const expiresAt = new Date(now().getTime() + limits.interaction.seconds * 1000);
      const data = JSON.stringify({ wantsOther, trustBrowser, challenge, sent, passwordSetAt });
      await sql.execute(text.save, uid, userId ?? null, JSON.stringify(amr), data, expiresAt);
    },

    async remove(uid) {
      await sql.execute(text.remove, uid);
    },
  };
}
