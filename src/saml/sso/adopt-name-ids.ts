// Writes the MACs of the NameIDs of an older version, as part of `gatehouse secrets adopt`.

import type { ProtectedRows } from '../../audit/protected-rows.ts';
import { type AdoptOptions, adoptRows } from '../../storage/adopt-rows.ts';
import type { Db } from '../../storage/database.ts';
import { nameIdFields } from './stored-name-ids.ts';

/** Writes the MAC of every NameID without one; returns the number of rows. */
export function adoptNameIds(
  db: Db,
  protectedRows: Pick<ProtectedRows, 'macOf'>,
  options?: AdoptOptions,
): Promise<number> {
  return adoptRows(
    db,
    {
      empty: () => db.samlNameId.updateMany({ data: { mac: '' } }),
      next: (take) => db.samlNameId.findMany({ where: { mac: '' }, take }),
      save(row) {
        const mac = protectedRows.macOf('saml_name_ids', nameIdFields(row));
        return db.samlNameId.update({ where: { id: row.id }, data: { mac } });
      },
    },
    options,
  );
}
