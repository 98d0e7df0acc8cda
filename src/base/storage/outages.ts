// Remembers the last outage of the database. Refresh tokens may be retried for longer after one.
import { systemStopwatch } from '../platform/clock.ts';
import type { DatabaseUnavailable } from './unavailable.ts';

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
