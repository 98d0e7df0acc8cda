// Caches the prepared statements of a SQLite connection, because parsing takes longer than running. Prisma's adapter (pinned
// version) prepares a statement for each run, so this replaces `prepare` of its connection by a cached one. The cache never
// shrinks (connections.ts); the source has a limited number of statement texts.
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import type Sqlite from 'better-sqlite3';
import type { SqlValue } from '../statements.ts';
import { clientOf } from './connections.ts';

export interface SqliteStatements {
  query<Row>(statement: string, values: SqlValue[]): Row[];
  execute(statement: string, values: SqlValue[]): number;
  inTransaction(): boolean;
}

interface PlainStatement {
  statement: Sqlite.Statement<unknown[]>;
  afterRun: (() => void) | undefined;
  /** Columns whose stored form differs from the one that callers expect. */
  convert: [name: string, from: (stored: unknown) => unknown][];
}

/** The callback for after each run of the statement, if it needs one. */
export type AfterRun = (statement: string) => (() => void) | undefined;

/** Adds the cache to the connection, and returns functions that run hot statements without Prisma. */
export function withStatementCache(
  connection: SqlDriverAdapter,
  afterRunOf: AfterRun = () => undefined,
): SqliteStatements {
  const client = clientOf(connection);
  const prepare = client.prepare.bind(client);
  const forPrisma = createCache((text) => reusable(prepare(text), afterRunOf(text)));
  const plain = createCache((text) => plainStatement(prepare(text), afterRunOf(text)));
  Object.assign(client, { prepare: forPrisma });

  return {
    query<Row>(text: string, values: SqlValue[]): Row[] {
      const { statement, afterRun, convert } = plain(text);
      const rows = statement.all(values.map(toStored)) as Record<string, unknown>[];
      afterRun?.();
      for (const [name, from] of convert)
        for (const row of rows) row[name] = row[name] === null ? null : from(row[name]);
      return rows as Row[];
    },
    execute(text, values) {
      const { statement, afterRun } = plain(text);
      const { changes } = statement.run(values.map(toStored));
      afterRun?.();
      return changes;
    },
    inTransaction: () => client.inTransaction,
  };
}

// The adapter calls `bind` on a fresh statement, then reads or runs it. A cached one takes its values at each run instead.
function reusable(statement: Sqlite.Statement<unknown[]>, afterRun: (() => void) | undefined) {
  const columns = statement.reader ? statement.columns() : [];
  if (statement.reader) statement.raw();
  const finished = <T>(result: T): T => {
    afterRun?.();
    return result;
  };
  const bind = (values: unknown[]) => ({
    reader: statement.reader,
    columns: () => columns,
    raw: () => ({ all: () => finished(statement.all(values)) }),
    run: () => finished(statement.run(values)),
  });
  return { bind, run: () => finished(statement.run()) };
}

function plainStatement(statement: Sqlite.Statement<unknown[]>, afterRun: (() => void) | undefined): PlainStatement {
  statement.safeIntegers(false); // no stored integer exceeds 2^53
  const columns = statement.reader ? statement.columns() : [];
  const convert = columns.flatMap(({ name, type }): PlainStatement['convert'] => {
    if (type === 'DATETIME') return [[name, (text) => new Date(String(text))]];
    return type === 'BOOLEAN' ? [[name, (flag) => flag === 1]] : [];
  });
  return { statement, afterRun, convert };
}

function toStored(value: SqlValue): unknown {
  if (value instanceof Date) return value.toISOString().replace('Z', '+00:00'); // as Prisma stores it
  return typeof value === 'boolean' ? Number(value) : value;
}

function createCache<T>(make: (text: string) => T): (text: string) => T {
  const cache = new Map<string, T>();
  return (text) => {
    const cached = cache.get(text);
    if (cached) return cached;
    const created = make(text);
    cache.set(text, created);
    return created;
  };
}
