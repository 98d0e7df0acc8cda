// The directory's revision on PostgreSQL: a number that triggers change in the transaction that changes the directory
// (prisma/migrations, directory_revisions), so that every instance sees both at once.
import { requestReads } from '../request-reads.ts';
import { type Revision, remoteStatements, type Statements } from '../statements.ts';

/** The revision as an SQL expression of type text; null while the directory has never changed. */
export const REVISION = '(SELECT sum(revision)::text FROM directory_revisions)';

export const statements = remoteStatements('directory', {
  revision: `SELECT ${REVISION} AS revision`,
});

/** Reads it, once for each request. */
export function revisionOf(sql: Pick<Statements, 'query'>): Promise<Revision> {
  const reads = requestReads();
  if (!reads) return read(sql);
  reads.revision ??= read(sql);
  return reads.revision;
}

async function read(sql: Pick<Statements, 'query'>): Promise<Revision> {
  const [row] = await sql.query<{ revision: string | null }>(statements.revision);
  return row?.revision ?? undefined;
}
