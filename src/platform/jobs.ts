// Periodic jobs, each on one instance at a time: whoever takes the row in job_locks runs it. The row is a lease
// that is renewed while the job runs, so a job of a killed instance goes on elsewhere within a minute.
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import { type Db, isUniqueViolation } from './db.ts';
import type { Logger } from './logger.ts';
import { jitter } from './random.ts';

const LEASE_SECONDS = 60;
const RENEW_SECONDS = 20;
const RESTING = ''; // holder of a row whose job is not running

export interface Job {
  name: string;
  everySeconds: number;
  /** Should stop early when the signal aborts: the instance shuts down, or lost the lease. */
  run(signal: AbortSignal): Promise<unknown>;
}

export interface Jobs {
  add(job: Job): void;
  start(): void;
  /** Runs the job now rather than at its time, e.g. to send a mail at once; nothing if it runs elsewhere. */
  wake(name: string): void;
  /** Starts no further runs, tells the running ones to stop, and waits for them. */
  stop(): Promise<void>;
}

export interface JobsDeps {
  db: Db;
  logger: Logger;
  now: Clock;
  instanceId: string;
  /** Told of each run, for the metrics. */
  onRun?: (name: string, outcome: 'success' | 'failure', seconds: number) => void;
}

interface Entry {
  job: Job;
  timer?: NodeJS.Timeout;
  running?: Promise<void>;
  isWanted: boolean; // woken while it ran: run again right after
}

/** Makes the job runner of this instance. A job that fails is logged and runs again at its next time. */
export function createJobs({ db, logger, now, instanceId, onRun }: JobsDeps): Jobs {
  const entries = new Map<string, Entry>();
  const stopping = new AbortController();
  let isStarted = false;

  const schedule = (entry: Entry, seconds: number) => {
    clearTimeout(entry.timer);
    if (stopping.signal.aborted) return;
    entry.timer = setTimeout(() => attempt(entry, { isWoken: false }), seconds * 1000);
    entry.timer.unref();
  };

  function attempt(entry: Entry, { isWoken }: { isWoken: boolean }): void {
    if (!isStarted || stopping.signal.aborted) return;
    if (entry.running) {
      entry.isWanted ||= isWoken;
      return;
    }
    entry.running = runIfFree(entry.job, isWoken)
      .catch((error: unknown) => logger.error({ err: error, job: entry.job.name }, 'job could not be started'))
      .finally(() => {
        entry.running = undefined;
        if (entry.isWanted) {
          entry.isWanted = false;
          attempt(entry, { isWoken: true });
        } else schedule(entry, entry.job.everySeconds);
      });
  }

  async function runIfFree(job: Job, isWoken: boolean): Promise<void> {
    if (!(await take(job.name, isWoken))) return;
    // With SQLite a statement is done at once, and a job would be a single turn of the event loop.
    await othersTurn();
    const lost = new AbortController();
    const renewal = setInterval(() => {
      renew(job.name).then(
        (isOurs) => isOurs || lost.abort(new Error('another instance took the job over')),
        (error: unknown) => logger.warn({ err: error, job: job.name }, 'job lease could not be renewed'),
      );
    }, RENEW_SECONDS * 1000);
    const startedAt = now().getTime();
    const started = performance.now();
    let outcome: 'success' | 'failure' = 'success';
    try {
      await job.run(AbortSignal.any([stopping.signal, lost.signal]));
    } catch (error) {
      outcome = 'failure';
      logger.error({ err: error, job: job.name }, 'job failed');
    } finally {
      clearInterval(renewal);
      await othersTurn();
      onRun?.(job.name, outcome, (performance.now() - started) / 1000);
      // A little less than the period, so that the same instance is in time for its next turn.
      await release(job.name, new Date(startedAt + job.everySeconds * 900));
    }
  }

  async function take(name: string, isWoken: boolean): Promise<boolean> {
    const free = isWoken ? [{ lockedUntil: { lte: now() } }, { holder: RESTING }] : [{ lockedUntil: { lte: now() } }];
    const lease = { holder: instanceId, lockedUntil: leaseEnd() };
    const { count } = await db.jobLock.updateMany({ where: { name, OR: free }, data: lease });
    if (count > 0) return true;
    if (await db.jobLock.findUnique({ where: { name } })) return false;
    try {
      await db.jobLock.create({ data: { name, ...lease } });
      return true;
    } catch (error) {
      if (isUniqueViolation(error)) return false;
      throw error;
    }
  }

  const leaseEnd = () => new Date(now().getTime() + LEASE_SECONDS * 1000);

  async function renew(name: string): Promise<boolean> {
    const { count } = await db.jobLock.updateMany({
      where: { name, holder: instanceId },
      data: { lockedUntil: leaseEnd() },
    });
    return count > 0;
  }

  async function release(name: string, nextAt: Date): Promise<void> {
    const isDue = stopping.signal.aborted; // another instance may go on at once
    await db.jobLock.updateMany({
      where: { name, holder: instanceId },
      data: { holder: RESTING, lockedUntil: isDue ? now() : nextAt },
    });
  }

  return {
    add(job) {
      const entry: Entry = { job, isWanted: false };
      entries.set(job.name, entry);
      if (isStarted) schedule(entry, firstDelay(job));
    },
    start() {
      isStarted = true;
      for (const entry of entries.values()) schedule(entry, firstDelay(entry.job));
    },
    wake(name) {
      const entry = entries.get(name);
      if (entry) attempt(entry, { isWoken: true });
    },
    async stop() {
      stopping.abort(new Error('the instance shuts down'));
      for (const entry of entries.values()) clearTimeout(entry.timer);
      await Promise.all([...entries.values()].map(({ running }) => running));
    },
  };
}

// Soon, but not all of them, and not all instances, in the same moment.
function firstDelay({ everySeconds }: Job): number {
  return Math.min(everySeconds, 2) * jitter();
}
