// What a request may cost the database: the rows that it stores, and (only on PostgreSQL, where each statement is a round trip that may take
// long, and several of them add up) the time that it waits.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { DatabaseLimits } from './open-options.ts';
import { writeOf } from './stored-size.ts';
import { DatabaseUnavailable } from './unavailable.ts';

export interface RequestScope {
  /** True as soon as a part of the response was sent: an export may take long, and so may a job that the request started. */
  isAnswered(): boolean;
  /** Called before each row is written. Throws TooMuchStored. */
  store(table: string, bytes: number): void;
  /** When its statements have to end, in milliseconds of `performance.now()`; absent before the first one. */
  endsAt?: number;
  /** How long statements that end later may still take, quick ones apart. */
  lateMs?: number;
}

const storage = new AsyncLocalStorage<RequestScope>();

/** Runs `work`, which serves one request. */
export function inRequestScope<T>(scope: RequestScope, work: () => T): T {
  return storage.run(scope, work);
}

/** The request that is served; undefined outside of one. */
export function servedRequest(): object | undefined {
  return storage.getStore();
}

/** Runs work that a request began but that is not part of it, such as a job. */
export function outsideRequest<T>(work: () => T): T {
  return storage.exit(work);
}

/** Before each statement of the database: what it stores is charged to the request that it belongs to. Throws TooMuchStored. */
export function chargeStatement(text: string, values: readonly unknown[]): void {
  const scope = storage.getStore();
  const write = scope && writeOf(text, values);
  if (write) scope.store(write.table, write.bytes);
}

/** Before work whose response must not depend on it: a request that may store nothing now is rejected here. Throws TooMuchStored. */
export function assertMayStore(): void {
  storage.getStore()?.store('any', 0);
}

export interface TimedOperation<T> {
  run(): Promise<T>;
  /** The end of the time; it throws the error with which the operation is rejected. */
  fail(error: DatabaseUnavailable): never;
  /** Gets a result that came too late. */
  discard?(result: T): void;
}

/** A statement that takes no longer is never the reason why a request takes long; an import may have thousands of them. */
const QUICK_MS = 250;

/**
 * Runs a database operation within the time of its request: all operations of a request together have `requestMs` from the first one on.
 * Those that end later have `lateMs` together, without the quick ones. Without a request there is no limit here.
 */
export function withinRequest<T>(
  { requestMs, lateMs }: DatabaseLimits,
  { run, fail, discard }: TimedOperation<T>,
): Promise<T> {
  const scope = storage.getStore();
  if (!scope || scope.isAnswered()) return run();
  const began = performance.now();
  scope.endsAt ??= began + requestMs;
  scope.lateMs ??= lateMs;
  const { endsAt } = scope;
  const quickMs = Math.min(QUICK_MS, lateMs);
  /** Takes the time after `endsAt` from what is left of `lateMs`. */
  const chargeLateTime = () => {
    const tookLate = performance.now() - Math.max(began, endsAt);
    if (tookLate > quickMs) scope.lateMs = (scope.lateMs ?? lateMs) - tookLate;
  };
  const mayTakeMs = Math.max(endsAt - began, scope.lateMs, quickMs);
  return new Promise<T>((resolve, reject) => {
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      chargeLateTime();
      const cause = new Error(`the statements of this request took more than ${requestMs} ms`);
      try {
        fail(new DatabaseUnavailable('busy', cause));
      } catch (error) {
        reject(error);
      }
    }, mayTakeMs);
    run().then(
      (result) => {
        clearTimeout(timer);
        if (isOver) return discard?.(result);
        chargeLateTime();
        resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
