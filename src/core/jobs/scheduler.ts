// Runs periodic jobs, each on one instance at a time: the instance that takes the job's lock (`createJobLock` below) runs it.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { type Stopwatch, systemStopwatch } from '../../base/platform/clock.ts';
import type { Logger } from '../../base/platform/logger.ts';
import { jitter } from '../../base/platform/random.ts';
import { runAndEndSpan, runWithSpan, type Tracing } from '../../base/platform/tracing.ts';
import { type Db, isUniqueConstraintError } from '../../base/storage/database.ts';
import { unavailableIn } from '../../base/storage/unavailable.ts';

const RENEW_SECONDS = 20;

/** The jobs that are woken as soon as there is work for them. */
export type WokenJob =
  | 'mail'
  | 'logout-deliveries'
  | 'application-pictures'
  | 'group-changes'
  | 'user-import'
  | 'audit-chain'
  | 'event-streams'
  | 'event-deliveries'
  | 'provisioning'
  | 'provisioning-deliveries'
  | 'erasure';

export interface ScheduledJob {
  name: WokenJob | (string & {});
  everySeconds: number;
  /** Should stop early when the signal aborts: the instance shuts down, or another one has taken the job over. */
  run(signal: AbortSignal): Promise<unknown>;
  /** Asked after each turn: when there is work again before the next one, in seconds. */
  againInSeconds?(): number | undefined;
  /** Called when the job is woken, so that a run under way can look for new work at once. */
  wake?(): void;
  /** How long after a wake it runs: so that an answer takes as long with work for it as without. At once by default. */
  wakeDelayMs?: number;
  /** Called after the clock was set back, for work that waits for a time that is far in the future now. */
  clockSetBack?(): Promise<void>;
}

export type Scheduler = ReturnType<typeof createScheduler>;

export interface SchedulerDependencies {
  /** Measures periods; the system's by default. */
  stopwatch?: Stopwatch | undefined;
  instanceId: string;
  /** Called after each run, for the metrics. */
  onRun?: (name: string, outcome: 'success' | 'failure', seconds: number) => void;
  /** Each run is a trace of its own; absent: no traces. */
  tracing?: Tracing | undefined;
}

interface Entry {
  job: ScheduledJob;
  timer?: NodeJS.Timeout;
  /** Of a wake with a delay. */
  waking?: NodeJS.Timeout | undefined;
  running?: Promise<void>;
  /** Woken while it was running: runs once more afterwards. */
  isWoken: boolean;
  /** Called after each turn. */
  onTurn?: () => void;
}

/** Makes the scheduler of this instance. A job that fails is logged and runs again at its next time. */
export function createScheduler(dependencies: Base & SchedulerDependencies) {
  const { logger, tracing } = dependencies;
  const entries = new Map<string, Entry>();
  const stopping = new AbortController();
  const runIfFree = createRunner({ ...dependencies, stopping: stopping.signal });
  let isStarted = false;

  const schedule = (entry: Entry, seconds: number, isWoken = false) => {
    clearTimeout(entry.timer);
    if (stopping.signal.aborted) return;
    entry.timer = setTimeout(() => attempt(entry, { isWoken }), seconds * 1000);
    entry.timer.unref();
  };

  function attempt(entry: Entry, { isWoken }: { isWoken: boolean }): void {
    if (!isStarted || stopping.signal.aborted) return;
    if (entry.running) {
      entry.isWoken ||= isWoken;
      return;
    }
    // Not below the span of a request that wakes the job.
    const start = () => runIfFree(entry.job, { isWoken });
    entry.running = (tracing ? runWithSpan(undefined, start) : start())
      .catch((error: unknown) => logger.error({ ...faultOf(error), job: entry.job.name }, 'job could not be started'))
      .finally(() => {
        entry.running = undefined;
        entry.onTurn?.();
        if (entry.isWoken) {
          entry.isWoken = false;
          attempt(entry, { isWoken: true });
        } else {
          const { seconds, isEarly } = nextTurn(entry.job);
          schedule(entry, seconds, isEarly);
        }
      });
  }

  return {
    add(job: ScheduledJob): void {
      const entry: Entry = { job, isWoken: false };
      entries.set(job.name, entry);
      if (isStarted) schedule(entry, firstDelay(job));
    },
    /** Resolves when each job has had its first turn; not after a stop. */
    async start(): Promise<void> {
      isStarted = true;
      await Promise.all([...entries.values()].map((entry) => firstTurn(entry, schedule)));
    },
    /** Runs the job now instead of at its time, e.g. to send a mail at once. While it runs: once more afterwards. */
    wake(name: string): void {
      const entry = entries.get(name);
      if (!entry || entry.waking) return;
      const run = () => {
        entry.waking = undefined;
        entry.job.wake?.();
        attempt(entry, { isWoken: true });
      };
      const { wakeDelayMs } = entry.job;
      if (wakeDelayMs) entry.waking = setTimeout(run, wakeDelayMs).unref();
      else run();
    },
    /** Passes on to all jobs that the clock was set back. */
    async clockSetBack(): Promise<void> {
      await Promise.all([...entries.values()].map(({ job }) => job.clockSetBack?.()));
    },
    /** Starts no further runs, aborts the running ones, and waits for them. */
    async stop(): Promise<void> {
      stopping.abort(new Error('the instance shuts down'));
      for (const { timer, waking } of entries.values()) for (const one of [timer, waking]) clearTimeout(one);
      await Promise.all([...entries.values()].map(({ running }) => running));
    },
  };
}

/** Schedules the first turn of a job; resolves after it. */
function firstTurn(entry: Entry, schedule: (entry: Entry, seconds: number) => void): Promise<void> {
  schedule(entry, firstDelay(entry.job));
  return new Promise((resolve) => {
    entry.onTurn = resolve;
  });
}

/** Makes the function that runs a job under its lock, or does nothing when another instance holds it. */
function createRunner(services: Base & SchedulerDependencies & { stopping: AbortSignal }) {
  const { logger, now, stopwatch = systemStopwatch, onRun, tracing, stopping } = services;
  const lock = createJobLock({ ...services, stopwatch });

  async function run(job: ScheduledJob, signal: AbortSignal): Promise<void> {
    const span = tracing?.root(`job ${job.name}`, { attributes: { 'gatehouse.job': job.name } });
    if (span) await runAndEndSpan(span, async () => job.run(signal));
    else await job.run(signal);
  }

  return async function runIfFree(job: ScheduledJob, { isWoken }: { isWoken: boolean }): Promise<void> {
    if (!(await lock.take(job.name, { everySeconds: job.everySeconds, isWoken }))) return;
    // A SQLite statement is synchronous: without this, a short job would run in one turn of the event loop.
    await yieldToEventLoop();
    const { signal, end } = keepLock(lock, job.name, logger);
    const startedAt = stopwatch();
    const started = performance.now();
    let outcome: 'success' | 'failure' = 'success';
    try {
      await run(job, AbortSignal.any([stopping, signal]));
    } catch (error) {
      outcome = 'failure';
      logger.error({ ...faultOf(error), job: job.name }, 'job failed');
    } finally {
      end();
      await yieldToEventLoop();
      onRun?.(job.name, outcome, (performance.now() - started) / 1000);
      // A little less than the period, so that this instance's timer finds the lock free. After an abort: at once.
      const restMs = stopping.aborted ? 0 : Math.max(0, job.everySeconds * 900 - (stopwatch() - startedAt));
      await lock.release(job.name, new Date(now().getTime() + restMs));
    }
  };
}

/** Renews the lock until `end` is called; the signal aborts when another instance has taken it. */
function keepLock(lock: JobLock, name: string, logger: Logger): { signal: AbortSignal; end(): void } {
  const lost = new AbortController();
  const renewal = setInterval(() => {
    lock.renew(name).then(
      (isHeld) => isHeld || lost.abort(new Error('another instance took the job over')),
      (error: unknown) => logger.warn({ err: error, job: name }, 'job lock could not be renewed'),
    );
  }, RENEW_SECONDS * 1000);
  return { signal: lost.signal, end: () => clearInterval(renewal) };
}

/** Seconds to the next turn, and whether it is before the period ends. */
function nextTurn({ everySeconds, againInSeconds }: ScheduledJob): { seconds: number; isEarly: boolean } {
  const seconds = againInSeconds?.() ?? everySeconds;
  return { seconds: Math.min(seconds, everySeconds), isEarly: seconds < everySeconds };
}

/** Seconds to the first run: soon, and not at the same moment for all jobs and instances. */
function firstDelay({ everySeconds }: ScheduledJob): number {
  return Math.min(everySeconds, limits.jobs.firstRunSeconds) * jitter();
}

/** One short line for each job while the database cannot be used, as for each request. */
function faultOf(error: unknown): { err: unknown } | { detail: object } {
  const unavailable = unavailableIn(error);
  return unavailable ? { detail: unavailable.logFields } : { err: error };
}

// A lock for each periodic job, as a row of `job_locks`: a lease that is renewed while the job runs, so that the job of a
// killed instance runs elsewhere within a minute. Between two runs the row holds the time of the next one.
//
// The clocks of two instances may differ, and a clock may be set back while a row holds a later time. So an instance also takes a
// row that it has seen unchanged, by its stopwatch, for as long as a lease or a period lasts.

const LEASE_SECONDS = 60;
/** The holder of a row whose job is not running. */
const RESTING = '';

interface TakeOptions {
  /** The period of the job. */
  everySeconds: number;
  /** Ignores the time of the next run. */
  isWoken: boolean;
}

type JobLock = ReturnType<typeof createJobLock>;

type Row = { name: string; holder: string; lockedUntil: Date };

function createJobLock({ db, now, stopwatch, instanceId }: Base & { stopwatch: Stopwatch; instanceId: string }) {
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
        if (isUniqueConstraintError(error)) return false;
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

// Writes one row, to learn whether the database can be written: a read-only or full one still answers every read.

/** The row in the table of the jobs' locks; no job has this name. */
const NAME = 'readiness';
const GOOD_MS = 2000;
const BAD_MS = 500;

/** A function that rejects when the database cannot be written. It writes every few seconds at most, and once for callers at a time. */
export function createWriteProbe({
  db,
  now,
  elapsed = () => performance.now(),
}: Base & {
  /** Milliseconds of a clock that never goes back. */
  elapsed?: () => number;
}) {
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
