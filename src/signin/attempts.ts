// The progress of one sign-in between its pages, in the database: any instance can serve the next page, and the engine
// hears of the person only when all that was needed is proven.
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Db } from '../platform/db.ts';

export interface Attempt {
  uid: string;
  /** Who this is, once the first factor was proven. */
  userId: string | undefined;
  /** Authentication methods proven here, as `amr` names them (RFC 8176). */
  amr: string[];
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

export function createAttempts({ db, now }: { db: Db; now: Clock }): Attempts {
  return {
    async find(uid) {
      const row = await db.signInAttempt.findUnique({ where: { uid } });
      if (!row || row.expiresAt <= now())
        return { uid, userId: undefined, amr: [], wantsOther: false, trustBrowser: false };
      const { wantsOther = false, trustBrowser = false, challenge, sent } = JSON.parse(row.data) as Partial<Attempt>;
      const amr = JSON.parse(row.factors) as string[];
      return { uid, userId: row.userId ?? undefined, amr, wantsOther, trustBrowser, challenge, sent };
    },

    async save({ uid, userId, amr, wantsOther, trustBrowser, challenge, sent }) {
      const row = {
        userId: userId ?? null,
        factors: JSON.stringify(amr),
        data: JSON.stringify({ wantsOther, trustBrowser, challenge, sent }),
        expiresAt: new Date(now().getTime() + limits.interaction.seconds * 1000),
      };
      await db.signInAttempt.upsert({ where: { uid }, create: { uid, ...row }, update: row });
    },

    async remove(uid) {
      await db.signInAttempt.deleteMany({ where: { uid } });
    },
  };
}
