// One connection that migrations run on, inside one transaction that no other instance can enter meanwhile.
// The lock belongs to the transaction, so the database itself gives it back when the process is killed.
import type { SqlDriverAdapter, SqlQueryable, Transaction } from '@prisma/driver-adapter-utils';
import type { DatabaseLocation } from './database-url.ts';
import { postgresAdapter } from './postgres-adapter.ts';
import { configureSqlite, createSqliteFile } from './sqlite-adapter.ts';
import { connectSqlite } from './sqlite-connection.ts';

const ADVISORY_LOCK = 7_203_004_117; // any number that nothing else in the database uses

export interface MigrationSession {
  /** Reads, before the lock as well as under it. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** Starts the transaction; null while another instance is in its own. */
  tryLock(): Promise<LockedSession | null>;
  close(): Promise<void>;
}

export interface LockedSession {
  /** What the migration engine works on: everything it does is part of the transaction. */
  adapter: SqlDriverAdapter;
  query(sql: string): Promise<Record<string, unknown>[]>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Connects, and makes the file of a new SQLite database. */
export async function openMigrationSession(location: DatabaseLocation): Promise<MigrationSession> {
  return location.kind === 'sqlite' ? sqliteSession(location.file) : postgresSession(location);
}

async function sqliteSession(file: string): Promise<MigrationSession> {
  createSqliteFile(file);
  const connection = await connectSqlite(file);
  await configureSqlite(connection);
  // Scripts that rebuild a table drop the old one: with foreign keys on, that would delete what refers to it.
  // Waiting inside SQLite would stop the whole process, so the caller tries again instead.
  await connection.executeScript('PRAGMA foreign_keys = OFF; PRAGMA busy_timeout = 0');
  const query = rowsOf(connection);
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
          if (broken) throw new Error(`a row of ${broken.table} would refer to nothing in ${broken.parent}`);
          await connection.executeScript('COMMIT');
        },
        rollback: () => connection.executeScript('ROLLBACK'),
      };
    },
  };
}

async function postgresSession(location: Extract<DatabaseLocation, { kind: 'postgresql' }>): Promise<MigrationSession> {
  const connection = await postgresAdapter({ ...location, keepsStatements: false }, 2).connect();
  return {
    query: rowsOf(connection),
    close: () => connection.dispose(),
    async tryLock() {
      const tx = await connection.startTransaction();
      const query = rowsOf(tx);
      const [lock] = await query(`SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCK}) AS taken`);
      if (lock?.taken !== true) {
        await finish(tx, 'ROLLBACK');
        return null;
      }
      return {
        // Sent whole, as one simple query: the adapter's own way cuts the script at every semicolon.
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
    dispose: async () => {}, // the session is closed by who opened it
  };
}

function rowsOf(queryable: SqlQueryable): (sql: string) => Promise<Record<string, unknown>[]> {
  return async (sql) => {
    const { columnNames, rows } = await queryable.queryRaw({ sql, args: [], argTypes: [] });
    return rows.map((row) => Object.fromEntries(columnNames.map((name, index) => [name, row[index]])));
  };
}

async function run(queryable: SqlQueryable, sql: string): Promise<void> {
  await queryable.executeRaw({ sql, args: [], argTypes: [] });
}

async function finish(tx: Transaction, statement: 'COMMIT' | 'ROLLBACK'): Promise<void> {
  try {
    await run(tx, statement);
  } finally {
    await tx.commit(); // only hands the connection back to the pool
  }
}

function isBusy(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'kind' in cause && cause.kind === 'SocketTimeout';
}
