// Writes the MACs of the applications and APIs of an older version, as part of `gatehouse secrets adopt`.

import type { ProtectedRows } from '../../audit/protected-rows.ts';
import { type AdoptOptions, adoptRows } from '../../storage/adopt-rows.ts';
import type { Db } from '../../storage/database.ts';
import { resourceFields } from '../resources.ts';
import { accessRow, applicationMac, clientSecretRow } from './protected-applications.ts';

const NONE = { where: { mac: '' } };

/** Writes the MAC of every row without one; returns the number of rows of each table. */
export async function adoptApplications(db: Db, protectedRows: Pick<ProtectedRows, 'macOf'>, options?: AdoptOptions) {
  const applications = await adoptRows(
    db,
    {
      empty: () => db.application.updateMany({ data: { mac: '' } }),
      next: (take) => db.application.findMany({ ...NONE, take }),
      save: (row) =>
        db.application.update({ where: { id: row.id }, data: { mac: applicationMac(row, protectedRows) } }),
    },
    options,
  );
  const accessRules = await adoptRows(
    db,
    {
      empty: () => db.applicationRole.updateMany({ data: { mac: '' } }),
      next: (take) => db.applicationRole.findMany({ ...NONE, take }),
      save({ applicationId, roleId }) {
        const { mac } = accessRow(applicationId, roleId, protectedRows);
        return db.applicationRole.update({
          where: { applicationId_roleId: { applicationId, roleId } },
          data: { mac },
        });
      },
    },
    options,
  );
  const secrets = await adoptRows(
    db,
    {
      empty: () => db.clientSecret.updateMany({ data: { mac: '' } }),
      next: (take) => db.clientSecret.findMany({ ...NONE, take }),
      save: (row) =>
        db.clientSecret.update({ where: { id: row.id }, data: { mac: clientSecretRow(row, protectedRows).mac } }),
    },
    options,
  );
  const resources = await adoptRows(
    db,
    {
      empty: () => db.resource.updateMany({ data: { mac: '' } }),
      next: (take) => db.resource.findMany({ ...NONE, take }),
      save(row) {
        const mac = protectedRows.macOf('resources', resourceFields(row));
        return db.resource.update({ where: { identifier: row.identifier }, data: { mac } });
      },
    },
    options,
  );
  return { applications, application_roles: accessRules, client_secrets: secrets, resources };
}
