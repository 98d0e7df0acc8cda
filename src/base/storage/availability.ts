// Tracks whether the database responds. After an error that means it does not, operations wait for one probe on a separate connection.
// While probes fail, operations fail at once instead of each waiting for its own time limit, until a later probe succeeds.
import { systemStopwatch } from '../platform/clock.ts';
import { asUnavailable, DatabaseUnavailable, type UnavailableReason } from './unavailable.ts';

export interface AvailabilityOptions {
  /** Opens a separate connection and runs a query; rejects within its time limit. */
  look(): Promise<void>;
  /** The pause between two probes while the database is unavailable. */
  pauseMs: number;
  /** Called with the reason when the database becomes unavailable, and when it is available again. */
  onChange?: ((away: DatabaseUnavailable | undefined) => void) | undefined;
  /** Called after the first probe after an error, and after the first successful probe, because open connections may be dead. */
  onLook?: ((isThere: boolean, because: DatabaseUnavailable) => void) | undefined;
  /** Called with the reason of an operation that failed although the database responds. */
  onFailure?: ((reason: DatabaseUnavailable) => void) | undefined;
}

export type Availability = ReturnType<typeof createAvailability>;

const SUSPECT = new Set<UnavailableReason>(['busy', 'read-only']);

export function createAvailability({ look, pauseMs, onChange, onLook, onFailure }: AvailabilityOptions) {
  let state: 'up' | 'looking' | 'away' | 'closed' = 'up';
  let reason = new DatabaseUnavailable('unreachable');
  let looking: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const outages = watchOutages(onChange);

  async function lookOnce(): Promise<void> {
    const wasAway = state === 'away';
    if (!wasAway) state = 'looking';
    try {
      await look();
      if (state === 'closed') return;
      state = 'up';
      onLook?.(true, reason);
      if (wasAway) outages.changed(undefined);
      else if (!reason.isConnectionLost) onFailure?.(reason);
    } catch (error) {
      if (state === 'closed') return;
      reason = asUnavailable(error) ?? new DatabaseUnavailable('unreachable', error);
      state = 'away';
      if (!wasAway) {
        onLook?.(false, reason);
        outages.changed(reason);
      }
      timer = setTimeout(() => void lookOnce(), pauseMs);
      timer.unref();
    }
  }

  async function afterLook<T>(operation: () => Promise<T>): Promise<T> {
    if (state === 'looking') await looking;
    if (state === 'away') throw new DatabaseUnavailable(reason.reason, reason);
    return operation();
  }

  function fail(error: unknown): never {
    const unavailable = asUnavailable(error);
    if (!unavailable) throw error;
    if (state !== 'up') throw unavailable;
    // A pool without a free connection may be busy, or all its connections may be silent. After a failover they lead to a standby.
    if (unavailable.isConnectionLost || SUSPECT.has(unavailable.reason)) {
      reason = unavailable;
      looking = lookOnce();
    } else onFailure?.(unavailable);
    throw unavailable;
  }

  return {
    /** Runs a database operation if the database is available. Rejects with DatabaseUnavailable, or with the operation's error. */
    run: <T>(operation: () => Promise<T>): Promise<T> =>
      (state === 'up' ? operation() : afterLook(operation)).catch(fail),
    isUp: (): boolean => state === 'up',
    /** The last outage; one that goes on ends now. */
    lastOutage: outages.last,
    /** Rejects with the error of an operation, as DatabaseUnavailable if it is one. For operations that have already started. */
    fail,
    close(): void {
      state = 'closed';
      clearTimeout(timer);
    },
  };
}

// The last outage of the database: refresh tokens may be retried for longer after one.

/** A time in which the database could not be used, in milliseconds of the stopwatch. */
export interface Outage {
  from: number;
  to: number;
}

type OnChange = (away: DatabaseUnavailable | undefined) => void;

/**
 * `changed` takes the reason when the database becomes unavailable and undefined when it is available again, and calls `onChange`.
 * `last` returns the last outage; one that goes on ends now, because reads of SQLite succeed before the first write does.
 */
export function watchOutages(onChange: OnChange = () => {}): { changed: OnChange; last(): Outage | undefined } {
  let began: number | undefined;
  let last: Outage | undefined;
  return {
    changed(away) {
      const now = systemStopwatch();
      if (away) began = now;
      else {
        last = { from: began ?? now, to: now };
        began = undefined;
      }
      onChange(away);
    },
    last: () => (began === undefined ? last : { from: began, to: systemStopwatch() }),
  };
}
