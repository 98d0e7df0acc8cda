// The directory's revision on PostgreSQL: a number that triggers change in the transaction that changes the directory
// (prisma/migrations, directory_revisions), so that every instance sees both at once. The triggers are deferred and write a random number into
// one of 16 rows: commits rarely wait for each other, and a failover never comes to the same number for other rows.
import { requestReads } from '../request-reads.ts';
import { hotStatements, type PlainSql, type Revision } from '../statements.ts';

/** The revision as an SQL expression of type text; null while the directory has never changed. */
export const REVISION = '(SELECT sum(revision)::text FROM directory_revisions)';

export const statements = hotStatements('directory', { revision: `SELECT ${REVISION} AS revision` });

/** Lets the request that is served use the revision that a statement reads besides its rows, in a column `revision`; an outer join has a row. */
export function shareRevision(found: Promise<readonly { revision: string | null }[]>): void {
  const reads = requestReads();
  if (!reads || reads.revision) return;
  reads.revision = found.then(([row]) => row?.revision ?? undefined);
  // It may never be used; the statement itself throws its failure.
  reads.revision.catch(() => {});
}

/** Reads it, once for each request. */
export function revisionOf(sql: PlainSql): Promise<Revision> {
  const reads = requestReads();
  if (!reads) return readShared(sql);
  reads.revision ??= readShared(sql);
  return reads.revision;
}

/** The read that has not begun yet, of each database. */
const waiting = new WeakMap<object, Promise<Revision>>();

/** All that ask for it in one turn of the event loop share a read, which begins after the last of them has asked. */
function readShared(sql: PlainSql): Promise<Revision> {
  const known = waiting.get(sql);
  if (known) return known;
  const shared = new Promise<Revision>((resolve, reject) => {
    setImmediate(() => {
      waiting.delete(sql);
      read(sql).then(resolve, reject);
    });
  });
  waiting.set(sql, shared);
  return shared;
}

async function read(sql: PlainSql): Promise<Revision> {
  const [row] = await sql.query<{ revision: string | null }>(statements.revision);
  return row?.revision ?? undefined;
}
