// The MACs of rows that a test writes directly: the server would reject them as those of another program.

import { type Db, transaction } from '../../../src/base/storage/database.ts';
import { coveredOf, rowsOf, tablesInOrder, uniqueKey } from '../../../src/cli/doctor/check-rows.ts';

export interface SigningServices {
  db: Db;
}

/** Tens of thousands of rows of a benchmark. */
const LONG = { timeout: 3_600_000 };

/** Writes the MAC of every row without one. A test that changes a row empties its `mac` in the same statement. */
export async function signRows({ db }: SigningServices): Promise<void> {
  for (const [table, entry] of tablesInOrder) {
    const { where, include } = entry;
    const rows = await rowsOf(db, entry).findMany({ where: { ...where, mac: '' }, ...(include && { include }) });
    if (rows.length === 0) continue;
    const select = Object.fromEntries(entry.key.map((column) => [column, true]));
    await transaction(
      db,
      async (tx) => {
        for (const row of rows) {
          const data = { mac: db.macs.macOf(table, coveredOf(entry, row)) };
          await rowsOf(tx, entry).update({ where: uniqueKey(entry, row), data, select });
        }
      },
      LONG,
    );
  }
}
