// The one thing tests replace: time.
import type { Clock } from '../../src/platform/clock.ts';

export interface Duration {
  days?: number;
  hours?: number;
  minutes?: number;
  seconds?: number;
}

export interface TestClock {
  now: Clock;
  advance(by: Duration): void;
}

/**
 * A clock to move by hand. With a start it stands still until moved; without one it goes with the real time,
 * because the OIDC engine reads that one itself.
 */
export function testClock(start?: Date | string): TestClock {
  const standing = start === undefined ? undefined : new Date(start).getTime();
  let movedMs = 0;
  return {
    now: () => new Date((standing ?? Date.now()) + movedMs),
    advance({ days = 0, hours = 0, minutes = 0, seconds = 0 }) {
      movedMs += (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
    },
  };
}
