// Until when a request waits for the database. Only on PostgreSQL, where each statement is a round trip that may take long, and several of
// them add up.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { DatabaseLimits } from './open-options.ts';
import { DatabaseUnavailable } from './unavailable.ts';

export interface RequestScope {
  /** True as soon as a part of the response was sent: an export may take long, and so may a job that the request started. */
  isAnswered(): boolean;
  /** When its statements have to end, in milliseconds of `performance.now()`; absent before the first one. */
  endsAt?: number;
}

const storage = new AsyncLocalStorage<RequestScope>();

/** Runs `work`, which serves one request. */
export function inRequestScope<T>(scope: Pick<RequestScope, 'isAnswered'>, work: () => T): T {
  return storage.run(scope, work);
}

export interface TimedOperation<T> {
  run(): Promise<T>;
  /** The end of the time; it throws the error with which the operation is rejected. */
  fail(error: DatabaseUnavailable): never;
  /** Gets a result that came too late. */
  discard?(result: T): void;
}

/**
 * Runs a database operation within the time of its request: all operations of a request together have `requestMs` from the first one on,
 * and one that begins later has `lateMs`, in which a database that answers has answered. Without a request it has no limit here.
 */
export function withinRequest<T>(
  { requestMs, lateMs }: Pick<DatabaseLimits, 'requestMs' | 'lateMs'>,
  { run, fail, discard }: TimedOperation<T>,
): Promise<T> {
  const scope = storage.getStore();
  if (!scope || scope.isAnswered()) return run();
  const now = performance.now();
  scope.endsAt ??= now + requestMs;
  const left = scope.endsAt - now;
  return new Promise<T>((resolve, reject) => {
    let isOver = false;
    const timer = setTimeout(
      () => {
        isOver = true;
        const cause = new Error(`the statements of this request took more than ${requestMs} ms`);
        try {
          fail(new DatabaseUnavailable('busy', cause));
        } catch (error) {
          reject(error);
        }
      },
      Math.max(left, lateMs),
    );
    run().then(
      (result) => {
        clearTimeout(timer);
        if (isOver) discard?.(result);
        else resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
