// Remembers the last outage of the database. Refresh tokens may be retried for longer after one.
import { systemStopwatch } from '../platform/clock.ts';
import type { DatabaseUnavailable } from './unavailable.ts';

/** A time in which the database could not be used, in milliseconds of the stopwatch. */
export interface Outage {
  from: number;
  to: number;
}

type OnChange = (away: DatabaseUnavailable | undefined) => void;

/** `changed` takes the reason when the database becomes unavailable and undefined when it is available again, and calls `onChange`. */
export function watchOutages(onChange: OnChange = () => {}): { changed: OnChange; last(): Outage | undefined } {
  let from = 0;
  let last: Outage | undefined;
  return {
    changed(away) {
      if (away) from = systemStopwatch();
      else last = { from, to: systemStopwatch() };
      onChange(away);
    },
    last: () => last,
  };
}
