// Writes the MACs of the users of an older version, as part of `gatehouse secrets adopt`.

import type { ProtectedRows } from '../audit/protected-rows.ts';
import { type AdoptOptions, adoptRows } from '../storage/adopt-rows.ts';
import type { Db } from '../storage/database.ts';
import { userMac } from './protected-users.ts';

/** Writes the MAC of every user without one; returns the number of rows. */
export function adoptUsers(
  db: Db,
  protectedRows: Pick<ProtectedRows, 'macOf'>,
  options?: AdoptOptions,
): Promise<number> {
  return adoptRows(
    db,
    {
      empty: () => db.user.updateMany({ data: { mac: '' } }),
      next: (take) => db.user.findMany({ where: { mac: '' }, take }),
      save: (row) => db.user.update({ where: { id: row.id }, data: { mac: userMac(row, protectedRows) } }),
    },
    options,
  );
}
