// Writes the MACs of the consents of an older version, as part of `gatehouse secrets adopt`.

import type { ProtectedRows } from '../audit/protected-rows.ts';
import { type AdoptOptions, adoptRows } from '../storage/adopt-rows.ts';
import type { Db } from '../storage/database.ts';
import { consentFields } from './consents.ts';

/** Writes the MAC of every consent without one; returns the number of rows. */
export function adoptConsents(
  db: Db,
  protectedRows: Pick<ProtectedRows, 'macOf'>,
  options?: AdoptOptions,
): Promise<number> {
  return adoptRows(
    db,
    {
      empty: () => db.consent.updateMany({ data: { mac: '' } }),
      next: (take) => db.consent.findMany({ where: { mac: '' }, take }),
      save(row) {
        const mac = protectedRows.macOf('consents', consentFields(row));
        return db.consent.update({ where: { id: row.id }, data: { mac } });
      },
    },
    options,
  );
}
