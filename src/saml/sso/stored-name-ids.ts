// Persistent NameIDs (SAML Core 8.3.7): opaque, one per user and service provider. They stay stored when the user is
// deleted, so that no other user ever gets the same one.
import type { Clock } from '../../platform/clock.ts';
import { randomId, randomToken } from '../../platform/random.ts';
import { type Db, isUniqueViolation } from '../../storage/database.ts';
import { hotStatements, type Sql } from '../../storage/statements.ts';

export interface StoredNameIds {
  /** The stored value; with `mayCreate` a new one when there is none. */
  persistent(userId: string, applicationId: string, mayCreate: boolean): Promise<string | undefined>;
}

export const statements = hotStatements('name-ids', {
  find: 'SELECT value FROM saml_name_ids WHERE user_id = ? AND application_id = ?',
});

export interface StoredNameIdsDependencies {
  db: Db;
  sql: Sql;
  now: Clock;
}

export function createStoredNameIds({ db, sql, now }: StoredNameIdsDependencies): StoredNameIds {
  const find = async (userId: string, applicationId: string) =>
    (await sql.query<{ value: string }>(statements.find, userId, applicationId))[0]?.value;

  return {
    async persistent(userId, applicationId, mayCreate) {
      const value = await find(userId, applicationId);
      if (value !== undefined || !mayCreate) return value;
      // A concurrent request of the same user may insert first; its value then counts for both.
      const row = { id: randomId(), userId, applicationId, value: randomToken(24), createdAt: now() };
      await db.samlNameId.create({ data: row, select: { id: true } }).catch((error: unknown) => {
        if (!isUniqueViolation(error)) throw error;
      });
      return find(userId, applicationId);
    },
  };
}
