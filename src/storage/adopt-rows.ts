// Writes the MACs of rows that have none, as part of `gatehouse secrets adopt`.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Db } from './database.ts';

export interface AdoptedRows<Row> {
  /** Empties the MACs of the table. */
  empty(): Promise<unknown>;
  /** The next rows without a MAC, at most `count`. */
  next(count: number): Promise<Row[]>;
  /** Stores the MAC of a row. */
  save(row: Row): ReturnType<Db['user']['update']> | Promise<unknown>;
}

const PAGE = 500;

export interface AdoptOptions {
  /** Rows with a MAC as well, because the data key that it was made under is lost. */
  all?: boolean;
}

/** Writes the MAC of every row that has none, whatever it holds; returns the number of rows. */
export async function adoptRows<Row>(
  db: Db,
  { empty, next, save }: AdoptedRows<Row>,
  { all = false }: AdoptOptions = {},
): Promise<number> {
  if (all) await empty();
  for (let count = 0; ; ) {
    const rows = await next(PAGE);
    await db.$transaction(rows.map((row) => save(row) as ReturnType<Db['user']['update']>));
    count += rows.length;
    if (rows.length < PAGE) return count;
    await yieldToEventLoop();
  }
}
