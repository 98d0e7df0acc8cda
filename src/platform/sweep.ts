// Deletes what has expired, in small batches with pauses, so that a large backlog neither blocks other writers
// nor the process. Every swept column has an index.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import type { DatabaseKind } from './database-url.ts';
import type { Db } from './db.ts';
import { sqlFor } from './sql.ts';

const BATCH = 500;
const PAUSE_MILLISECONDS = 10;

export interface SweepTarget {
  table: string;
  column: string;
  /** How the column holds a time: a timestamp (default), or a BigInt of epoch seconds or milliseconds. */
  unit?: 'timestamp' | 'seconds' | 'milliseconds';
  /** Rows are kept for so long after the time in the column. */
  keepSeconds?: number;
}

export interface SweepDeps {
  db: Db;
  kind: DatabaseKind;
  now: Clock;
  targets: readonly SweepTarget[];
  batch?: number;
}

/** Makes the sweep; it returns how many rows it deleted from each table, and stops early on abort. */
export function createSweep({ db, kind, now, targets, batch = BATCH }: SweepDeps) {
  const statements = targets.map((target) => ({ target, sql: deleteBatch(kind, target, batch) }));

  return async function sweep(signal?: AbortSignal): Promise<Record<string, number>> {
    const deleted: Record<string, number> = {};
    for (const { target, sql } of statements) {
      const limit = limitOf(target, now());
      let count = batch;
      while (count === batch && !signal?.aborted) {
        count = await db.$executeRawUnsafe(sql, limit);
        deleted[target.table] = (deleted[target.table] ?? 0) + count;
        await sleep(count === batch ? PAUSE_MILLISECONDS : 0);
      }
    }
    return deleted;
  };
}

function limitOf({ unit = 'timestamp', keepSeconds = 0 }: SweepTarget, at: Date): Date | bigint {
  const milliseconds = at.getTime() - keepSeconds * 1000;
  if (unit === 'timestamp') return new Date(milliseconds);
  return BigInt(unit === 'seconds' ? Math.floor(milliseconds / 1000) : milliseconds);
}

function deleteBatch(kind: DatabaseKind, { table, column }: SweepTarget, batch: number): string {
  for (const name of [table, column]) {
    if (!/^[a-z_]+$/.test(name)) throw new Error(`not a name of a table or column: ${name}`);
  }
  const row = kind === 'sqlite' ? 'rowid' : 'ctid';
  const expired = `SELECT ${row} FROM ${table} WHERE ${column} < ? LIMIT ${batch}`;
  const sql =
    kind === 'sqlite'
      ? `DELETE FROM ${table} WHERE rowid IN (${expired})`
      : `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(${expired}))`;
  return sqlFor(kind, { sql }).sql;
}
