// Writes one row, to learn whether the database can be written: a read-only or full one still answers every read.
import type { Clock } from '../../base/platform/clock.ts';
import type { Db } from '../../base/storage/database.ts';

/** The row in the table of the jobs' locks; no job has this name. */
const NAME = 'readiness';
const GOOD_MS = 2000;
const BAD_MS = 500;

export interface WriteProbeDependencies {
  db: Db;
  now: Clock;
  /** Milliseconds of a clock that never goes back. */
  elapsed?: () => number;
}

/** A function that rejects when the database cannot be written. It writes every few seconds at most, and once for callers at a time. */
export function createWriteProbe({ db, now, elapsed = () => performance.now() }: WriteProbeDependencies) {
  let running: Promise<void> | undefined;
  let last: { at: number; error?: unknown } | undefined;

  async function write(): Promise<void> {
    const data = { holder: '', lockedUntil: now() };
    const { count } = await db.jobLock.updateMany({ where: { name: NAME }, data });
    if (count === 0) await db.jobLock.upsert({ where: { name: NAME }, create: { name: NAME, ...data }, update: data });
  }

  return function probe(): Promise<void> {
    if (running) return running;
    if (last && elapsed() - last.at < ('error' in last ? BAD_MS : GOOD_MS))
      return 'error' in last ? Promise.reject(last.error) : Promise.resolve();
    running = write()
      .then(
        () => {
          last = { at: elapsed() };
        },
        (error: unknown) => {
          last = { at: elapsed(), error };
          throw error;
        },
      )
      .finally(() => {
        running = undefined;
      });
    return running;
  };
}
