// Prepared statements of a SQLite connection, kept: to parse a statement takes longer than to run it. Prisma's
// adapter prepares anew each time, so its connection is given a `prepare` that remembers (version pinned; the
// whole test suite runs on it). All are kept for good (sqlite-connection.ts); they are as many as the code has texts.
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import type Sqlite from 'better-sqlite3';
import type { SqlValue } from './sql.ts';
import { clientOf } from './sqlite-connection.ts';

export interface SqliteStatements {
  query<Row>(statement: string, values: SqlValue[]): Row[];
  execute(statement: string, values: SqlValue[]): number;
  inTransaction(): boolean;
}

interface PlainStatement {
  statement: Sqlite.Statement<unknown[]>;
  note: (() => void) | undefined;
  /** Columns whose stored form is not what callers expect. */
  convert: [name: string, from: (stored: unknown) => unknown][];
}

/** What is to be told after a run of the statement, if anything. */
export type NoteOf = (statement: string) => (() => void) | undefined;

/** Makes the connection remember its statements, and returns a way to run some of them without Prisma. */
export function withStatementCache(connection: SqlDriverAdapter, noteOf: NoteOf = () => undefined): SqliteStatements {
  const client = clientOf(connection);
  const prepare = client.prepare.bind(client);
  const forPrisma = createCache((text) => reusable(prepare(text), noteOf(text)));
  const plain = createCache((text) => plainStatement(prepare(text), noteOf(text)));
  Object.assign(client, { prepare: forPrisma });

  return {
    query<Row>(text: string, values: SqlValue[]): Row[] {
      const { statement, note, convert } = plain(text);
      const rows = statement.all(values.map(stored)) as Record<string, unknown>[];
      note?.();
      for (const [name, from] of convert)
        for (const row of rows) row[name] = row[name] === null ? null : from(row[name]);
      return rows as Row[];
    },
    execute(text, values) {
      const { statement, note } = plain(text);
      const { changes } = statement.run(values.map(stored));
      note?.();
      return changes;
    },
    inTransaction: () => client.inTransaction,
  };
}

// What the adapter does with a statement: bind once, then read or run. A kept one takes its values each time.
function reusable(statement: Sqlite.Statement<unknown[]>, note: (() => void) | undefined) {
  const columns = statement.reader ? statement.columns() : [];
  if (statement.reader) statement.raw();
  const noted = <T>(result: T): T => {
    note?.();
    return result;
  };
  const bind = (values: unknown[]) => ({
    reader: statement.reader,
    columns: () => columns,
    raw: () => ({ all: () => noted(statement.all(values)) }),
    run: () => noted(statement.run(values)),
  });
  return { bind, run: () => noted(statement.run()) };
}

function plainStatement(statement: Sqlite.Statement<unknown[]>, note: (() => void) | undefined): PlainStatement {
  statement.safeIntegers(false); // nothing of ours counts beyond 2^53
  const columns = statement.reader ? statement.columns() : [];
  const convert = columns.flatMap(({ name, type }): PlainStatement['convert'] => {
    if (type === 'DATETIME') return [[name, (text) => new Date(String(text))]];
    return type === 'BOOLEAN' ? [[name, (flag) => flag === 1]] : [];
  });
  return { statement, note, convert };
}

function stored(value: SqlValue): unknown {
  if (value instanceof Date) return value.toISOString().replace('Z', '+00:00'); // as Prisma stores it
  return typeof value === 'boolean' ? Number(value) : value;
}

function createCache<T>(make: (text: string) => T): (text: string) => T {
  const kept = new Map<string, T>();
  return (text) => {
    const known = kept.get(text);
    if (known) return known;
    const made = make(text);
    kept.set(text, made);
    return made;
  };
}
