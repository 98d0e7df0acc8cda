// SQLite under Prisma with two connections, one that reads and one that writes. Prisma's own adapter has a
// single one, on which a query of one request runs inside the open transaction of another, and is lost when
// that rolls back. Here a transaction has the writing connection to itself, other writes wait for it without
// blocking the process, and reads (WAL) see the last committed state meanwhile. While nobody holds it, the writing
// connection reads as well: its cache is warm, that of the other is void after each write.
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SqlDriverAdapter, Transaction } from '@prisma/driver-adapter-utils';
import type { Sql, SqlValue } from './sql.ts';
import { BUSY_MILLISECONDS, clientOf, connectSqlite } from './sqlite-connection.ts';
import { createGroupCommit } from './sqlite-group.ts';
import { createRevisions } from './sqlite-revision.ts';
import { withStatementCache } from './sqlite-statements.ts';

// A checkpoint is part of a commit: 1000 pages cost it 2 ms of CPU, 8000 cost 13.
const PRAGMAS = `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;
  PRAGMA busy_timeout = ${BUSY_MILLISECONDS}; PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 67108864;`;

/** Makes the folder and an empty file that only its owner can read, where there is none yet. */
export function createSqliteFile(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  // Only a file that is not there: to close any handle on one would give up the locks this process has on it.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
}

/** Opens the file: for Prisma, and for plain statements on the same two connections. */
export async function openSqlite(file: string): Promise<{ adapter: SqlDriverAdapter; sql: Sql }> {
  createSqliteFile(file);
  const writer = await connectSqlite(file);
  await configureSqlite(writer);
  const reader = await connectSqlite(file);
  await configureSqlite(reader);
  await reader.executeScript('PRAGMA query_only = ON');
  const turn = createTurn();
  const revisions = createRevisions(clientOf(writer));
  const reading = withStatementCache(reader);
  const writing = withStatementCache(writer, revisions.noteOf);

  const commit = createGroupCommit(writing, turn.run);

  const adapter: SqlDriverAdapter = {
    provider: 'sqlite',
    adapterName: writer.adapterName,
    queryRaw: (query) =>
      isRead(query.sql) && turn.isTaken() ? reader.queryRaw(query) : turn.run(() => writer.queryRaw(query)),
    executeRaw: (query) => turn.run(() => writer.executeRaw(query)),
    executeScript: (script) => turn.run(() => writer.executeScript(script)),
    startTransaction: () => startTransaction(writer, turn),
    dispose: async () => {
      await reader.dispose();
      await turn.run(() => writer.dispose());
    },
  };
  const sql: Sql = {
    query: async <Row>(statement: string, ...values: SqlValue[]) => {
      if (!turn.isTaken()) return writing.query<Row>(statement, values);
      if (isRead(statement)) return reading.query<Row>(statement, values);
      return turn.run(async () => writing.query<Row>(statement, values));
    },
    execute: (statement, ...values) => commit(statement, values),
    revision: revisions.current,
  };
  return { adapter, sql };
}

// IMMEDIATE: the write lock is taken at the start, so that a transaction never fails half-way for want of it.
async function startTransaction(writer: SqlDriverAdapter, turn: Turn): Promise<Transaction> {
  const release = await turn.take();
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

/** Sets what every connection must have; WAL is a property of the file and outlives them. */
export async function configureSqlite(connection: SqlDriverAdapter): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connection.executeScript(PRAGMAS);
    } catch (error) {
      // The switch to WAL on a new file does not wait for a process that makes the same switch.
      if (attempt === 50) throw error;
      await sleep(20);
    }
  }
}

// What is not plainly a read goes to the writer; the reader refuses to write should this ever be wrong.
function isRead(statement: string): boolean {
  return /^\s*select\b/i.test(statement);
}

interface Turn {
  take(): Promise<() => void>;
  run<T>(work: () => Promise<T>): Promise<T>;
  isTaken(): boolean;
}

// First come, first served. Statements are synchronous underneath, so an untaken turn is simply used.
function createTurn(): Turn {
  let taken = false;
  const waiting: (() => void)[] = [];
  const give = () => {
    const next = waiting.shift();
    if (next) next();
    else taken = false;
  };
  const take = async () => {
    if (taken) await new Promise<void>((resolve) => waiting.push(resolve));
    taken = true;
    let given = false;
    return () => {
      if (!given) give();
      given = true;
    };
  };
  const run = async <T>(work: () => Promise<T>) => {
    if (!taken) return work();
    const release = await take();
    try {
      return await work();
    } finally {
      release();
    }
  };
  return { take, run, isTaken: () => taken };
}
