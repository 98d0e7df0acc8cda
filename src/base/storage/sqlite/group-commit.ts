// Group commit: single statements of concurrent requests share one transaction, because each commit of SQLite writes a page
// of every index that it touched. Each caller gets the result of its own statement, after the transaction is committed.
import type { SqlValue } from '../statements.ts';
import type { SqliteStatements } from './statement-cache.ts';

interface Waiting {
  statement: string;
  values: SqlValue[];
  resolve(changes: number): void;
  reject(reason: unknown): void;
}

/** Returns a function that runs a statement together with others. `runExclusive` keeps it out of open transactions. */
export function createGroupCommit(
  statements: SqliteStatements,
  runExclusive: (work: () => Promise<void>) => Promise<void>,
): (statement: string, values: SqlValue[]) => Promise<number> {
  let waiting: Waiting[] = [];

  return (statement, values) =>
    new Promise((resolve, reject) => {
      waiting.push({ statement, values, resolve, reject });
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

/** Settles all statements of the group, or throws before any of them has run: the group can be tried again. */
function commitAll(statements: SqliteStatements, group: readonly Waiting[]): void {
  const [single] = group;
  if (single && group.length === 1) {
    single.resolve(statements.execute(single.statement, single.values));
    return;
  }
  const settle: (() => void)[] = [];
  statements.execute('BEGIN IMMEDIATE', []);
  try {
    for (const { statement, values, resolve, reject } of group) {
      try {
        const changes = statements.execute(statement, values);
        settle.push(() => resolve(changes));
      } catch (error) {
        // After an error of the file, such as a full disk, SQLite has rolled back all of them.
        if (!statements.inTransaction()) throw error;
        // Else only the failed statement; the others of the group are committed.
        settle.push(() => reject(error));
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
