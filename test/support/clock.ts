// The one thing tests replace: time.
import type { Clock, Stopwatch } from '../../src/base/platform/clock.ts';

export interface Duration {
  days?: number;
  hours?: number;
  minutes?: number;
  seconds?: number;
}

export interface TestClock {
  now: Clock;
  /** So much time passes. */
  advance(by: Duration): void;
  /** The clock is set forward, or back by a negative duration; no time passes. */
  set(by: Duration): void;
  /** The time that passed, in milliseconds. */
  stopwatch: Stopwatch;
}

/**
 * A clock to move by hand. With a start it stands still until moved; without one it goes with the real time,
 * because the OIDC engine reads that one itself.
 */
export function testClock(start?: Date | string): TestClock {
  const standing = start === undefined ? undefined : new Date(start).getTime();
  let passedMs = 0;
  let setMs = 0;
  return {
    now: () => new Date((standing ?? Date.now()) + passedMs + setMs),
    stopwatch: () => (standing === undefined ? performance.now() : 0) + passedMs,
    advance(by) {
      passedMs += milliseconds(by);
    },
    set(by) {
      setMs += milliseconds(by);
    },
  };
}

function milliseconds({ days = 0, hours = 0, minutes = 0, seconds = 0 }: Duration): number {
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
}
