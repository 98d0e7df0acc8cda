// Persistent NameIDs (SAML Core 8.3.7): opaque, one per user and service provider. They stay stored when the user is
// deleted, so that no other user ever gets the same one.

import { randomId, randomToken } from '../../../base/platform/random.ts';
import { isUniqueViolation } from '../../../base/storage/database.ts';
import { hotStatements } from '../../../base/storage/statements.ts';
import type { Core } from '../../../core/core.ts';

export type StoredNameIds = ReturnType<typeof createStoredNameIds>;

export const statements = hotStatements('name-ids', {
  find: 'SELECT value, mac FROM saml_name_ids WHERE user_id = ? AND application_id = ?',
});

const TABLE = 'saml_name_ids';

export function createStoredNameIds({ db, sql, now, protectedRows }: Core) {
  async function find(userId: string, applicationId: string): Promise<string | undefined> {
    const [row] = await sql.query<{ value: string; mac: string }>(statements.find, userId, applicationId);
    if (!row || protectedRows.isGenuine(TABLE, { userId, applicationId, ...row }, row.mac)) return row?.value;
    throw new Error(`the NameID of user ${userId} for application ${applicationId} was written by another program`);
  }

  return {
    /** The user whose stored value at this service provider it is; also a user who was deleted. */
    async ownerOf(applicationId: string, value: string): Promise<string | undefined> {
      const row = await db.asStored.samlNameId.findUnique({
        where: { value },
        select: { userId: true, applicationId: true, mac: true },
      });
      if (row?.applicationId !== applicationId) return undefined;
      return protectedRows.isGenuine(TABLE, { ...row, value }, row.mac) ? row.userId : undefined;
    },

    /** The stored value; with `mayCreate` a new one when there is none. */
    async persistent(userId: string, applicationId: string, mayCreate: boolean): Promise<string | undefined> {
      const value = await find(userId, applicationId);
      if (value !== undefined || !mayCreate) return value;
      // A concurrent request of the same user may insert first; then both use its value.
      const made = { userId, applicationId, value: randomToken(24) };
      const row = { id: randomId(), ...made, mac: protectedRows.macOf(TABLE, made), createdAt: now() };
      await db.samlNameId.create({ data: row, select: { id: true } }).catch((error: unknown) => {
        if (!isUniqueViolation(error)) throw error;
      });
      return find(userId, applicationId);
    },
  };
}
