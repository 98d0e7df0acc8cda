// Opens the database, SQLite or PostgreSQL, and runs transactions. Domain functions use Prisma, whose client seals and verifies rows
// (protected-client.ts).

import type { SqlDriverAdapter, SqlQuery, SqlQueryable } from '@prisma/driver-adapter-utils';
import { type Prisma, PrismaClient } from '../../generated/sqlite/client.ts';
import { messageOf } from '../platform/errors.ts';
import { runInChildSpan, type SpanOptions } from '../platform/tracing.ts';
import { databaseErrorOf, repeatAfterConflict } from './contention.ts';
import { DatabaseError, type DatabaseKind, type DatabaseLocation, parseDatabaseUrl } from './database-url.ts';
import { type OpenOptions, patientLimits } from './open-options.ts';
import { type Protection, protectedClient } from './protected-client.ts';
import type { ProtectedRows } from './protected-rows.ts';
import { type PlainSql, protectedStatements, type Sql, type Statement, type Write } from './statements.ts';
import { type DatabaseUnavailable, unavailableIn } from './unavailable.ts';
import { withUnitOfWork } from './unit-of-work.ts';

export type Db = Omit<PrismaClient, '$transaction'> & Protection<PrismaClient> & { $transaction: Transact };
/** A Prisma client inside a transaction. A Db can be passed where a Tx is expected. */
export type Tx = Omit<Prisma.TransactionClient, '$transaction'> & Protection<Prisma.TransactionClient>;
type Transact = <T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions) => Promise<T>;
type TransactionOptions = { isolationLevel?: 'Serializable'; maxWait?: number; timeout?: number };

export interface Database {
  db: Db;
  /** Hot statements (statements.ts), on the same connections. */
  sql: Sql;
  /** For migrations, backup and doctor only. */
  kind: DatabaseKind;
  /** Sets the keys of MACs, which are stored in the database. Before that, no protected row is read or written. */
  protect(rows: ProtectedRows): void;
  close(): Promise<void>;
}

const TRANSACTION = { maxWait: 10_000, timeout: 15_000 };

/**
 * Opens the database, with the time limits of commands unless others are given. Throws DatabaseError when it cannot be reached.
 * migrate() creates the tables.
 */
export async function openDatabase(
  url: string,
  { withSpans = false, ...options }: Partial<OpenOptions> = {},
): Promise<Database> {
  const location = parseDatabaseUrl(url);
  const { kind } = location;
  let close = async () => {};
  try {
    const connections = await connect(location, options);
    const { adapter, sql } = withUnitOfWork(withSpans ? withStatementSpans(connections, kind) : connections);
    close = () => adapter.dispose();
    const client = await createClient(adapter, kind);
    await client.$connect();
    close = () => client.$disconnect(); // also disposes of the adapter
    await client.$queryRaw`SELECT 1 AS one`;
    let rows: ProtectedRows | undefined;
    const macs = () => rows ?? rejectUnprotected();
    const db = protectedClient(client, macs) as unknown as Db;
    const protect = (given: ProtectedRows) => {
      rows = given;
    };
    return { db, sql: protectedStatements(sql, macs), kind, close, protect };
  } catch (cause) {
    await close();
    throw unreachable(location, cause);
  }
}

/**
 * Runs `work` in one transaction, and repeats it after a conflict with another one (deadlock, serialization failure,
 * busy file), so `work` must do nothing but database work. Unique constraints and conditional updates decide races at
 * the default isolation level; a condition that neither can express ("only if there is none yet") needs Serializable.
 */
export function transaction<T>(
  db: Db,
  work: (tx: Tx) => Promise<T>,
  options: { isolationLevel?: 'Serializable'; timeout?: number } = {},
): Promise<T> {
  return repeatAfterConflict(() => db.$transaction(work, options));
}

/** Runs `work` in the transaction `tx` of the caller, or in a new transaction when there is none. */
export function withinTransaction<T>(db: Db, tx: Tx | undefined, work: (tx: Tx) => Promise<T>): Promise<T> {
  return tx ? work(tx) : transaction(db, work);
}

/** Whether `error` is a violated unique constraint; a caller finds a duplicate this way without a read before the write. */
export function isUniqueConstraintError(error: unknown): boolean {
  const { code, kind } = databaseErrorOf(error);
  if (code === 'P2002' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY') return true;
  return kind === 'UniqueConstraintViolation';
}

async function connect(
  location: DatabaseLocation,
  { limits, ...others }: Partial<OpenOptions>,
): Promise<{ adapter: SqlDriverAdapter; sql: PlainSql }> {
  const options = { limits: limits ?? patientLimits, ...others };
  if (location.kind === 'sqlite') return (await import('./sqlite/adapter.ts')).openSqlite(location.file, options);
  const [{ openPostgres }, { lookAtServer }] = await Promise.all([
    import('./postgresql/adapter.ts'),
    import('./postgresql/pool.ts'),
  ]);
  if (!limits) await lookAtServer(location, patientLimits);
  return openPostgres(location, options);
}

function rejectUnprotected(): never {
  throw new Error('a protected row cannot be used before the keys of MACs are known');
}

async function createClient(adapter: SqlDriverAdapter, kind: DatabaseKind): Promise<PrismaClient> {
  const { provider, adapterName } = adapter;
  const options = { adapter: { provider, adapterName, connect: async () => adapter }, transactionOptions: TRANSACTION };
  if (kind === 'sqlite') return new PrismaClient(options);
  const client = await import('../../generated/postgresql/client.ts');
  // Both clients are generated from one schema, so the type of the SQLite client fits both.
  return new client.PrismaClient(options) as unknown as PrismaClient;
}

/** The error for a database that does not respond; it does not contain the password of the URL. */
export function unreachable(location: DatabaseLocation, cause: unknown): DatabaseError {
  const unavailable = unavailableIn(cause);
  const reason =
    pgBouncerAdvice(location, unavailable?.cause) ?? (unavailable ? reasonIn(unavailable) : lastLineOf(cause));
  const where = location.kind === 'sqlite' ? location.file : `PostgreSQL at ${location.host}`;
  return new DatabaseError(`the database cannot be opened (${where}): ${reason}`, { cause });
}

/** PgBouncer rejects a connection with parameters that it does not pass on, such as time limits and the schema. */
function pgBouncerAdvice(location: DatabaseLocation, cause: unknown): string | undefined {
  if (location.kind === 'sqlite' || !lastLineOf(cause).startsWith('unsupported startup parameter')) return undefined;
  return location.keepsStatements
    ? 'PgBouncer is in front of it: add ?pgbouncer=true to DATABASE_URL'
    : 'PgBouncer does not pass on ?schema: use a database without it';
}

function reasonIn({ reason, cause }: DatabaseUnavailable): string {
  return cause instanceof Error ? `${reason}: ${lastLineOf(cause)}` : reason;
}

const lastLineOf = (error: unknown): string => messageOf(error).trim().split('\n').at(-1) ?? '';

// A span for each statement (OpenTelemetry's conventions for databases): a hot statement by its name, one of Prisma by what it does
// to which table. Neither the text of a statement nor a value is in it. Used only when traces are on.

interface Connections {
  adapter: SqlDriverAdapter;
  sql: PlainSql;
}

/** The same connections with spans. Those of guarded-adapter.ts are plain objects, whose functions need no `this`. */
function withStatementSpans({ adapter, sql }: Connections, kind: DatabaseKind): Connections {
  const withSpans = <Target extends SqlQueryable>(target: Target): Target => ({
    ...target,
    queryRaw: (query: SqlQuery) => runInChildSpan(...spanOf(query, kind), () => target.queryRaw(query)),
    executeRaw: (query: SqlQuery) => runInChildSpan(...spanOf(query, kind), () => target.executeRaw(query)),
  });
  const inSpanOf = <T>({ name }: Statement, work: () => Promise<T>): Promise<T> =>
    runInChildSpan(...namedSpan(name, kind), work);
  return {
    adapter: {
      ...withSpans(adapter),
      async startTransaction(level) {
        // It waits for a connection, or for the writer of SQLite.
        const begin = () => adapter.startTransaction(level);
        return withSpans(await runInChildSpan('BEGIN', optionsOf('BEGIN', undefined, kind), begin));
      },
    },
    sql: {
      ...sql,
      query: (statement, ...values) => inSpanOf(statement, () => sql.query(statement, ...values)),
      commit: (writes, options) => runInChildSpan(...commitSpan(writes, kind), () => sql.commit(writes, options)),
      in(tx) {
        const { query, execute } = sql.in(tx);
        return {
          query: (statement, ...values) => inSpanOf(statement, () => query(statement, ...values)),
          execute: (statement, ...values) => inSpanOf(statement, () => execute(statement, ...values)),
        };
      },
    },
  };
}

function spanOf({ sql }: SqlQuery, kind: DatabaseKind): [string, SpanOptions] {
  const operation = /^\s*(\w{1,20})/.exec(sql)?.[1]?.toUpperCase() ?? 'SQL';
  const table = /\b(?:FROM|INTO|UPDATE)\s+(?:["`]?\w+["`]?\.)?["`]?([a-z_]{1,63})["`]?/i.exec(sql)?.[1];
  return [table ? `${operation} ${table}` : operation, optionsOf(operation, table, kind)];
}

/** Of several statements: `BATCH`, with the name that all of them have. */
function commitSpan(writes: readonly Write[], kind: DatabaseKind): [string, SpanOptions] {
  const [name = 'BATCH', ...others] = new Set(writes.map(({ statement }) => statement.name));
  if (writes.length === 1) return namedSpan(name, kind);
  return namedSpan(others.length > 0 ? 'BATCH' : `BATCH ${name}`, kind, writes.length);
}

function namedSpan(name: string, kind: DatabaseKind, batchSize?: number): [string, SpanOptions] {
  const attributes = { 'db.system.name': kind, 'db.query.summary': name, 'db.operation.batch.size': batchSize };
  return [name, { kind: 'client', isLeaf: true, attributes }];
}

function optionsOf(operation: string, table: string | undefined, kind: DatabaseKind): SpanOptions {
  return {
    kind: 'client',
    isLeaf: true,
    attributes: { 'db.system.name': kind, 'db.operation.name': operation, 'db.collection.name': table },
  };
}
