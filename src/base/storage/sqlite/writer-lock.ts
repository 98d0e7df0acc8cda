// The lock on the writing connection: one transaction or statement at a time, in order. Another process (the command line, a backup)
// may hold SQLite's own lock on the file; then the statement is tried again, without blocking this process, for a limited time.
import { setTimeout as sleep } from 'node:timers/promises';
import { jitter } from '../../platform/random.ts';
import { asUnavailable, DatabaseUnavailable } from '../unavailable.ts';

/** Of `lockMs` and the place in the queue: a request that writes is answered within 10 seconds. */
const WAIT_MS = 8000;
const RETRY_MS = 10;

export type WriterLock = ReturnType<typeof createWriterLock>;

/** @param lockMs how long a statement is tried again while another process holds the lock on the file */
export function createWriterLock({ lockMs }: { lockMs: number }) {
  let isTaken = false;
  /** The last one waited for the file in vain: until one succeeds, others try once. */
  let isGivenUp = false;
  const waiting: (() => void)[] = [];
  const waitMs = Math.max(WAIT_MS, lockMs);

  const release = () => {
    const next = waiting.shift();
    if (next) next();
    else isTaken = false;
  };

  async function take(): Promise<() => void> {
    if (isTaken) await turn();
    isTaken = true;
    let isReleased = false;
    return () => {
      if (!isReleased) release();
      isReleased = true;
    };
  }

  function turn(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(begin), 1);
        reject(new DatabaseUnavailable('busy', new Error(`other transactions took ${waitMs} ms`)));
      }, waitMs);
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.push(begin);
    });
  }

  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + (isGivenUp ? 0 : lockMs);
    for (;;) {
      try {
        const result = await work();
        isGivenUp = false;
        return result;
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (performance.now() >= deadline) {
          isGivenUp = true;
          throw error;
        }
      }
      await sleep(RETRY_MS * (1 + jitter()));
    }
  }

  return {
    /** Waits for the lock; the result releases it. Rejects with DatabaseUnavailable when it is not free in time. */
    take,
    /** Runs `work`, which has the lock, again while the file is locked by another process. */
    patiently,
    isTaken: (): boolean => isTaken,
    /** Runs `work` with the lock, again while the file is locked by another process. */
    async run<T>(work: () => Promise<T>): Promise<T> {
      // better-sqlite3 is synchronous, so a statement needs no lock while none is taken, unless it has to be tried again.
      if (!isTaken) {
        try {
          return await work();
        } catch (error) {
          if (!isBusy(error)) throw error;
        }
      }
      const done = await take();
      try {
        return await patiently(work);
      } finally {
        done();
      }
    },
  };
}

function isBusy(error: unknown): boolean {
  return asUnavailable(error)?.reason === 'busy';
}
