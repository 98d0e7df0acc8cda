// Prisma's adapter with every error that means "not at the moment" as DatabaseUnavailable, which Prisma passes on unchanged.
import type { IsolationLevel, SqlDriverAdapter, Transaction } from '@prisma/driver-adapter-utils';
import type { Availability } from './availability.ts';

/** Wraps the adapter of a database; `close` of the availability goes with its disposal. */
export function guardedAdapter(adapter: SqlDriverAdapter, availability: Availability): SqlDriverAdapter {
  const { run, fail } = availability;
  const guarded: SqlDriverAdapter = {
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    queryRaw: (query) => run(() => adapter.queryRaw(query)),
    executeRaw: (query) => run(() => adapter.executeRaw(query)),
    executeScript: (script) => run(() => adapter.executeScript(script)),
    startTransaction: (level?: IsolationLevel) =>
      run(async () => guardedTransaction(await adapter.startTransaction(level), fail)),
    async dispose() {
      availability.close();
      await adapter.dispose();
    },
  };
  if (adapter.getConnectionInfo) guarded.getConnectionInfo = adapter.getConnectionInfo.bind(adapter);
  return guarded;
}

/** It has its connection already, so it does not wait for another look at the database. */
function guardedTransaction(tx: Transaction, fail: Availability['fail']): Transaction {
  return {
    provider: tx.provider,
    adapterName: tx.adapterName,
    options: tx.options,
    queryRaw: (query) => tx.queryRaw(query).catch(fail),
    executeRaw: (query) => tx.executeRaw(query).catch(fail),
    commit: () => tx.commit().catch(fail),
    rollback: () => tx.rollback().catch(fail),
    ...(tx.createSavepoint && { createSavepoint: (name) => tx.createSavepoint?.(name).catch(fail) }),
    ...(tx.rollbackToSavepoint && { rollbackToSavepoint: (name) => tx.rollbackToSavepoint?.(name).catch(fail) }),
    ...(tx.releaseSavepoint && { releaseSavepoint: (name) => tx.releaseSavepoint?.(name).catch(fail) }),
  } as Transaction;
}
