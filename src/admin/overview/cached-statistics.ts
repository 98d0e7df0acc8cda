// Statistics of a large database take up to a second to count, and on SQLite nothing else runs meanwhile. So the last ones are used for a
// while, with the time at which they were counted, and new ones are counted after the answer.
import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Statistics } from './statistics.ts';

const { countedRows, msPerRow, maxAgeMs } = limits.statistics;

/**
 * Returns `count` with a cache. A small database is counted each time. For a large one the age is at most some minutes, unless there was no
 * request for longer: then the next but one answer is new. Throws what `count` throws when nothing is cached.
 */
export function cacheStatistics(count: (days: number) => Promise<Statistics>, now: Clock) {
  const cached = new Map<number, Statistics>();
  const counting = new Map<number, Promise<Statistics>>();

  function recount(days: number): Promise<Statistics> {
    const running = counting.get(days);
    if (running) return running;
    const counted = count(days)
      .then((statistics) => {
        if (maxAge(statistics) > 0) cached.set(days, statistics);
        else cached.delete(days);
        return statistics;
      })
      .finally(() => counting.delete(days));
    counting.set(days, counted);
    return counted;
  }

  return async (days: number): Promise<Statistics> => {
    const last = cached.get(days);
    if (!last) return recount(days);
    const age = now().getTime() - last.at.getTime();
    // A failure is that of the next request.
    if (age < 0 || age > maxAge(last)) setImmediate(() => void recount(days).catch(() => cached.delete(days)));
    return last;
  };
}

function maxAge({ users, sessions, days }: Statistics): number {
  const rows = days.reduce((sum, { signIns, failures }) => sum + signIns + failures, users.total + sessions);
  return rows < countedRows ? 0 : Math.min(maxAgeMs, rows * msPerRow);
}
