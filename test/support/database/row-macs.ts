// The MACs of rows that a test writes directly: the server would reject them as those of another program.

import type { Db } from '../../../src/base/storage/database.ts';
import { coveredOf, rowsOf, tablesInOrder, uniqueKey } from '../../../src/cli/doctor/check-rows.ts';

export interface SigningServices {
  db: Db;
}

/** Writes the MAC of every row without one. A test that changes a row empties its `mac` in the same statement. */
export async function signRows({ db }: SigningServices): Promise<void> {
  for (const [table, entry] of tablesInOrder) {
    const { where, include } = entry;
    const rows = await rowsOf(db, entry).findMany({ where: { ...where, mac: '' }, ...(include && { include }) });
    for (const row of rows) {
      const data = { mac: db.macs.macOf(table, coveredOf(entry, row)) };
      await rowsOf(db, entry).update({ where: uniqueKey(entry, row), data });
    }
  }
}
