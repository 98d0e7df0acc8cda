// The MACs of rows that a test writes directly: the server would reject them as those of another program.

import { type Db, type Tx, transaction } from '../../../src/base/storage/database.ts';
import { fragment, joinFragments, trustedText } from '../../../src/base/storage/fragments.ts';
import { coveredOf, rowsOf, tablesInOrder } from '../../../src/cli/doctor/check-rows.ts';

export interface SigningServices {
  db: Db;
}

/** Rows of one transaction, of a benchmark with a million, and of one statement. */
const [PAGE, PIECE] = [20_000, 1000];
const LONG = { timeout: 600_000 };

/** Writes the MAC of every row without one. A test that changes a row empties its `mac` in the same statement. */
export async function signRows({ db }: SigningServices): Promise<void> {
  for (const [table, entry] of tablesInOrder) {
    const { where, include } = entry;
    const query = { where: { ...where, mac: '' }, take: PAGE, ...(include && { include }) };
    const keys = entry.key.map(columnOf);
    for (;;) {
      const rows = await rowsOf(db, entry).findMany(query);
      const signed = rows.map((row) => [
        ...entry.key.map((column) => row[column] as string),
        db.macs.macOf(table, coveredOf(entry, row)),
      ]);
      const write = async (tx: Tx) => {
        for (let at = 0; at < signed.length; at += PIECE) {
          const values = signed.slice(at, at + PIECE).map((row) => fragment`(${joinFragments(row, ', ')})`);
          const isSame = keys.map((column) => trustedText(`${table}.${column} = signed.${column}`));
          await tx.$executeRaw(fragment`WITH signed(${trustedText([...keys, 'new_mac'].join(', '))}) AS (VALUES ${joinFragments(values, ', ')})
            UPDATE ${trustedText(table)} SET mac = signed.new_mac FROM signed WHERE ${joinFragments(isSame, ' AND ')}`);
        }
      };
      if (rows.length > 0) await transaction(db, write, LONG);
      if (rows.length < PAGE) break;
    }
  }
}

/** Of the name that Prisma gives it. */
const columnOf = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
