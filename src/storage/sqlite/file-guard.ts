// A SQLite file that was removed or replaced while it is open: SQLite would write on into the old file, which is gone at the next
// start.
import { statSync } from 'node:fs';
import type { Availability } from '../availability.ts';
import { asUnavailable, DatabaseUnavailable } from '../unavailable.ts';

const CHECK_MS = 250;

/** The availability of an open SQLite file: the file is still at its path. It is checked a few times in a second at most. */
export function sqliteAvailability(file: string): Availability {
  const opened = statSync(file);
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
    throw asUnavailable(error) ?? error;
  }

  return {
    async run(operation) {
      check();
      return operation().catch(fail);
    },
    isUp() {
      try {
        check();
        return true;
      } catch {
        return false; // `run` reports it
      }
    },
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
