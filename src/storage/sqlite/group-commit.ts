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

  async function commitAll(): Promise<void> {
    const group = waiting;
    waiting = [];
    const settle: (() => void)[] = [];
    try {
      if (group.length > 1) statements.execute('BEGIN IMMEDIATE', []);
      for (const { statement, values, resolve, reject } of group) {
        try {
          const changes = statements.execute(statement, values);
          settle.push(() => resolve(changes));
        } catch (error) {
          // SQLite rolls back only the failed statement; the others of the group are committed.
          settle.push(() => reject(error));
        }
      }
      if (group.length > 1) statements.execute('COMMIT', []);
    } catch (error) {
      if (statements.inTransaction()) statements.execute('ROLLBACK', []);
      for (const { reject } of group) reject(error);
      return;
    }
    for (const settleOne of settle) settleOne();
  }

  return (statement, values) =>
    new Promise((resolve, reject) => {
      waiting.push({ statement, values, resolve, reject });
      if (waiting.length > 1) return;
      // setImmediate lets the other requests that are ready add their statements first.
      setImmediate(() => {
        runExclusive(commitAll).catch(reject);
      });
    });
}
