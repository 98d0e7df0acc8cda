// Group commit: the writes of concurrent requests share one transaction, because each commit of SQLite writes a page
// of every index that it touched. Each caller gets the result of its own statements, after the transaction is committed.
import type { PlainSql, Write } from '../statements.ts';
import type { SqliteStatements } from './statement-cache.ts';

interface Waiting {
  writes: readonly Write[];
  orNone: boolean;
  resolve(changes: number[]): void;
  reject(reason: unknown): void;
}

/** Returns a function that runs statements together with those of others. `runExclusive` keeps them out of open transactions. */
export function createGroupCommit(
  statements: SqliteStatements,
  runExclusive: (work: () => Promise<void>) => Promise<void>,
): PlainSql['commit'] {
  let waiting: Waiting[] = [];

  return (writes, { orNone = false } = {}) =>
    new Promise((resolve, reject) => {
      waiting.push({ writes, orNone, resolve, reject });
      if (waiting.length > 1) return;
      // setImmediate lets the other requests that are ready add their statements first.
      setImmediate(() => {
        let group: Waiting[] = [];
        const commitGroup = async () => {
          if (group.length === 0) [group, waiting] = [waiting, []];
          commitAll(statements, group);
        };
        runExclusive(commitGroup).catch((error: unknown) => {
          // Without the lock, the group has not been taken yet.
          if (group.length === 0) [group, waiting] = [waiting, []];
          for (const one of group) one.reject(error);
        });
      });
    });
}

/** Settles all members of the group, or throws before any of them has run: the group can be tried again. */
function commitAll(statements: SqliteStatements, group: readonly Waiting[]): void {
  const [single] = group;
  if (single && group.length === 1 && single.writes.length === 1) {
    single.resolve(runWrites(statements, single));
    return;
  }
  const settle: (() => void)[] = [];
  statements.execute('BEGIN IMMEDIATE', []);
  try {
    for (const member of group) {
      try {
        const changes = runMember(statements, member);
        settle.push(() => member.resolve(changes));
      } catch (error) {
        // After an error of the file, such as a full disk, SQLite has rolled back all of them.
        if (!statements.inTransaction()) throw error;
        // Else only the member that failed; the others of the group are committed.
        settle.push(() => member.reject(error));
      }
    }
    statements.execute('COMMIT', []);
  } catch (error) {
    if (statements.inTransaction()) statements.execute('ROLLBACK', []);
    for (const { reject } of group) reject(error);
    return;
  }
  for (const settleOne of settle) settleOne();
}

/** Several statements of a member are all run or none. */
function runMember(statements: SqliteStatements, member: Waiting): number[] {
  if (member.writes.length === 1) return runWrites(statements, member);
  statements.execute('SAVEPOINT member', []);
  let isDone = false;
  try {
    const changes = runWrites(statements, member);
    isDone = !member.orNone || !changes.includes(0);
    return changes;
  } finally {
    if (statements.inTransaction()) {
      if (!isDone) statements.execute('ROLLBACK TO member', []);
      statements.execute('RELEASE member', []);
    }
  }
}

function runWrites(statements: SqliteStatements, { writes, orNone }: Waiting): number[] {
  const changes: number[] = [];
  for (const { statement, values } of writes) {
    const count = statements.execute(statement.sqlite, values);
    changes.push(count);
    if (orNone && count === 0) break;
  }
  return changes;
}
