// A durable job queue over a database table: claims with a lease, retries with growing pauses, giving up, and a lane for
// each destination, so that a destination that does not respond delays no other.

import { setTimeout as sleep } from 'node:timers/promises';
import pLimit, { type LimitFunction } from 'p-limit';
import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { messageOf } from '../../base/platform/errors.ts';
import { hotStatements, type Sql } from '../../base/storage/statements.ts';
import { unavailableIn } from '../../base/storage/unavailable.ts';

const BATCH = 50;
/** Jobs that are read ahead; more stay in the table until some of these are done. */
const MAX_READ_AHEAD = 10 * BATCH;
/** How often a run looks for new jobs while it waits for slow ones. */
const POLL_MS = 1000;
const MAX_REASON = 200;

export interface QueuedJob {
  id: string;
  /** The destination, such as a mail server or a client ID. */
  lane: string;
  /** Attempts before this one. */
  tries: number;
  /** Why the last attempt failed. */
  lastError: string | null;
}

/** What came of one attempt. */
export type AttemptResult =
  | { outcome: 'done'; detail?: string }
  /**
   * `closesLane`: the destination takes nothing at all now, so its other jobs are left for the next run.
   * `isUncounted`: the attempt said nothing about this job, so it does not count as one of its tries.
   */
  | { outcome: 'retry'; reason: string; pauseSeconds?: number; closesLane?: boolean; isUncounted?: boolean }
  /** The job becomes a dead letter: it stays in the table, and is tried again only when an administrator says so. */
  | { outcome: 'give-up'; reason: string };

/** Why and when an attempt is repeated. */
interface Failure {
  reason: string;
  nextTryAt: Date;
  isUncounted?: boolean | undefined;
}

/** The table of one kind of job. Each write is conditional, so that two instances never act on one claim. */
export interface QueueStore<Job extends QueuedJob> {
  /** Jobs whose time has come and that no instance holds, in the order in which they should be tried. */
  due(query: { limit: number; exceptLanes: readonly string[] }): Promise<Job[]>;
  /** Takes the job until then, and counts the attempt. False when another instance was first, or the job is gone. */
  claim(job: Job, leaseUntil: Date): Promise<boolean>;
  complete(job: Job, detail?: string): Promise<void>;
  retry(job: Job, failure: Failure): Promise<void>;
  giveUp(job: Job, reason: string): Promise<void>;
  /** Lets no unfinished job wait longer than until then. */
  waitAtMost(until: Date): Promise<void>;
}

/**
 * What the stores of most queues have in common, for a table with `tries`, `next_try_at`, `last_error` and `failed_at`. Hot statements: each
 * delivery makes two of them.
 *
 * @param done the column of the time when a job was done
 */
export function jobTable(table: string, done: 'done_at' | 'sent_at' = 'done_at') {
  const isOpen = `${done} IS NULL AND failed_at IS NULL`;
  const statements = hotStatements(table.replaceAll('_', '-'), {
    claim: `UPDATE ${table} SET tries = tries + 1, next_try_at = ? WHERE id = ? AND tries = ? AND ${isOpen}`,
    retry: `UPDATE ${table} SET tries = ?, last_error = ?, next_try_at = ? WHERE id = ? AND tries = ? AND ${isOpen}`,
    waitAtMost: `UPDATE ${table} SET next_try_at = ? WHERE next_try_at > ? AND ${isOpen}`,
  });
  return ({ sql }: { sql: Sql }) => ({
    claim: async ({ id, tries }: QueuedJob, leaseUntil: Date) =>
      (await sql.execute(statements.claim, leaseUntil, id, tries)) === 1,
    async retry({ id, tries }: QueuedJob, { reason, nextTryAt, isUncounted = false }: Failure) {
      await sql.execute(statements.retry, isUncounted ? tries : tries + 1, reason, nextTryAt, id, tries + 1);
    },
    async waitAtMost(until: Date) {
      await sql.execute(statements.waitAtMost, until, until);
    },
  });
}

export interface JobQueueOptions<Job extends QueuedJob> {
  now: Clock;
  store: QueueStore<Job>;
  /** One attempt; an exception counts as `retry` with its message. */
  attempt(job: Job): Promise<AttemptResult>;
  /** How long a claim is good for; longer than an attempt can take. A killed instance's jobs wait that long. */
  leaseSeconds: number;
  /** Attempts at once: for one lane, and for all together. */
  concurrency: { lane(lane: string): number; total: number };
  /** The store leaves out the jobs of a destination that is away, so a closed lane opens again once its jobs that were read are over. */
  reopensLanes?: true;
  /** Attempts after which a job is given up. */
  maxTries?: number;
  /** When a job is of no use any more: it is given up without another attempt. */
  expiresAt?(job: Job): Date;
  /** For the metrics. */
  onOutcome?(job: Job, outcome: JobOutcome): void;
}

export type JobOutcome = 'done' | 'retried' | 'given-up';

export interface JobQueue {
  /**
   * Attempts all jobs that are due, and those that come in meanwhile; resolves with the number of attempts. After an
   * abort no further attempt begins. Rejects when the table fails.
   */
  run(signal?: AbortSignal): Promise<number>;
  /** Makes a run that is waiting for slow jobs look for new ones at once. */
  wake(): void;
  /** Plans the jobs again that wait for a time which is far in the future since the clock was set back; claims stay good. */
  clockSetBack(): Promise<void>;
}

/** Makes the queue of one kind of job. Any number of instances may run it on one table. */
export function createJobQueue<Job extends QueuedJob>(options: JobQueueOptions<Job>): JobQueue {
  const wakers = new Set<() => void>();

  return {
    async run(signal) {
      const current = createRun(options, signal);
      wakers.add(current.wake);
      signal?.addEventListener('abort', current.wake);
      try {
        return await current.result();
      } finally {
        wakers.delete(current.wake);
        signal?.removeEventListener('abort', current.wake);
      }
    },
    wake() {
      for (const wake of wakers) wake();
    },
    clockSetBack: () => options.store.waitAtMost(new Date(options.now().getTime() + options.leaseSeconds * 1000)),
  };
}

/** One run: reads jobs, of idle lanes only, for as long as there are any, and attempts each in its lane. */
function createRun<Job extends QueuedJob>(options: JobQueueOptions<Job>, signal: AbortSignal | undefined) {
  const lanes = createLanes(options);
  const read = new Set<string>();
  const failures: unknown[] = [];
  let attempts = 0;
  /** Ends the pause between two looks for jobs; each pause has another. */
  let wake = () => {};

  async function perform(job: Job): Promise<void> {
    if (signal?.aborted || failures.length > 0) return;
    const result = await attemptOnce(job, options, signal);
    if (result) attempts += 1;
    if (result?.outcome === 'retry' && result.closesLane) lanes.close(job.lane);
  }

  /** Returns whether there may be more jobs to read now. */
  async function readNext(): Promise<boolean> {
    if (lanes.size() >= MAX_READ_AHEAD) return false;
    const jobs = await options.store.due({ limit: BATCH, exceptLanes: lanes.busy() });
    // A job that is still due as it was read is claimed by a statement under way elsewhere: left for the next run.
    const fresh = jobs.filter(({ id, tries }) => !read.has(`${id}:${tries}`));
    for (const job of fresh) {
      read.add(`${job.id}:${job.tries}`);
      void lanes
        .run(job.lane, () => perform(job).catch((error: unknown) => void failures.push(error)))
        .then(() => {
          if (options.reopensLanes) read.delete(`${job.id}:${job.tries}`);
          if (lanes.isIdle(job.lane)) wake();
        });
    }
    return fresh.length > 0 && jobs.length === BATCH;
  }

  return {
    wake: () => wake(),

    async result(): Promise<number> {
      try {
        while (!signal?.aborted && failures.length === 0) {
          const changed = new Promise<void>((resolve) => {
            wake = resolve;
          });
          if (await readNext()) continue;
          if (lanes.size() === 0) break;
          await orTimeout(changed, POLL_MS);
        }
      } finally {
        await lanes.settled();
      }
      if (failures.length > 0) throw failures[0];
      return attempts;
    },
  };
}

/** Bounds the attempts at once: of each lane, and of all lanes together. */
function createLanes({ concurrency, reopensLanes }: Pick<JobQueueOptions<never>, 'concurrency' | 'reopensLanes'>) {
  const total = pLimit(concurrency.total);
  const lanes = new Map<string, { slots: LimitFunction; open: number; isClosed: boolean }>();
  const underWay = new Set<Promise<void>>();

  return {
    /** Runs `work` when its lane has a free slot; not at all when the lane was closed meanwhile. */
    run(name: string, work: () => Promise<void>): Promise<void> {
      const lane = lanes.get(name) ?? { slots: pLimit(concurrency.lane(name)), open: 0, isClosed: false };
      lanes.set(name, lane);
      lane.open += 1;
      const task = lane
        .slots(() => total(async () => (lane.isClosed ? undefined : work())))
        .finally(() => {
          lane.open -= 1;
          if (lane.open === 0 && reopensLanes) lanes.delete(name);
          underWay.delete(task);
        });
      underWay.add(task);
      return task;
    },
    close(name: string): void {
      const lane = lanes.get(name);
      if (lane) lane.isClosed = true;
    },
    /** Lanes with jobs that were read and are not done, and closed ones. */
    busy: () => [...lanes].filter(([, { open, isClosed }]) => open > 0 || isClosed).map(([name]) => name),
    isIdle: (name: string) => (lanes.get(name)?.open ?? 0) === 0,
    /** Jobs that were read and are not done. */
    size: () => underWay.size,
    settled: () => Promise.allSettled(underWay),
  };
}

/** Claims the job, tries it and stores what came of it; undefined when another instance has it. */
async function attemptOnce<Job extends QueuedJob>(
  job: Job,
  {
    now,
    store,
    attempt,
    leaseSeconds,
    maxTries = Number.POSITIVE_INFINITY,
    expiresAt,
    onOutcome,
  }: JobQueueOptions<Job>,
  signal: AbortSignal | undefined,
): Promise<AttemptResult | undefined> {
  const inSeconds = (seconds: number) => new Date(now().getTime() + seconds * 1000);
  const claimedAt = performance.now();
  if (!(await store.claim(job, inSeconds(leaseSeconds)))) return undefined;
  const isExpired = expiresAt !== undefined && expiresAt(job) <= now();
  const result: AttemptResult = isExpired
    ? { outcome: 'give-up', reason: job.lastError ?? 'expired' }
    : await attempt(job).catch((error: unknown) => ({
        outcome: 'retry',
        reason: messageOf(error).slice(0, MAX_REASON),
      }));

  const stored = (write: () => Promise<void>) =>
    storeResult(write, { seconds: leaseSeconds - (performance.now() - claimedAt) / 1000, signal });

  if (result.outcome === 'done') {
    await stored(() => store.complete(job, result.detail));
    onOutcome?.(job, 'done');
  } else if (result.outcome === 'give-up' || job.tries + 1 >= maxTries) {
    await stored(() => store.giveUp(job, result.reason));
    onOutcome?.(job, 'given-up');
  } else {
    const { reason, isUncounted, pauseSeconds = retryPauseSeconds(job.tries) } = result;
    const nextTryAt = inSeconds(pauseSeconds);
    await stored(() => store.retry(job, { reason, nextTryAt, isUncounted }));
    onOutcome?.(job, 'retried');
  }
  return result;
}

/** The pause in seconds after an attempt that `tries` failed ones came before: doubled each time, up to the longest. */
export function retryPauseSeconds(tries: number): number {
  const { firstPauseSeconds, maxPauseSeconds } = limits.delivery;
  return Math.min(firstPauseSeconds * 2 ** tries, maxPauseSeconds);
}

async function orTimeout(promise: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}

// Stores what came of an attempt. The message was sent, so a database that is away for a moment must not have it sent again.

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2000;

interface StoreResultOptions {
  /** How long the claim of the job is good for, and this may take: afterwards another instance attempts the job. */
  seconds: number;
  /** Aborts when the instance stops: there is no further try then. */
  signal?: AbortSignal | undefined;
}

/** Repeats `write` while the database cannot be used. Rejects with the error of the last try, and with any other error at once. */
export async function storeResult(write: () => Promise<void>, { seconds, signal }: StoreResultOptions): Promise<void> {
  const began = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await write();
    } catch (error) {
      const isOver = performance.now() - began + pauseMs > seconds * 1000;
      if (!unavailableIn(error) || isOver || signal?.aborted) throw error;
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {}); // aborted: one more try
  }
}
