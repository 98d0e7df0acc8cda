// The database: opened once by the composition root, on SQLite or PostgreSQL, and closed last. Queries sit in
// the domain function that means them; there is no layer over Prisma.
import { setTimeout as sleep } from 'node:timers/promises';
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import { type Prisma, PrismaClient } from '../generated/sqlite/client.ts';
import { DatabaseError, type DatabaseKind, type DatabaseLocation, parseDatabaseUrl } from './database-url.ts';
import { jitter } from './random.ts';
import type { Sql, SqlValue } from './sql.ts';

export type Db = PrismaClient;
/** What runs in a transaction, or anywhere: a Db can be passed where a Tx is asked for. */
export type Tx = Prisma.TransactionClient;

export interface Database {
  db: Db;
  /** Plain statements for the hot path, on the same connections. */
  sql: Sql;
  kind: DatabaseKind;
  close(): Promise<void>;
}

const TRANSACTION = { maxWait: 10_000, timeout: 15_000 };
const ATTEMPTS = 6;

/** Opens the database; throws DatabaseError when it cannot be reached. Tables are made by migrate(). */
export async function openDatabase(url: string): Promise<Database> {
  const location = parseDatabaseUrl(url);
  const { kind } = location;
  let close = async () => {};
  try {
    const { adapter, sql } = await connect(location);
    close = () => adapter.dispose();
    const db = await createClient(adapter, kind);
    await db.$connect();
    close = () => db.$disconnect(); // which disposes of the adapter
    await sql.query('SELECT 1 AS one');
    return { db, sql, kind, close };
  } catch (cause) {
    await close();
    throw unreachable(location, cause);
  }
}

/**
 * Runs `work` in one transaction, and again when another one got in its way (deadlock, serialization failure,
 * busy file): so `work` must do nothing but database work. Races are decided by unique constraints and
 * conditional updates, which hold at the default isolation of both databases; where neither can say it ("only if
 * there is none yet"), ask for Serializable.
 */
export async function transaction<T>(
  db: Db,
  work: (tx: Tx) => Promise<T>,
  options: { isolationLevel?: 'Serializable'; timeout?: number } = {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.$transaction(work, options);
    } catch (error) {
      if (attempt === ATTEMPTS || !isContention(error)) throw error;
      await sleep(5 * 2 ** attempt * (1 + jitter()));
    }
  }
}

/** Plain statements (sql.ts) inside a transaction, whose rows hold text or numbers for times and flags. */
export function sqlIn(tx: Tx): Pick<Sql, 'query' | 'execute'> {
  return {
    query: <Row>(statement: string, ...values: SqlValue[]) => tx.$queryRawUnsafe<Row[]>(statement, ...values),
    execute: (statement, ...values) => tx.$executeRawUnsafe(statement, ...values),
  };
}

/** Whether `error` is a refused duplicate: how "already there" is found out without reading first. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, cause } = error as { code?: unknown; cause?: { kind?: unknown } };
  if (code === 'P2002' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY') return true;
  return cause?.kind === 'UniqueConstraintViolation';
}

async function connect(location: DatabaseLocation): Promise<{ adapter: SqlDriverAdapter; sql: Sql }> {
  if (location.kind === 'sqlite') return (await import('./sqlite-adapter.ts')).openSqlite(location.file);
  return (await import('./postgres-adapter.ts')).openPostgres(location);
}

async function createClient(adapter: SqlDriverAdapter, kind: DatabaseKind): Promise<Db> {
  const { provider, adapterName } = adapter;
  const options = { adapter: { provider, adapterName, connect: async () => adapter }, transactionOptions: TRANSACTION };
  if (kind === 'sqlite') return new PrismaClient(options);
  const client = await import('../generated/postgresql/client.ts');
  // Both clients come from one schema; the one for PostgreSQL can do a little more than the type says.
  return new client.PrismaClient(options) as unknown as Db;
}

/** The error for a database that does not answer; without the password of its URL. */
export function unreachable(location: DatabaseLocation, cause: unknown): DatabaseError {
  const reason = cause instanceof Error ? cause.message.trim().split('\n').at(-1) : String(cause);
  const where = location.kind === 'sqlite' ? location.file : `PostgreSQL at ${location.host}`;
  return new DatabaseError(`the database cannot be opened (${where}): ${reason}`, { cause });
}

function isContention(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  // P2034: deadlock or serialization failure; P1008: SQLite busy.
  return code === 'P2034' || code === 'P1008';
}
