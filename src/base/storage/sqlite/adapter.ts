// SQLite under Prisma with two connections, a reader and a writer. Prisma's adapter has one connection, so a query of one
// request would run inside the open transaction of another and be lost when that rolls back. Here a transaction has the
// writer to itself: other writes wait without blocking the process, and reads (WAL) see the last committed state. The writer
// also reads while no transaction uses it, because each write invalidates the page cache of the reader.
import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SqlDriverAdapter, Transaction } from '@prisma/driver-adapter-utils';
import { type Availability, type AvailabilityOptions, watchOutages } from '../availability.ts';
import { dialects } from '../dialect.ts';
import { guardedAdapter } from '../guarded-adapter.ts';
import type { OpenOptions } from '../open-options.ts';
import { chargeStatement } from '../request-scope.ts';
import { type PlainSql, type SqlValue, type Statement, statementsIn } from '../statements.ts';
import { asUnavailable, DatabaseUnavailable } from '../unavailable.ts';
import { BUSY_MILLISECONDS, clientOf, connectSqlite } from './connections.ts';
import { createRevisions } from './directory-revision.ts';
import { withStatementCache } from './statement-cache.ts';
import { createGroupCommit, createWriterLock, type WriterLock } from './writer.ts';

// A checkpoint is part of a commit: 1000 pages cost 2 ms of CPU, 8000 pages cost 13 ms. What a savepoint may undo stays in memory:
// more than 64 KiB of it would go to a file in /tmp, which a container with a read-only root does not have (SQLITE_IOERR_GETTEMPPATH).
const PRAGMAS = `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;
  PRAGMA busy_timeout = ${BUSY_MILLISECONDS}; PRAGMA cache_size = -4000; PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 67108864;
  PRAGMA temp_store = MEMORY;`;

/** Creates the folder and an empty file that only its owner can read, unless they exist. */
export function createSqliteFile(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  // Not for an existing file: closing any handle on it would release the locks that this process has on it (POSIX).
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
}

/** Opens the file, for Prisma and for hot statements on the same two connections. */
export async function openSqlite(
  file: string,
  { limits, onChange }: OpenOptions,
): Promise<{ adapter: SqlDriverAdapter; sql: PlainSql }> {
  createSqliteFile(file);
  const writer = await connectSqlite(file);
  await configureSqlite(writer);
  const reader = await connectSqlite(file);
  await configureSqlite(reader);
  await reader.executeScript('PRAGMA query_only = ON');
  const writerLock = createWriterLock(limits);
  const availability = sqliteAvailability(file, onChange);
  const revisions = createRevisions(clientOf(writer));
  const reading = withStatementCache(reader);
  const writing = withStatementCache(writer, revisions.afterRun);

  const commit = createGroupCommit(writing, writerLock.run);

  // A statement that changes no row writes nothing, and succeeds on a full or read-only disk too.
  async function write<T>(statement: () => Promise<T>, isChange: (result: T) => boolean): Promise<T> {
    const result = await writerLock.run(() => withFullSync(writer, statement));
    if (isChange(result)) availability.written();
    return result;
  }

  /** Runs a SELECT at once, because in WAL mode a read waits for nobody; undefined after an error. */
  function readAtOnce<Row>(text: string, values: SqlValue[]): Promise<Row[]> | undefined {
    if (!availability.isUp()) return undefined;
    try {
      return Promise.resolve((writerLock.isTaken() ? reading : writing).query<Row>(text, values));
    } catch {
      return undefined;
    }
  }

  /** Runs a SELECT, again while another process has locked the file. */
  const readPatiently = <Row>(text: string, values: SqlValue[]): Promise<Row[]> =>
    availability.run(async () =>
      writerLock.isTaken()
        ? reading.query<Row>(text, values)
        : writerLock.run(async () => writing.query<Row>(text, values)),
    );

  /** Runs a statement with RETURNING. */
  const writeReturning = <Row>(text: string, values: SqlValue[]): Promise<Row[]> =>
    availability.run(async () => {
      chargeStatement(text, values);
      return writerLock.run(async () => writing.query<Row>(text, values));
    });

  const adapter: SqlDriverAdapter = {
    provider: 'sqlite',
    adapterName: writer.adapterName,
    queryRaw(query) {
      if (!isRead(query.sql))
        return write(
          () => writer.queryRaw(query),
          ({ rows }) => rows.length > 0,
        );
      return writerLock.isTaken() ? reader.queryRaw(query) : writerLock.run(() => writer.queryRaw(query));
    },
    executeRaw: (query) =>
      write(
        () => writer.executeRaw(query),
        (count) => count > 0,
      ),
    executeScript: (script) => writerLock.run(() => writer.executeScript(script)),
    startTransaction: () => startTransaction(writer, writerLock),
    dispose: async () => {
      await reader.dispose();
      await writerLock.run(() => writer.dispose());
    },
  };
  const sql: PlainSql = {
    query: <Row>({ sqlite: text }: Statement, ...values: SqlValue[]) => {
      if (!isRead(text)) return writeReturning<Row>(text, values);
      return readAtOnce<Row>(text, values) ?? readPatiently<Row>(text, values);
    },
    commit: (writes, options) =>
      availability.run(async () => {
        const counts = await commit(writes, options);
        if (counts.some((count) => count > 0)) availability.written();
        return counts;
      }),
    in: (tx) => statementsIn(tx, 'sqlite'),
    dialect: dialects.sqlite,
    isRemote: false,
    lastOutage: availability.lastOutage,
    revision() {
      try {
        return revisions.current('directory');
      } catch (error) {
        return availability.fail(error);
      }
    },
    artifactRevision() {
      // Without the file there is nothing to compare with: the read that follows says so.
      if (!availability.isUp()) return undefined;
      try {
        return revisions.current('artifacts');
      } catch (error) {
        return availability.fail(error);
      }
    },
  };
  return { adapter: guardedAdapter(adapter, availability), sql };
}

// IMMEDIATE takes SQLite's write lock at the start, so that a transaction cannot fail later because another has it.
async function startTransaction(writer: SqlDriverAdapter, writerLock: WriterLock): Promise<Transaction> {
  const release = await writerLock.take();
  const run = (sql: string) => writer.executeRaw({ sql, args: [], argTypes: [] });
  // After some errors of the file SQLite leaves the transaction open, in which the next one would fail.
  const end = async () => {
    try {
      if (clientOf(writer).inTransaction) await run('ROLLBACK');
      setSynchronous(writer, 'NORMAL');
    } finally {
      release();
    }
  };
  try {
    setSynchronous(writer, 'FULL');
    await writerLock.patiently(() => run('BEGIN IMMEDIATE'));
  } catch (error) {
    await end();
    throw error;
  }
  return {
    provider: 'sqlite',
    adapterName: writer.adapterName,
    options: { usePhantomQuery: false }, // Prisma sends COMMIT and ROLLBACK itself, then calls these two
    queryRaw: (query) => writer.queryRaw(query),
    executeRaw: (query) => writer.executeRaw(query),
    commit: end,
    rollback: end,
    createSavepoint: async (name) => void (await run(`SAVEPOINT ${name}`)),
    rollbackToSavepoint: async (name) => void (await run(`ROLLBACK TO ${name}`)),
    releaseSavepoint: async (name) => void (await run(`RELEASE SAVEPOINT ${name}`)),
  };
}

// What Prisma writes survives a power loss as soon as it is committed: FULL waits for the disk, which takes milliseconds. Hot statements are many and
// written together, so those of the last seconds may be lost (NORMAL): tokens, sessions, and audit entries that are not chained yet. The next
// commit with FULL covers them too.
function withFullSync<T>(writer: SqlDriverAdapter, statement: () => Promise<T>): Promise<T> {
  setSynchronous(writer, 'FULL');
  try {
    // better-sqlite3 has run the statement when this call returns, so its promise is not awaited: meanwhile a transaction could begin, in
    // which the level cannot be changed.
    return statement();
  } finally {
    setSynchronous(writer, 'NORMAL');
  }
}

/** Not by a prepared statement: SQLite runs this pragma when it is parsed. */
function setSynchronous(connection: SqlDriverAdapter, level: 'FULL' | 'NORMAL'): void {
  clientOf(connection).exec(`PRAGMA synchronous = ${level}`);
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

const CHECK_MS = 250;

interface SqliteAvailability extends Availability {
  /** A write has succeeded. */
  written(): void;
}

/**
 * The availability of an open SQLite file: the file is still at its path, which is checked a few times in a second at most. `onChange`
 * is called with the first error, and when a write succeeds again; reads succeed on a full disk too.
 */
function sqliteAvailability(file: string, onChange?: AvailabilityOptions['onChange']): SqliteAvailability {
  const opened = statSync(file);
  let isFailing = false;
  const outages = watchOutages(onChange);
  let checkedAt = 0;

  function check(): void {
    const now = performance.now();
    if (now - checkedAt < CHECK_MS) return;
    const current = statOf(file);
    if (current?.ino !== opened.ino || current.dev !== opened.dev)
      throw new DatabaseUnavailable('file missing', new Error('the database file was removed or replaced'));
    checkedAt = now;
  }

  function fail(error: unknown): never {
    const unavailable = asUnavailable(error);
    if (unavailable && !isFailing) {
      isFailing = true;
      outages.changed(unavailable);
    }
    throw unavailable ?? error;
  }

  return {
    async run(operation) {
      try {
        check();
        return await operation();
      } catch (error) {
        return fail(error);
      }
    },
    written() {
      if (!isFailing) return;
      isFailing = false;
      outages.changed(undefined);
    },
    isUp() {
      try {
        check();
        return true;
      } catch {
        return false; // `run` reports it
      }
    },
    lastOutage: outages.last,
    fail,
    close() {},
  };
}

function statOf(file: string) {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (cause) {
    throw new DatabaseUnavailable('input/output error', cause);
  }
}
