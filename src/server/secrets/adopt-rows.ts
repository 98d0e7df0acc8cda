// Writes the MACs of rows that have none, as part of `gatehouse secrets adopt`: of every table of server/secrets/protected-tables.ts.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ProtectedRows, ProtectedTable } from '../../audit/protected-rows.ts';
import type { Db } from '../../storage/database.ts';
import { nameOfRow, type ProtectedTableEntry, rowsOf, tablesInOrder, uniqueKey } from './protected-tables.ts';

const PAGE = 500;

export interface AdoptOptions {
  /** Rows with a MAC as well, because the data key that it was made under is lost. */
  all?: boolean;
}

/** Writes the MAC of every row without one, whatever it holds; returns the number of rows of each table. */
export async function adoptWithoutMac(
  db: Db,
  protectedRows: Pick<ProtectedRows, 'macOf'>,
  { all = false }: AdoptOptions = {},
): Promise<Record<string, number>> {
  const adopted: Record<string, number> = {};
  for (const [table, entry] of tablesInOrder) {
    if (entry.isShortLived) continue;
    if (all) await rowsOf(db, entry).updateMany({ where: entry.where ?? {}, data: { mac: '' } });
    adopted[table] = await adoptTable(db, protectedRows, table, entry);
  }
  return adopted;
}

async function adoptTable(
  db: Db,
  { macOf }: Pick<ProtectedRows, 'macOf'>,
  table: ProtectedTable,
  entry: ProtectedTableEntry,
): Promise<number> {
  for (let count = 0; ; ) {
    const rows = await rowsOf(db, entry).findMany(pageWithoutMac(entry, PAGE));
    await db.$transaction(
      rows.map((row) => {
        const change = { where: uniqueKey(entry, row), data: { mac: macOf(table, entry.fields(row)) } };
        return rowsOf(db, entry).update(change) as ReturnType<Db['user']['update']>;
      }),
    );
    count += rows.length;
    if (rows.length < PAGE) return count;
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

function pageWithoutMac({ where, include, key }: ProtectedTableEntry, take: number) {
  const orderBy = key.map((column) => ({ [column]: 'asc' }));
  return { where: { ...where, mac: '' }, take, orderBy, ...(include && { include }) };
}
