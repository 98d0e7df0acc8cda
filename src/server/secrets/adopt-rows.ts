// Writes the MACs of rows that have none, as part of `gatehouse secrets adopt`: of every table of server/secrets/protected-tables.ts.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ProtectedRows, ProtectedTable } from '../../audit/protected-rows.ts';
import type { Db } from '../../storage/database.ts';
import {
  nameOfRow,
  type ProtectedRow,
  type ProtectedTableEntry,
  rowsOf,
  tablesInOrder,
  uniqueKey,
} from './protected-tables.ts';

const PAGE = 500;

export interface AdoptOptions {
  /** Also rows with a MAC, because the data key of these MACs is lost. */
  all?: boolean;
  /** The number of rows of a table per read. */
  pageSize?: number;
}

/** Writes the MAC of every row without one, without a check of its content; returns the number of rows of each table. */
export async function adoptWithoutMac(
  db: Db,
  protectedRows: Pick<ProtectedRows, 'macOf'>,
  { all = false, pageSize = PAGE }: AdoptOptions = {},
): Promise<Record<string, number>> {
  const adopted: Record<string, number> = {};
  for (const [table, entry] of tablesInOrder) {
    if (entry.isShortLived) continue;
    if (all) await rowsOf(db, entry).updateMany({ where: entry.where ?? {}, data: { mac: '' } });
    adopted[table] = await adoptTable(db, protectedRows, [table, entry], pageSize);
  }
  return adopted;
}

async function adoptTable(
  db: Db,
  { macOf }: Pick<ProtectedRows, 'macOf'>,
  [table, entry]: [ProtectedTable, ProtectedTableEntry],
  pageSize: number,
): Promise<number> {
  let last: ProtectedRow | undefined;
  for (let count = 0; ; ) {
    const rows = await rowsOf(db, entry).findMany(pageWithoutMac(entry, pageSize, last));
    await db.$transaction(
      rows.map((row) => {
        const change = { where: uniqueKey(entry, row), data: { mac: macOf(table, entry.fields(row)) } };
        return rowsOf(db, entry).update(change) as ReturnType<Db['user']['update']>;
      }),
    );
    count += rows.length;
    last = rows.at(-1);
    if (rows.length < pageSize) return count;
    await yieldToEventLoop();
  }
}

/** The rows that `adopt` would write a MAC for: at most `take` names of each table, and how many there are. */
export async function listWithoutMac(
  db: Db,
  take: number,
): Promise<{ table: ProtectedTable; count: number; names: string[] }[]> {
  const found: { table: ProtectedTable; count: number; names: string[] }[] = [];
  for (const [table, entry] of tablesInOrder) {
    if (entry.isShortLived) continue;
    const page = pageWithoutMac(entry, take);
    const count = await rowsOf(db, entry).count({ where: page.where });
    const rows = count === 0 ? [] : await rowsOf(db, entry).findMany(page);
    if (count > 0) found.push({ table, count, names: rows.map((row) => nameOfRow(table, row)) });
  }
  return found;
}

/** @param last the page starts after this row, so that no page reads the rows of previous pages */
function pageWithoutMac({ where, include, key }: ProtectedTableEntry, take: number, last?: ProtectedRow) {
  const orderBy = key.map((column) => ({ [column]: 'asc' }));
  const isLater = last ? { AND: [isAfter(key, last)] } : {};
  return { where: { ...where, mac: '', ...isLater }, take, orderBy, ...(include && { include }) };
}

/** With the first condition the database starts at the row (index); with the second one alone it would not. */
function isAfter(key: readonly string[], last: ProtectedRow): object {
  const [first = ''] = key;
  const later = key.map((column, index) => ({
    ...Object.fromEntries(key.slice(0, index).map((earlier) => [earlier, last[earlier]])),
    [column]: { gt: last[column] },
  }));
  return { [first]: { gte: last[first] }, OR: later };
}
