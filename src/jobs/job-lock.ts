// A lock for each periodic job, as a row of `job_locks`: a lease that is renewed while the job runs, so that the job of a
// killed instance runs elsewhere within a minute. Between two runs the row holds the time of the next one.
import type { Clock } from '../platform/clock.ts';
import { type Db, isUniqueViolation } from '../storage/database.ts';

const LEASE_SECONDS = 60;
/** The holder of a row whose job is not running. */
const RESTING = '';

export interface JobLock {
  /** False when the job runs elsewhere, or its time has not come; `isWoken` ignores the time. */
  take(name: string, options: { isWoken: boolean }): Promise<boolean>;
  /** False when another instance has taken the job over. */
  renew(name: string): Promise<boolean>;
  /** The job may run again from then on. */
  release(name: string, nextAt: Date): Promise<void>;
}

export function createJobLock({ db, now, instanceId }: { db: Db; now: Clock; instanceId: string }): JobLock {
  const lease = () => ({ holder: instanceId, lockedUntil: new Date(now().getTime() + LEASE_SECONDS * 1000) });

  return {
    async take(name, { isWoken }) {
      const isDue = { lockedUntil: { lte: now() } };
      const free = isWoken ? [isDue, { holder: RESTING }] : [isDue];
      const { count } = await db.jobLock.updateMany({ where: { name, OR: free }, data: lease() });
      if (count > 0) return true;
      if (await db.jobLock.findUnique({ where: { name } })) return false;
      try {
        await db.jobLock.create({ data: { name, ...lease() } });
        return true;
      } catch (error) {
        if (isUniqueViolation(error)) return false;
        throw error;
      }
    },

    async renew(name) {
      const { count } = await db.jobLock.updateMany({ where: { name, holder: instanceId }, data: lease() });
      return count > 0;
    },

    async release(name, nextAt) {
      await db.jobLock.updateMany({
        where: { name, holder: instanceId },
        data: { holder: RESTING, lockedUntil: nextAt },
      });
    },
  };
}
