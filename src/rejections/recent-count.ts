// How many requests were rejected lately: the number beside an entry of the console's navigation, so on each of its pages.
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Db } from '../storage/database.ts';

const PERIOD_MS = 24 * 3600 * 1000;
/** Above this the number says only that there are more. */
export const MOST_COUNTED = 99;
const FRESH_MS = 60_000;
const OLD_MS = 10 * 60_000;

/**
 * Counts the rejected requests of the last 24 hours, up to MOST_COUNTED + 1. The number is from memory: a page waits for a new one only
 * where the last is older than ten minutes, and a number that is older than a minute is counted again behind the page. Never fails.
 */
export function createRecentRejections({ db, now, logger }: { db: Db; now: Clock; logger: Logger }) {
  let last: { at: number; count: number } | undefined;
  let counting: Promise<void> | undefined;

  function recount(): Promise<void> {
    const at = now().getTime();
    counting ??= db.rejection
      .count({ where: { at: { gte: new Date(at - PERIOD_MS) } }, take: MOST_COUNTED + 1 })
      .then((count) => {
        last = { at, count };
      })
      .catch((err: unknown) => logger.warn({ err }, 'rejected requests were not counted'))
      .finally(() => {
        counting = undefined;
      });
    return counting;
  }

  return async (): Promise<number> => {
    const age = last ? Math.abs(now().getTime() - last.at) : Number.POSITIVE_INFINITY;
    const counted = age > FRESH_MS ? recount() : undefined;
    if (age > OLD_MS) await counted;
    return last?.count ?? 0;
  };
}
