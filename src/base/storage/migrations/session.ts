// The connection and the transaction that migrations run in, under a lock that one instance holds at a time. The lock
// belongs to the transaction, so the database releases it when the process is killed.
import type { SqlDriverAdapter, SqlQueryable, Transaction } from '@prisma/driver-adapter-utils';
import { unreachable } from '../database.ts';
import type { DatabaseLocation } from '../database-url.ts';
import { type DatabaseLimits, patientLimits } from '../open-options.ts';
import { postgresAdapter } from '../postgresql/adapter.ts';
import { lookAtServer } from '../postgresql/pool.ts';
import { configureSqlite, createSqliteFile } from '../sqlite/adapter.ts';
import { connectSqlite } from '../sqlite/connections.ts';

const ADVISORY_LOCK = 7_203_004_117; // any number that nothing else in the database uses

export interface MigrationSession {
  /** Runs a query, with or without the lock. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** Starts the transaction; null while another instance holds the lock. */
  tryLock(): Promise<LockedSession | null>;
  close(): Promise<void>;
}

export interface LockedSession {
  /** The adapter for the migration engine; everything that it does is part of the transaction. */
  adapter: SqlDriverAdapter;
  query(sql: string): Promise<Record<string, unknown>[]>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/**
 * Connects, and creates the file of a new SQLite database. `limits` are for PostgreSQL; by default a statement has an hour, after a first
 * one that has seconds. Throws DatabaseError when that one is not answered.
 */
export async function openMigrationSession(
  location: DatabaseLocation,
  limits?: DatabaseLimits,
): Promise<MigrationSession> {
  if (location.kind === 'sqlite') return sqliteSession(location.file);
  if (limits) return postgresSession(location, limits);
  await lookAtServer(location, patientLimits).catch((cause: unknown) => {
    throw unreachable(location, cause);
  });
  return postgresSession(location, patientLimits);
}

async function sqliteSession(file: string): Promise<MigrationSession> {
  createSqliteFile(file);
  const connection = await connectSqlite(file);
  await configureSqlite(connection);
  // A script that rebuilds a table drops the old one; with foreign keys on, that would delete the rows that refer to it.
  // A wait inside SQLite would block the whole process, so there is no busy timeout and the caller tries again.
  await connection.executeScript('PRAGMA foreign_keys = OFF; PRAGMA busy_timeout = 0');
  const query = (sql: string) => queryRows(connection, sql);
  return {
    query,
    close: () => connection.dispose(),
    async tryLock() {
      try {
        await connection.executeScript('BEGIN IMMEDIATE');
      } catch (error) {
        if (isBusy(error)) return null;
        throw error;
      }
      return {
        adapter: { ...adapterParts(connection), executeScript: (script) => connection.executeScript(script) },
        query,
        async commit() {
          const [broken] = await query('PRAGMA foreign_key_check');
          if (broken) throw new Error(`a row of ${broken.table} would refer to a missing row of ${broken.parent}`);
          await connection.executeScript('COMMIT');
        },
        // A full disk has already ended the transaction, and the driver then throws at once.
        rollback: async () => connection.executeScript('ROLLBACK'),
      };
    },
  };
}

async function postgresSession(
  location: Extract<DatabaseLocation, { kind: 'postgresql' }>,
  limits: DatabaseLimits,
): Promise<MigrationSession> {
  const connection = await postgresAdapter({ ...location, keepsStatements: false }, { limits, max: 2 }).connect();
  return {
    query: (sql) => queryRows(connection, sql),
    close: () => connection.dispose(),
    async tryLock() {
      const tx = await connection.startTransaction();
      const query = (sql: string) => queryRows(tx, sql);
      const [lock] = await query(`SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCK}) AS taken`);
      if (lock?.taken !== true) {
        await finish(tx, 'ROLLBACK');
        return null;
      }
      return {
        // Sent as one simple query, because the adapter's own executeScript splits the text at every semicolon.
        adapter: {
          ...adapterParts(tx),
          getConnectionInfo: () => connection.getConnectionInfo(),
          executeScript: (script) => run(tx, script),
        },
        query,
        commit: () => finish(tx, 'COMMIT'),
        rollback: () => finish(tx, 'ROLLBACK'),
      };
    },
  };
}

function adapterParts(queryable: SqlQueryable): Omit<SqlDriverAdapter, 'executeScript'> {
  return {
    provider: queryable.provider,
    adapterName: queryable.adapterName,
    queryRaw: (query) => queryable.queryRaw(query),
    executeRaw: (query) => queryable.executeRaw(query),
    startTransaction: () => Promise.reject(new Error('migrations run in one transaction already')),
    dispose: async () => {}, // the caller of openMigrationSession closes the session
  };
}

/** The rows of a query without parameters. */
export async function queryRows(queryable: SqlQueryable, sql: string): Promise<Record<string, unknown>[]> {
  const { columnNames, rows } = await queryable.queryRaw({ sql, args: [], argTypes: [] });
  return rows.map((row) => Object.fromEntries(columnNames.map((name, index) => [name, row[index]])));
}

async function run(queryable: SqlQueryable, sql: string): Promise<void> {
  await queryable.executeRaw({ sql, args: [], argTypes: [] });
}

async function finish(tx: Transaction, statement: 'COMMIT' | 'ROLLBACK'): Promise<void> {
  try {
    await run(tx, statement);
  } finally {
    await tx.commit(); // only returns the connection to the pool
  }
}

function isBusy(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'kind' in cause && cause.kind === 'SocketTimeout';
}
