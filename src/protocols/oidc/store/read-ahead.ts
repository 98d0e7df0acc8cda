// On PostgreSQL, one statement reads the rows that a request would read one after the other: its token or session, their grant and
// session, and the directory's revision. The request stores the rows until the engine reads them; then they are verified as any row.
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

// The payload is searched as text, because one that another program wrote may be invalid JSON.
export const statements = hotStatements('read-ahead', {
  find: `WITH named AS (SELECT * FROM oidc_artifacts WHERE id IN (?, ?, ?)),
    found AS (SELECT * FROM named
      UNION ALL SELECT g.* FROM named n JOIN oidc_artifacts g
        ON g.id = ${idOfGrant('coalesce(n.grant_id, substring(n.payload FROM CAST(? AS TEXT)))')}
      UNION ALL SELECT s.* FROM named n JOIN oidc_artifacts s
        ON s.uid = substring(n.payload FROM '"sessionUid":"([^"]+)"') AND s.model = 'Session' AND s.expires_at > ?)
    SELECT ${PROTECTED_SQL}, expires_at AS "expiresAt", revision
      FROM (SELECT ${REVISION} AS revision) r LEFT JOIN found
        ON model NOT IN ('Session', 'AuthorizationCode') OR ${notEndedCondition('found.uid')}`,
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
      const found = sql.query<FoundRow>(statements.find, first, second, third, grant, epoch);
      shareRevision(found);
      const rows = await found;
      // Only after the query: before its result it is unknown whether there is a row.
      for (const id of ids) reads.ahead.set(id, null);
      for (const row of rows) {
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
