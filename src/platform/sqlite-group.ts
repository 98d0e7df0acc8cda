// Group commit: single statements of requests that are served at the same moment share one transaction, because SQLite
// pays for each commit with a page of every index it touched. Each caller hears of its own statement only, and only once
// the transaction is committed.
import type { SqlValue } from './sql.ts';
import type { SqliteStatements } from './sqlite-statements.ts';

interface Waiting {
  statement: string;
  values: SqlValue[];
  resolve(changes: number): void;
  reject(reason: unknown): void;
}

/** Runs a statement of its own, soon and together with others. `inTurn` keeps it out of open transactions. */
export function createGroupCommit(
  statements: SqliteStatements,
  inTurn: (work: () => Promise<void>) => Promise<void>,
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
          // SQLite takes back a failed statement alone; the others of the group stand.
          settle.push(() => reject(error));
        }
      }
      if (group.length > 1) statements.execute('COMMIT', []);
    } catch (error) {
      if (statements.inTransaction()) statements.execute('ROLLBACK', []);
      for (const { reject } of group) reject(error);
      return;
    }
    for (const tell of settle) tell();
  }

  return (statement, values) =>
    new Promise((resolve, reject) => {
      waiting.push({ statement, values, resolve, reject });
      if (waiting.length > 1) return;
      // After everything that is ready to run has run, and may have joined.
      setImmediate(() => {
        inTurn(commitAll).catch(reject);
      });
    });
}
