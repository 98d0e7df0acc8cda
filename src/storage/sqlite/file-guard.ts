// Whether an open SQLite file can be used: it was not removed or replaced, for SQLite would write on into the old file, which is gone at
// the next start; and the last write did not fail.
import { statSync } from 'node:fs';
import type { Availability, AvailabilityOptions } from '../availability.ts';
import { watchOutages } from '../outages.ts';
import { asUnavailable, DatabaseUnavailable } from '../unavailable.ts';

const CHECK_MS = 250;

export interface SqliteAvailability extends Availability {
  /** A write has succeeded. */
  written(): void;
}

/**
 * The availability of an open SQLite file: the file is still at its path, which is checked a few times in a second at most. `onChange`
 * is called with the first error, and when a write succeeds again; reads succeed on a full disk too.
 */
export function sqliteAvailability(file: string, onChange?: AvailabilityOptions['onChange']): SqliteAvailability {
  const opened = statSync(file);
  let isFailing = false;
  const outages = watchOutages(onChange);
  let checkedAt = 0;

  function check(): void {
    const now = performance.now();
    if (now - checkedAt < CHECK_MS) return;
    const current = statOf(file);
    if (current?.ino !== opened.ino || current.dev !== opened.dev)
      throw new DatabaseUnavailable('file missing', new Error('the database file was removed or replaced'));
    checkedAt = now;
  }

  function fail(error: unknown): never {
    const unavailable = asUnavailable(error);
    if (unavailable && !isFailing) {
      isFailing = true;
      outages.changed(unavailable);
    }
    throw unavailable ?? error;
  }

  return {
    async run(operation) {
      try {
        check();
        return await operation();
      } catch (error) {
        return fail(error);
      }
    },
    written() {
      if (!isFailing) return;
      isFailing = false;
      outages.changed(undefined);
    },
    isUp() {
      try {
        check();
        return true;
      } catch {
        return false; // `run` reports it
      }
    },
    lastOutage: outages.last,
    fail,
    close() {},
  };
}

function statOf(file: string) {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (cause) {
    throw new DatabaseUnavailable('input/output error', cause);
  }
}
