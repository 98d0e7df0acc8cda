// Writes the MACs of the settings of an older version, as part of `gatehouse secrets adopt`.

import type { ProtectedRows } from '../audit/protected-rows.ts';
import { type AdoptOptions, adoptRows } from '../storage/adopt-rows.ts';
import type { Db } from '../storage/database.ts';
import { settingFields, settingNames } from './settings.ts';

/** Writes the MAC of every setting without one; returns the number of rows. */
export function adoptSettings(
  db: Db,
  protectedRows: Pick<ProtectedRows, 'macOf'>,
  options?: AdoptOptions,
): Promise<number> {
  return adoptRows(
    db,
    {
      empty: () => db.setting.updateMany({ where: { key: { in: settingNames } }, data: { mac: '' } }),
      next: (take) => db.setting.findMany({ where: { mac: '', key: { in: settingNames } }, take }),
      save(row) {
        const mac = protectedRows.macOf('settings', settingFields(row));
        return db.setting.update({ where: { key: row.key }, data: { mac } });
      },
    },
    options,
  );
}
