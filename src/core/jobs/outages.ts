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
  /** Plans the next attempt, unless others go on; `isOver` pauses at once. Resolves with whether it is paused. */
  const note = (
    one: Destination,
    reason: string,
    { pauseSeconds, isOver, goesOn }: { pauseSeconds?: number; isOver?: true; goesOn?: true },
  ) =>
    transaction(db, async (tx): Promise<boolean> => {
      const before = await store.read(one, tx);
      if (!before || before.pausedAt) return before !== null;
      const { failures, failingSince } = before;
      const at = now();
      // Attempts that were made beside each other are one failure.
      if (!isOver && failures > 0 && before.retryAt && before.retryAt > at) return false;
      const since = failingSince ?? at;
      const retryAt = new Date(at.getTime() + (pauseSeconds ?? retryPauseSeconds(failures)) * 1000);
      const next = goesOn ? {} : { failures: failures + 1, retryAt };
      const lastError = reason.slice(0, MAX_REASON);
      const isPaused = isOver || at.getTime() - since.getTime() >= limits.delivery.pausedAfterSeconds * 1000;
      const data = { ...next, failingSince: since, lastError };
      await store.write(one, { ...data, ...(isPaused && { pausedAt: at }) }, tx);
      if (isPaused) await store.paused(one, { since, reason: lastError }, tx);
      return isPaused === true;
    });

  return {
    /** It took nothing: its next attempt is later each time, or after `pauseSeconds`. */
    failed: (one: Destination, reason: string, pauseSeconds?: number): Promise<boolean> =>
      note(one, reason, pauseSeconds === undefined ? {} : { pauseSeconds }),
    /** It rejected one thing, and may take others: none of them waits, but it is paused once it took nothing for three days. */
    rejected: (one: Destination, reason: string): Promise<boolean> => note(one, reason, { goesOn: true }),
    /** It wants nothing any more. */
    ended: (one: Destination, reason: string): Promise<boolean> => note(one, reason, { isOver: true }),
  };
}
