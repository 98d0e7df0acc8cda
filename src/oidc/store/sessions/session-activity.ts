// The idle limit: each request that the user makes moves the end of the session, at most to its latest end. The column
// expires_at holds that end, so every query for live sessions follows the limit.
import { limits } from '../../../limits.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Db } from '../../../storage/database.ts';

export type SessionActivity = ReturnType<typeof createSessionActivity>;

export interface SessionActivityDependencies {
  db: Db;
  now: Clock;
  /** The setting `session_idle_minutes`, in seconds. */
  idleSeconds(): number;
  /** The latest end of a live session. */
  latestEndOf(uid: string): Promise<Date | undefined>;
}

const PAUSE_SECONDS = limits.session.activitySeconds;
const MAX_REMEMBERED = 10_000;

export function createSessionActivity({ db, now, idleSeconds, latestEndOf }: SessionActivityDependencies) {
  // Saves most of the statements; another instance does not know of it and writes once more.
  const recordedAt = new Map<string, number>();

  return {
    /** Records a request of the user, at most once a minute for each session; nothing for a session that has ended. */
    async recordActivity(uid: string): Promise<void> {
      const at = Math.floor(now().getTime() / 1000);
      if (at - (recordedAt.get(uid) ?? 0) < PAUSE_SECONDS) return;
      const endsAt = await latestEndOf(uid);
      if (!endsAt) return;
      if (recordedAt.size >= MAX_REMEMBERED) recordedAt.clear();
      recordedAt.set(uid, at);
      const end = Math.min(Math.floor(endsAt.getTime() / 1000), at + idleSeconds());
      // An ended session stays ended: it has no row, or its end has passed.
      const where = { uid, model: 'Session', expiresAt: { gt: BigInt(at) } };
      const { count } = await db.oidcArtifact.updateMany({ where, data: { expiresAt: BigInt(end) } });
      if (count === 0) return;
      await db.sessionDevice.updateMany({ where: { uid }, data: { lastSeenAt: now(), expiresAt: endsAt } });
    },
  };
}
