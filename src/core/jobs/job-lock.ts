// A lock for each periodic job, as a row of `job_locks`: a lease that is renewed while the job runs, so that the job of a
// killed instance runs elsewhere within a minute. Between two runs the row holds the time of the next one.
//
// The clocks of two instances may differ, and a clock may be set back while a row holds a later time. So an instance also takes a
// row that it has seen unchanged, by its stopwatch, for as long as a lease or a period lasts.
import { limits } from '../../base/limits.ts';
import type { Clock, Stopwatch } from '../../base/platform/clock.ts';
import { type Db, isUniqueViolation } from '../../base/storage/database.ts';

const LEASE_SECONDS = 60;
/** The holder of a row whose job is not running. */
const RESTING = '';

export interface TakeOptions {
  /** The period of the job. */
  everySeconds: number;
  /** Ignores the time of the next run. */
  isWoken: boolean;
}

export type JobLock = ReturnType<typeof createJobLock>;

export interface JobLockDependencies {
  db: Db;
  now: Clock;
  stopwatch: Stopwatch;
  instanceId: string;
}

type Row = { name: string; holder: string; lockedUntil: Date };

export function createJobLock({ db, now, stopwatch, instanceId }: JobLockDependencies) {
  const inSeconds = (seconds: number) => new Date(now().getTime() + seconds * 1000);
  const lease = () => ({ holder: instanceId, lockedUntil: inSeconds(LEASE_SECONDS) });
  const hasWaited = createWaits(stopwatch);

  return {
    /** False when the job runs elsewhere, or its time has not come. */
    async take(name: string, { everySeconds, isWoken }: TakeOptions): Promise<boolean> {
      const isDue = { lockedUntil: { lte: now() } };
      // No job rests longer than its period: a later time was written before the clock was set back.
      const longest = inSeconds(everySeconds + limits.clock.instancesSeconds);
      // An instance runs a job once at a time: a row that it holds is of a run whose end could not be stored.
      const free = [
        isDue,
        { holder: instanceId },
        { holder: RESTING, ...(isWoken ? {} : { lockedUntil: { gt: longest } }) },
      ];
      const { count } = await db.jobLock.updateMany({ where: { name, OR: free }, data: lease() });
      if (count > 0) return true;
      const row = await db.jobLock.findUnique({ where: { name } });
      if (row) return hasWaited(row, everySeconds) && takeUnchanged(db, row, lease());
      try {
        await db.jobLock.create({ data: { name, ...lease() } });
        return true;
      } catch (error) {
        if (isUniqueViolation(error)) return false;
        throw error;
      }
    },

    /** False when another instance has taken the job over. */
    async renew(name: string): Promise<boolean> {
      const { count } = await db.jobLock.updateMany({ where: { name, holder: instanceId }, data: lease() });
      return count > 0;
    },

    /** The job may run again from then on. */
    async release(name: string, nextAt: Date): Promise<void> {
      await db.jobLock.updateMany({
        where: { name, holder: instanceId },
        data: { holder: RESTING, lockedUntil: nextAt },
      });
    },
  };
}

async function takeUnchanged(db: Db, { name, holder, lockedUntil }: Row, data: Omit<Row, 'name'>): Promise<boolean> {
  const { count } = await db.jobLock.updateMany({ where: { name, holder, lockedUntil }, data });
  return count > 0;
}

/** Whether this instance has seen the row unchanged for a lease, or for a period while the job rests. */
function createWaits(stopwatch: Stopwatch) {
  const seen = new Map<string, { row: Row; since: number }>();
  return (row: Row, everySeconds: number): boolean => {
    const last = seen.get(row.name);
    const isSame = last?.row.holder === row.holder && last.row.lockedUntil.getTime() === row.lockedUntil.getTime();
    if (!last || !isSame) {
      seen.set(row.name, { row, since: stopwatch() });
      return false;
    }
    const patience = row.holder === RESTING ? everySeconds : LEASE_SECONDS;
    // A timer may fire a little early.
    return stopwatch() - last.since >= patience * 990;
  };
}
