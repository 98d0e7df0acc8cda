// What an error of a statement says, and the repetition of work after a conflict with another transaction.
import { setTimeout as sleep } from 'node:timers/promises';
import { jitter } from '../platform/random.ts';
import { DatabaseUnavailable } from './unavailable.ts';

const ATTEMPTS = 6;

/** Repeats `work`, which is one transaction, after a conflict with another one: deadlock, serialization failure, busy file. */
export async function repeatAfterConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      // P2028: Prisma could not begin it in time, or ended it after its time.
      if (databaseErrorOf(error).code === 'P2028') throw new DatabaseUnavailable('busy', error);
      if (attempt === ATTEMPTS || !isContention(error)) throw error;
      await sleep(5 * 2 ** attempt * (1 + jitter()));
    }
  }
}

function isContention(error: unknown): boolean {
  const { code, kind } = databaseErrorOf(error);
  // P2034: deadlock or serialization failure; P1008: SQLite busy.
  return code === 'P2034' || code === 'P1008' || kind === 'TransactionWriteConflict' || kind === 'SocketTimeout';
}

/**
 * What an error of the database says. Only the queries of Prisma's model API have a code of their own: a raw query fails as
 * P2010 and a COMMIT as the driver adapter's error, both with the kind in the adapter's error.
 */
export function databaseErrorOf(error: unknown): { code?: unknown; kind?: unknown } {
  if (!(error instanceof Error)) return {};
  const { code, cause, meta } = error as {
    code?: unknown;
    cause?: { kind?: unknown };
    meta?: { driverAdapterError?: { cause?: { kind?: unknown } } };
  };
  return { code, kind: cause?.kind ?? meta?.driverAdapterError?.cause?.kind };
}
