// SQLite under Prisma with two connections, a reader and a writer. Prisma's adapter has one connection, so a query of one
// request would run inside the open transaction of another and be lost when that rolls back. Here a transaction has the
// writer to itself: other writes wait without blocking the process, and reads (WAL) see the last committed state. The writer
// also reads while no transaction uses it, because each write invalidates the page cache of the reader.
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SqlDriverAdapter, Transaction } from '@prisma/driver-adapter-utils';
import { dialects } from '../dialect.ts';
import { type Sql, type SqlValue, type Statement, statementsIn } from '../statements.ts';
import { BUSY_MILLISECONDS, clientOf, connectSqlite } from './connections.ts';
import { createRevisions } from './directory-revision.ts';
import { createGroupCommit } from './group-commit.ts';
import { withStatementCache } from './statement-cache.ts';

// A checkpoint is part of a commit: 1000 pages cost 2 ms of CPU, 8000 pages cost 13 ms.
const PRAGMAS = `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;
  PRAGMA busy_timeout = ${BUSY_MILLISECONDS}; PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 67108864;`;

/** Creates the folder and an empty file that only its owner can read, unless they exist. */
export function createSqliteFile(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  // Not for an existing file: closing any handle on it would release the locks that this process has on it (POSIX).
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
}

/** Opens the file, for Prisma and for hot statements on the same two connections. */
export async function openSqlite(file: string): Promise<{ adapter: SqlDriverAdapter; sql: Sql }> {
  createSqliteFile(file);
  const writer = await connectSqlite(file);
  await configureSqlite(writer);
  const reader = await connectSqlite(file);
  await configureSqlite(reader);
  await reader.executeScript('PRAGMA query_only = ON');
  const writerLock = createWriterLock();
  const revisions = createRevisions(clientOf(writer));
  const reading = withStatementCache(reader);
  const writing = withStatementCache(writer, revisions.afterRun);

  const commit = createGroupCommit(writing, writerLock.run);

  const adapter: SqlDriverAdapter = {
    provider: 'sqlite',
    adapterName: writer.adapterName,
    queryRaw: (query) =>
      isRead(query.sql) && writerLock.isTaken() ? reader.queryRaw(query) : writerLock.run(() => writer.queryRaw(query)),
    executeRaw: (query) => writerLock.run(() => writer.executeRaw(query)),
    executeScript: (script) => writerLock.run(() => writer.executeScript(script)),
    startTransaction: () => startTransaction(writer, writerLock),
    dispose: async () => {
      await reader.dispose();
      await writerLock.run(() => writer.dispose());
    },
  };
  const sql: Sql = {
    query: async <Row>({ sqlite: text }: Statement, ...values: SqlValue[]) => {
      if (!writerLock.isTaken()) return writing.query<Row>(text, values);
      if (isRead(text)) return reading.query<Row>(text, values);
      return writerLock.run(async () => writing.query<Row>(text, values));
    },
    execute: ({ sqlite: text }, ...values) => commit(text, values),
    in: (tx) => statementsIn(tx, 'sqlite'),
    dialect: dialects.sqlite,
    revision: revisions.current,
  };
  return { adapter, sql };
}

// IMMEDIATE takes SQLite's write lock at the start, so that a transaction cannot fail later because another has it.
async function startTransaction(writer: SqlDriverAdapter, writerLock: WriterLock): Promise<Transaction> {
  const release = await writerLock.take();
  const run = (sql: string) => writer.executeRaw({ sql, args: [], argTypes: [] });
  try {
    await run('BEGIN IMMEDIATE');
  } catch (error) {
    release();
    throw error;
  }
  return {
    provider: 'sqlite',
    adapterName: writer.adapterName,
    options: { usePhantomQuery: false }, // Prisma sends COMMIT and ROLLBACK itself, then calls these two
    queryRaw: (query) => writer.queryRaw(query),
    executeRaw: (query) => writer.executeRaw(query),
    commit: async () => release(),
    rollback: async () => release(),
    createSavepoint: async (name) => void (await run(`SAVEPOINT ${name}`)),
    rollbackToSavepoint: async (name) => void (await run(`ROLLBACK TO ${name}`)),
    releaseSavepoint: async (name) => void (await run(`RELEASE SAVEPOINT ${name}`)),
  };
}

/** Sets the pragmas of a connection; WAL is a property of the file and stays. */
export async function configureSqlite(connection: SqlDriverAdapter): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connection.executeScript(PRAGMAS);
    } catch (error) {
      // Switching a new file to WAL fails at once while another process makes the same switch.
      if (attempt === 50) throw error;
      await sleep(20);
    }
  }
}

// Everything that does not start with SELECT goes to the writer; `query_only` makes the reader reject a write.
function isRead(statement: string): boolean {
  return /^\s*select\b/i.test(statement);
}

interface WriterLock {
  /** Waits for the lock; the result releases it. */
  take(): Promise<() => void>;
  run<T>(work: () => Promise<T>): Promise<T>;
  isTaken(): boolean;
}

// Callers get the lock in order. better-sqlite3 is synchronous, so `run` needs no lock while none is taken.
function createWriterLock(): WriterLock {
  let taken = false;
  const waiting: (() => void)[] = [];
  const release = () => {
    const next = waiting.shift();
    if (next) next();
    else taken = false;
  };
  const take = async () => {
    if (taken) await new Promise<void>((resolve) => waiting.push(resolve));
    taken = true;
    let released = false;
    return () => {
      if (!released) release();
      released = true;
    };
  };
  const run = async <T>(work: () => Promise<T>) => {
    if (!taken) return work();
    const done = await take();
    try {
      return await work();
    } finally {
      done();
    }
  };
  return { take, run, isTaken: () => taken };
}
