// Prisma's adapter with every error that means "not at the moment" as DatabaseUnavailable, which Prisma passes on unchanged.
import type {
  IsolationLevel,
  SqlDriverAdapter,
  SqlQuery,
  SqlQueryable,
  Transaction,
} from '@prisma/driver-adapter-utils';
import type { Availability } from './availability.ts';
import { chargeStatement } from './request-scope.ts';

/** Runs an operation within a time limit of its own; `discard` gets a result that comes later. */
export type WithinLimit = <T>(operation: () => Promise<T>, discard?: (result: T) => void) => Promise<T>;

/** Sees the result of a statement, which it returns. */
export type Watch = <T>(query: SqlQuery, result: Promise<T>) => Promise<T>;

export interface GuardOptions {
  limited?: WithinLimit;
  watch?: Watch;
}

const unlimited: WithinLimit = (operation) => operation();
const unwatched: Watch = (_query, result) => result;

/** Wraps the adapter of a database; `close` of the availability goes with its disposal. */
export function guardedAdapter(
  adapter: SqlDriverAdapter,
  availability: Availability,
  { limited = unlimited, watch = unwatched }: GuardOptions = {},
): SqlDriverAdapter {
  const { run, fail } = availability;
  const guarded: SqlDriverAdapter = {
    ...guardedStatements(adapter, run, { limited, watch }),
    executeScript: (script) => run(() => adapter.executeScript(script)),
    async startTransaction(level?: IsolationLevel) {
      const tx = await limited(() => run(() => adapter.startTransaction(level)), discardTransaction);
      return guardedTransaction(tx, fail, { limited, watch });
    },
    async dispose() {
      availability.close();
      await adapter.dispose();
    },
  };
  if (adapter.getConnectionInfo) guarded.getConnectionInfo = adapter.getConnectionInfo.bind(adapter);
  return guarded;
}

/** Each statement is charged to its request, has its time limit, and is seen by `watch`; `run` turns its errors into DatabaseUnavailable. */
function guardedStatements(
  target: SqlQueryable,
  run: <T>(statement: () => Promise<T>) => Promise<T>,
  { limited, watch }: Required<GuardOptions>,
): SqlQueryable {
  async function guard<T>(query: SqlQuery, statement: () => Promise<T>): Promise<T> {
    chargeStatement(query.sql, query.args);
    return watch(
      query,
      limited(() => run(statement)),
    );
  }
  return {
    provider: target.provider,
    adapterName: target.adapterName,
    queryRaw: (query) => guard(query, () => target.queryRaw(query)),
    executeRaw: (query) => guard(query, () => target.executeRaw(query)),
  };
}

/** Ends a transaction that nobody waits for any more, as Prisma does. */
function discardTransaction(tx: Transaction): void {
  tx.executeRaw({ sql: 'ROLLBACK', args: [], argTypes: [] })
    .catch(() => {})
    .then(() => tx.rollback())
    .catch(() => {});
}

/**
 * It has its connection already, so it does not wait for another look at the database. A request may be over while the database works on its
 * last statement: the connection goes back after that, or the next request would wait for it too.
 */
function guardedTransaction(tx: Transaction, fail: Availability['fail'], options: Required<GuardOptions>): Transaction {
  const underWay = new Set<Promise<unknown>>();
  function run<T>(statement: () => Promise<T>): Promise<T> {
    const result = statement();
    underWay.add(result);
    const ended = () => underWay.delete(result);
    result.then(ended, ended);
    return result.catch(fail);
  }
  return {
    ...guardedStatements(tx, run, options),
    options: tx.options,
    commit: () => tx.commit().catch(fail),
    async rollback() {
      if (underWay.size === 0) return tx.rollback().catch(fail);
      Promise.allSettled(underWay)
        .then(() => tx.rollback())
        .catch(() => {});
    },
    ...(tx.createSavepoint && { createSavepoint: (name) => tx.createSavepoint?.(name).catch(fail) }),
    ...(tx.rollbackToSavepoint && { rollbackToSavepoint: (name) => tx.rollbackToSavepoint?.(name).catch(fail) }),
    ...(tx.releaseSavepoint && { releaseSavepoint: (name) => tx.releaseSavepoint?.(name).catch(fail) }),
  } as Transaction;
}
