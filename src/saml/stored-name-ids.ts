// Persistent identifiers (SAML Core 8.3.7): opaque, one for each person and service provider, the same each time, and
// kept when the person is deleted so that nobody else ever gets one.
import type { Clock } from '../platform/clock.ts';
import { randomId, randomToken } from '../platform/random.ts';
import { type Sql, sqlFor } from '../platform/sql.ts';

export interface StoredNameIds {
  /** The stored value; made when there is none and `mayCreate`. */
  persistent(userId: string, applicationId: string, mayCreate: boolean): Promise<string | undefined>;
}

const SQL = {
  find: 'SELECT value FROM saml_name_ids WHERE user_id = ? AND application_id = ?',
  make: `INSERT INTO saml_name_ids (id, user_id, application_id, value, created_at) VALUES (?,?,?,?,?)
    ON CONFLICT (user_id, application_id) DO NOTHING`,
};

export interface StoredNameIdsNeeds {
  sql: Sql;
  kind: 'sqlite' | 'postgresql';
  now: Clock;
}

export function createStoredNameIds({ sql, kind, now }: StoredNameIdsNeeds): StoredNameIds {
  const text = sqlFor(kind, SQL);
  const find = async (userId: string, applicationId: string) =>
    (await sql.query<{ value: string }>(text.find, userId, applicationId))[0]?.value;

  return {
    async persistent(userId, applicationId, mayCreate) {
      const value = await find(userId, applicationId);
      if (value !== undefined || !mayCreate) return value;
      // Another request of the same person may be first; then its value is the one.
      await sql.execute(text.make, randomId(), userId, applicationId, randomToken(24), now());
      return find(userId, applicationId);
    },
  };
}
