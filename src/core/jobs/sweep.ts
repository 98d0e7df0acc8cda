// Deletes expired rows in small batches with pauses, so that a large backlog blocks neither other writers nor the process.
// Every column that it compares has an index. The audit log is purged instead (core/audit/jobs.ts).

import { setTimeout as sleep } from 'node:timers/promises';
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import type { Db } from '../../base/storage/database.ts';

const BATCH = 500;
const PAUSE_MILLISECONDS = 10;

export interface SweepTarget {
  /** The key in the result; a table may have several targets. */
  table: string;
  /** How long a row stays after the time that `remove` compares with; an hour if absent. */
  keepSeconds?: number;
  /** Deletes at most `limit` rows whose time is before `before`. */
  remove(db: Db, before: Date, limit: number): Promise<{ count: number }>;
}

/** Creates the sweep. It returns the number of deleted rows of each table, and stops early on abort. */
export function createSweep({
  db,
  now,
  targets,
  batch = BATCH,
}: Base & { targets: readonly SweepTarget[]; batch?: number }) {
  return async function sweep(signal?: AbortSignal): Promise<Record<string, number>> {
    const deleted: Record<string, number> = {};
    for (const { table, keepSeconds = limits.sweep.keepSeconds, remove } of targets) {
      const before = new Date(now().getTime() - keepSeconds * 1000);
      let count = batch;
      while (count === batch && !signal?.aborted) {
        ({ count } = await remove(db, before, batch));
        deleted[table] = (deleted[table] ?? 0) + count;
        await sleep(count === batch ? PAUSE_MILLISECONDS : 0);
      }
    }
    return deleted;
  };
}
