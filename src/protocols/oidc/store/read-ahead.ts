// On PostgreSQL, one statement reads the rows that a request would read one after the other: its token or session, their grant and
// session, and the directory's revision (base/storage/postgresql/directory-revision.ts). The request keeps the rows until the engine reads
// them; then they are verified as any row.
import type { Base } from '../../../base/base.ts';
import { REVISION, shareRevision } from '../../../base/storage/postgresql/directory-revision.ts';
import { requestReads } from '../../../base/storage/request-reads.ts';
import { hotStatements } from '../../../base/storage/statements.ts';
import { isStorable } from '../../../base/storage/storable-text.ts';
import { PROTECTED_SQL, type ProtectedArtifact } from './protected-artifacts.ts';
import { notEndedCondition } from './sessions/ended-sessions.ts';

export interface ArtifactRow extends ProtectedArtifact {
  expiresAt: bigint | number | null;
}

export type ReadAhead = ReturnType<typeof createReadAhead>;

/** The database id of a grant: `artifactId` in SQL. */
const idOfGrant = (grantId: string) =>
  `translate(rtrim(encode(sha256(convert_to('Grant:' || ${grantId}, 'UTF8')), 'base64'), '='), '+/', '-_')`;

// `asked`: the rows of the three ids. `related`: these, the grant of each token and of the client in a session (`grantPattern`), and the live
// session of each token. Of the sessions and codes among them, only those whose session has not ended; the revision comes also without rows.
// The payload is searched as text, because one that another program wrote may be invalid JSON.
export const statements = hotStatements('read-ahead', {
  find: `WITH asked AS (SELECT * FROM oidc_artifacts WHERE id IN (?, ?, ?)),
    related AS (SELECT * FROM asked
      UNION ALL SELECT g.* FROM asked a JOIN oidc_artifacts g
        ON g.id = ${idOfGrant('coalesce(a.grant_id, substring(a.payload FROM CAST(? AS TEXT)))')}
      UNION ALL SELECT s.* FROM asked a JOIN oidc_artifacts s
        ON s.uid = substring(a.payload FROM '"sessionUid":"([^"]+)"') AND s.model = 'Session' AND s.expires_at > ?)
    SELECT ${PROTECTED_SQL}, expires_at AS "expiresAt", revision
      FROM (SELECT ${REVISION} AS revision) r LEFT JOIN related
        ON model NOT IN ('Session', 'AuthorizationCode') OR ${notEndedCondition('related.uid')}`,
});

const MAX_CLIENT_ID = 256;

type FoundRow = (ArtifactRow | { id: null }) & { revision: string | null };

export function createReadAhead({ sql, now }: Base) {
  return {
    /**
     * Reads the rows of these ids (one to three) with their related rows; does nothing outside of a request, or on SQLite.
     * @param clientId the client whose grant is read with a session
     */
    async begin(ids: readonly string[], clientId?: string): Promise<void> {
      const reads = requestReads();
      const [first] = ids;
      if (!reads || !sql.isRemote || first === undefined) return;
      const [, second = first, third = first] = ids;
      const grant = clientId ? grantPattern(clientId) : null;
      const epoch = Math.floor(now().getTime() / 1000);
      const query = sql.query<FoundRow>(statements.find, first, second, third, grant, epoch);
      shareRevision(query);
      const rows = await query;
      // Null until a row is found below. Not before the query: until its result it is unknown whether there is a row.
      for (const id of ids) reads.ahead.set(id, null);
      for (const row of rows) {
        // There is a row for the revision alone.
        if (row.id === null) continue;
        reads.ahead.set(row.id, row);
        if (row.model === 'Session' && row.uid !== null && !ids.includes(row.id))
          reads.ahead.set(`uid:${row.uid}`, row);
      }
    },

    /** The row of this id, once; null when there is none, undefined when it was not read. */
    take: (id: string): ArtifactRow | null | undefined => takeFrom(id),
    /** The live session of this uid, once; undefined when it was not read. */
    takeSession: (uid: string): ArtifactRow | undefined => takeFrom(`uid:${uid}`) ?? undefined,
  };
}

function takeFrom(key: string): ArtifactRow | null | undefined {
  const ahead = requestReads()?.ahead;
  const row = ahead?.get(key) as ArtifactRow | null | undefined;
  ahead?.delete(key);
  return row;
}

/**
 * Finds the id of the client's grant in the payload of a session, as a regular expression of PostgreSQL, in which a backslash before
 * punctuation makes it literal. Null for an impossible client id; then the grant is read when it is needed.
 */
function grantPattern(clientId: string): string | null {
  if (clientId.length > MAX_CLIENT_ID || !isStorable(clientId)) return null;
  const key = JSON.stringify(clientId).replace(/[!-/:-@[-^`{-~]/g, '\\$&');
  return `${key}:\\{[^{}]*"grantId":"([^"]+)"`;
}
