// What is known of a destination that takes nothing: since when, the time of the next attempt, and that it is paused after three days, of which
// administrators get an email. For destinations with a row of their own: event streams, and applications that are provisioned.
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { retryPauseSeconds } from './queue.ts';

/** Columns of the row of a destination. */
export interface Outage {
  /** Since the last success: each makes the next pause longer. */
  failures: number;
  failingSince: Date | null;
  /** Nothing is sent before. */
  retryAt: Date | null;
  lastError: string | null;
  /** Nothing is sent until an administrator resumes it. */
  pausedAt: Date | null;
}

/** What a success, and an administrator who resumes it, makes of the row. */
export const NO_FAILURES = { failures: 0, failingSince: null, retryAt: null, lastError: null };

/** The condition of a row whose destination is tried at this time. */
export const isTried = (at: Date) => ({ pausedAt: null, OR: [{ retryAt: null }, { retryAt: { lte: at } }] });

/** The condition of a row whose destination has taken nothing for an hour; it may be paused because of that. */
export const isDown = (at: Date) => ({ failingSince: { lt: new Date(at.getTime() - 3_600_000) } });

const MAX_REASON = 500;

interface OutageStore<Destination> {
  read(destination: Destination, tx: Tx): Promise<Outage | null>;
  write(destination: Destination, data: Partial<Outage>, tx: Tx): Promise<unknown>;
  /** Records the pause and tells administrators, in the transaction. */
  paused(destination: Destination, outage: { since: Date; reason: string }, tx: Tx): Promise<void>;
}

export function createOutages<Destination>({ db, now }: Base, store: OutageStore<Destination>) {
  /**
   * What came of an attempt. `failed` plans the next one, `rejected` lets the others go on, `ended` pauses at once. Resolves with whether the
   * destination is paused.
   */
  const note = (
    one: Destination,
    result: 'failed' | 'rejected' | 'ended',
    reason: string,
    pauseSeconds?: number,
  ): Promise<boolean> =>
    transaction(db, async (tx) => {
      const before = await store.read(one, tx);
      if (!before) return false;
      if (before.pausedAt) return true;
      const { failures, retryAt } = before;
      const at = now();
      // Attempts that were made beside each other are one failure.
      if (result !== 'ended' && failures > 0 && retryAt && retryAt > at) return false;
      const since = before.failingSince ?? at;
      const lastsMs = at.getTime() - since.getTime();
      const isPaused = result === 'ended' || lastsMs >= limits.delivery.pausedAfterSeconds * 1000;
      const lastError = reason.slice(0, MAX_REASON);
      const nextAt = new Date(at.getTime() + (pauseSeconds ?? retryPauseSeconds(failures)) * 1000);
      const data = {
        failingSince: since,
        lastError,
        ...(result !== 'rejected' && { failures: failures + 1, retryAt: nextAt }),
        ...(isPaused && { pausedAt: at }),
      };
      await store.write(one, data, tx);
      if (isPaused) await store.paused(one, { since, reason: lastError }, tx);
      return isPaused;
    });

  return {
    /** It took nothing: its next attempt is later each time, or after `pauseSeconds`. */
    failed: (one: Destination, reason: string, pauseSeconds?: number): Promise<boolean> =>
      note(one, 'failed', reason, pauseSeconds),
    /** It rejected one thing, and may take others: none of them waits, but it is paused once it took nothing for three days. */
    rejected: (one: Destination, reason: string): Promise<boolean> => note(one, 'rejected', reason),
    /** It wants nothing any more. */
    ended: (one: Destination, reason: string): Promise<boolean> => note(one, 'ended', reason),
  };
}
