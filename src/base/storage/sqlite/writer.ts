// The writing connection of one process: its lock, and the transaction that concurrent requests share. The lock lets one transaction or statement
// run at a time, in order. Another process (the command line, a backup) may hold SQLite's own lock on the file; then the statement is tried again,
// without blocking this process, for a limited time.
import { setTimeout as sleep } from 'node:timers/promises';
import { jitter } from '../../platform/random.ts';
import type { PlainSql, Write } from '../statements.ts';
import { asUnavailable, DatabaseUnavailable } from '../unavailable.ts';
import type { SqliteStatements } from './statement-cache.ts';

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

interface Waiting {
  writes: readonly Write[];
  orNone: boolean;
  resolve(changes: number[]): void;
  reject(reason: unknown): void;
}

/**
 * Group commit: returns a function that runs statements together with those of others in one transaction, because each commit writes a page of
 * every index that it touched. Each caller gets the result of its own statements, after the commit. `runExclusive` keeps them out of open
 * transactions.
 */
export function createGroupCommit(
  statements: SqliteStatements,
  runExclusive: (work: () => Promise<void>) => Promise<void>,
): PlainSql['commit'] {
  let waiting: Waiting[] = [];

  function takeWaiting(): Waiting[] {
    const taken = waiting;
    waiting = [];
    return taken;
  }

  async function commitGroup(): Promise<void> {
    let group: Waiting[] | undefined;
    try {
      await runExclusive(async () => {
        // Taken with the lock, so that others join while it is waited for. The same group is tried again after a busy file.
        group ??= takeWaiting();
        commitAll(statements, group);
      });
    } catch (error) {
      for (const one of group ?? takeWaiting()) one.reject(error);
    }
  }

  return (writes, { orNone = false } = {}) =>
    new Promise((resolve, reject) => {
      waiting.push({ writes, orNone, resolve, reject });
      // The first one starts the commit; setImmediate lets the other requests that are ready add their statements before.
      if (waiting.length === 1) setImmediate(commitGroup);
    });
}

/** Settles all members of the group, or throws before any of them has run: the group can be tried again. */
function commitAll(statements: SqliteStatements, group: readonly Waiting[]): void {
  const [single] = group;
  if (single && group.length === 1 && single.writes.length === 1) {
    single.resolve(runWrites(statements, single));
    return;
  }
  const settle: (() => void)[] = [];
  statements.execute('BEGIN IMMEDIATE', []);
  try {
    for (const member of group) {
      try {
        const changes = runMember(statements, member);
        settle.push(() => member.resolve(changes));
      } catch (error) {
        // After an error of the file, such as a full disk, SQLite has rolled back all of them.
        if (!statements.inTransaction()) throw error;
        // Else only the member that failed; the others of the group are committed.
        settle.push(() => member.reject(error));
      }
    }
    statements.execute('COMMIT', []);
  } catch (error) {
    if (statements.inTransaction()) statements.execute('ROLLBACK', []);
    for (const { reject } of group) reject(error);
    return;
  }
  for (const settleOne of settle) settleOne();
}

/** Several statements of a member are all run or none. */
function runMember(statements: SqliteStatements, member: Waiting): number[] {
  if (member.writes.length === 1) return runWrites(statements, member);
  statements.execute('SAVEPOINT member', []);
  let isDone = false;
  try {
    const changes = runWrites(statements, member);
    isDone = !member.orNone || !changes.includes(0);
    return changes;
  } finally {
    if (statements.inTransaction()) {
      if (!isDone) statements.execute('ROLLBACK TO member', []);
      statements.execute('RELEASE member', []);
    }
  }
}

function runWrites(statements: SqliteStatements, { writes, orNone }: Waiting): number[] {
  const changes: number[] = [];
  for (const { statement, values } of writes) {
    const count = statements.execute(statement.sqlite, values);
    changes.push(count);
    if (orNone && count === 0) break;
  }
  return changes;
}
