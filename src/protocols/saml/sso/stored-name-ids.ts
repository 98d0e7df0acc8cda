// Persistent NameIDs (SAML Core 8.3.7): opaque, one per user and service provider. They stay stored when the user is
// deleted, so that no other user ever gets the same one.

import { randomId, randomToken } from '../../../base/platform/random.ts';
import { isUniqueConstraintError } from '../../../base/storage/database.ts';
import { hotStatements } from '../../../base/storage/statements.ts';
import type { Core } from '../../../core/core.ts';

export type StoredNameIds = ReturnType<typeof createStoredNameIds>;

export const statements = hotStatements('name-ids', {
  find: 'SELECT user_id AS "userId", application_id AS "applicationId", value, mac FROM saml_name_ids WHERE user_id = ? AND application_id = ?',
});

const TABLE = 'saml_name_ids';

interface Row {
  userId: string;
  applicationId: string;
  value: string;
  mac: string;
}

export function createStoredNameIds({ db, sql, now }: Core) {
  async function find(userId: string, applicationId: string): Promise<string | undefined> {
    const [row] = await sql.query<Row>(statements.find, userId, applicationId);
    if (!row || sql.macs.isGenuine(TABLE, row, row.mac)) return row?.value;
    throw new Error(`the NameID of user ${userId} for application ${applicationId} was written by another program`);
  }

  return {
    /** The user whose stored value at this service provider it is; also a user who was deleted. */
    async ownerOf(applicationId: string, value: string): Promise<string | undefined> {
      const row = await db.samlNameId.findUnique({ where: { value }, select: { userId: true, applicationId: true } });
      return row?.applicationId === applicationId ? row.userId : undefined;
    },

    /** The stored value; with `mayCreate` a new one when there is none. */
    async persistent(userId: string, applicationId: string, mayCreate: boolean): Promise<string | undefined> {
      const value = await find(userId, applicationId);
      if (value !== undefined || !mayCreate) return value;
      // A concurrent request of the same user may insert first; then both use its value.
      const row = { id: randomId(), userId, applicationId, value: randomToken(24), createdAt: now() };
      await db.samlNameId.create({ data: row, select: { id: true } }).catch((error: unknown) => {
        if (!isUniqueConstraintError(error)) throw error;
      });
      return find(userId, applicationId);
    },
  };
}
