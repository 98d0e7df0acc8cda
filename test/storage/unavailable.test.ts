// A database that cannot be used for a while: real locks, a real full or read-only file, and a real PostgreSQL behind a proxy that
// goes silent. The time limits are short; test/faults/ has drivers with those of production.
import { renameSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { watchOutages } from '../../src/base/storage/availability.ts';
import { type Database, openDatabase, transaction } from '../../src/base/storage/database.ts';
import { migrate } from '../../src/base/storage/migrations/migrate.ts';
import type { DatabaseLimits } from '../../src/base/storage/open-options.ts';
import { watchFailingOperations } from '../../src/base/storage/postgresql/adapter.ts';
import { inRequestScope } from '../../src/base/storage/request-scope.ts';
import { connectSqlite } from '../../src/base/storage/sqlite/connections.ts';
import { hotStatements } from '../../src/base/storage/statements.ts';
import { DatabaseUnavailable } from '../../src/base/storage/unavailable.ts';
import { type TcpProxy, tcpProxy } from '../faults/tcp-proxy.ts';
import { databaseKind, type TestDatabase, testDatabase } from '../support/database/database.ts';

const statements = hotStatements('test', { add: 'INSERT INTO settings (key, value, updated_at) VALUES (?,?,?)' });
const quick: DatabaseLimits = {
  ...limits.database,
  connections: 3,
  connectMs: 800,
  answerMs: 1200,
  statementMs: 1000,
  lockMs: 300,
  lookMs: 800,
  pauseMs: 20,
};

let test: TestDatabase;
let count = 0;
beforeAll(async () => {
  test = await testDatabase();
  return () => test.close();
});

const key = () => `key-${++count}`;
/** A write of each kind: Prisma, a transaction, a hot statement. */
const writes = ({ db, sql }: Database) => [
  () => db.setting.create({ data: { key: key(), value: '1' } }),
  () => transaction(db, (tx) => tx.setting.create({ data: { key: key(), value: '1' } })),
  () => sql.execute(statements.add, key(), '1', new Date()),
];
const reasonOf = async (work: () => Promise<unknown>) => {
  const error = await work().then(
    () => 'it succeeded',
    (failure: unknown) => failure,
  );
  return error instanceof DatabaseUnavailable ? error.reason : error;
};
const reasons = (database: Database) => Promise.all(writes(database).map(reasonOf));
const succeed = async (database: Database) => {
  for (const write of writes(database)) await write();
};

describe.runIf(databaseKind() === 'sqlite')('a SQLite file', () => {
  let database: Database;
  let file: string;
  const changes: (string | undefined)[] = [];
  beforeAll(async () => {
    file = test.url.slice('file:'.length);
    database = await openDatabase(test.url, { limits: quick, onChange: (away) => void changes.push(away?.reason) });
    return () => database.close();
  });

  it('is waited for while another process writes, and this process goes on meanwhile', async () => {
    const patient = await openDatabase(test.url, { limits: { ...quick, lockMs: 30_000 } });
    const other = await connectSqlite(file);
    await other.executeScript('BEGIN IMMEDIATE');
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 5);
    const waiting = Promise.all(writes(patient).map((write) => write()));
    await expect.poll(() => turns).toBeGreaterThan(3);
    await other.executeScript('COMMIT');
    await waiting;
    clearInterval(turning);
    await other.dispose();
    await patient.close();
  });

  it('is busy beyond the limit, and works again when the other process has finished', async () => {
    const other = await connectSqlite(file);
    await other.executeScript('BEGIN IMMEDIATE');
    expect(await reasons(database)).toEqual(['busy', 'busy', 'busy']);
    await other.executeScript('ROLLBACK');
    await succeed(database);
    await other.dispose();
  });

  it('is read-only, and works again afterwards', async () => {
    await database.db.$executeRawUnsafe('PRAGMA query_only = ON');
    expect(await reasons(database)).toEqual(['read-only', 'read-only', 'read-only']);
    expect(await database.db.setting.count()).toBeGreaterThan(0);
    await database.db.$executeRawUnsafe('PRAGMA query_only = OFF');
    await succeed(database);
  });

  it('is full, rolls back what it could not write, and works again afterwards', async () => {
    const [row] = await database.db.$queryRawUnsafe<{ page_count: bigint }[]>('PRAGMA page_count');
    await database.db.$queryRawUnsafe(`PRAGMA max_page_count = ${Number(row?.page_count)}`);
    const before = await database.db.setting.count();
    const value = 'x'.repeat(100_000);
    const large = [
      () => database.db.setting.create({ data: { key: key(), value } }),
      () => transaction(database.db, (tx) => tx.setting.create({ data: { key: key(), value } })),
      () => database.sql.execute(statements.add, key(), value, new Date()),
    ];
    changes.length = 0;
    for (const write of large) {
      expect(await reasonOf(write)).toBe('disk full');
      // It changes nothing, so it needs no space.
      await database.db.setting.updateMany({ where: { key: 'none' }, data: { value } });
    }
    expect(changes).toEqual(['disk full']);
    const together = [1, 2, 3].map(() => () => database.sql.execute(statements.add, key(), value, new Date()));
    expect(await Promise.all(together.map(reasonOf))).toEqual(['disk full', 'disk full', 'disk full']);
    expect(await database.db.setting.count()).toBe(before);
    await database.db.$queryRawUnsafe('PRAGMA max_page_count = 1073741823');
    await succeed(database);
    expect(changes).toEqual(['disk full', undefined]);
  });

  it('is not written when it was removed or replaced', async () => {
    const aside = path.join(path.dirname(file), 'aside.db');
    renameSync(file, aside);
    await expect.poll(() => reasons(database)).toEqual(['file missing', 'file missing', 'file missing']);
    renameSync(aside, file);
    await succeed(database);
  });
});

describe.runIf(databaseKind() === 'postgresql')('PostgreSQL', () => {
  let proxy: TcpProxy;
  let database: Database;
  const changes: (string | undefined)[] = [];
  beforeAll(async () => {
    const url = new URL(test.url);
    proxy = await tcpProxy(Number(url.port));
    url.port = String(proxy.port);
    const onChange = (away: DatabaseUnavailable | undefined) => void changes.push(away?.reason);
    database = await openDatabase(url.href, { limits: quick, onChange });
  });
  afterAll(async () => {
    await database.close();
    await proxy.close();
  });
  /** More at once than there are connections. */
  const many = async () => (await Promise.all([1, 2, 3, 4].map(() => reasons(database)))).flat();
  const allSucceeded = Array.from({ length: 12 }, () => 'it succeeded');
  const isAway = expect.stringMatching(/^(no answer|busy|unreachable)$/);

  it('is away when nothing answers any more, which ends every operation, and it is back by itself', async () => {
    await expect.poll(many).toEqual(allSucceeded);
    proxy.silenceAll();
    expect(await many()).toEqual(Array.from({ length: 12 }, () => isAway));
    // From now on without a wait of its own.
    expect(await many()).toEqual(Array.from({ length: 12 }, () => 'no answer'));
    await proxy.serve();
    await expect.poll(many).toEqual(allSucceeded);
    expect(changes).toContain('no answer');
    expect(changes.at(-1)).toBeUndefined();
  });

  it('replaces connections that went silent while new ones work', async () => {
    await expect.poll(many).toEqual(allSucceeded);
    proxy.silenceConnections();
    expect(await many()).toContainEqual(isAway);
    await expect.poll(many).toEqual(allSucceeded);
  });

  it('ends a request whose statements together take too long, also in a transaction, and no other work', async () => {
    const slow = await openDatabase(test.url, { limits: { ...limits.database, requestMs: 300, lateMs: 50 } });
    const sleeps = (tx: Pick<Database['db'], '$queryRawUnsafe'>) => async () => {
      for (let turn = 0; turn < 6; turn += 1) await tx.$queryRawUnsafe('SELECT 1 FROM pg_sleep(0.1)');
    };
    const together = () => transaction(slow.db, (tx) => sleeps(tx)());
    const inRequest = (isAnswered: boolean, work: () => Promise<unknown>) =>
      inRequestScope({ isAnswered: () => isAnswered, store: () => {} }, () => reasonOf(work));
    expect(await inRequest(false, sleeps(slow.db))).toBe('busy');
    expect(await inRequest(false, together)).toBe('busy');
    expect(await inRequest(true, together)).toBe('it succeeded');
    expect(await reasonOf(together)).toBe('it succeeded');
    // No connection is left behind.
    const many = Array.from({ length: 3 * limits.database.connections }, () => inRequest(false, together));
    expect(new Set(await Promise.all(many))).toEqual(new Set(['busy']));
    await succeed(slow);
    await slow.close();
  });

  it('gives nobody the connection of a transaction that is over before the database has ended its statement', async () => {
    const two = await openDatabase(test.url, {
      // Long enough for the statement to be sent on a busy machine: else nothing waits for the lock.
      limits: { ...limits.database, connections: 2, requestMs: 1000, lateMs: 50 },
    });
    const lock = (tx: Pick<Database['db'], '$queryRaw'>) => tx.$queryRaw`SELECT pg_advisory_xact_lock(7)::text`;
    const { db } = test.database;
    const waiting = () => db.$queryRaw<object[]>`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    await transaction(db, async (tx) => {
      await lock(tx);
      let next: Promise<object[]> | undefined;
      await transaction(two.db, async (other) => {
        await other.$queryRaw`SELECT 1 AS one`;
        const late = () => reasonOf(() => transaction(two.db, lock));
        const over = inRequestScope({ isAnswered: () => false, store: () => {} }, late);
        await expect.poll(waiting).toHaveLength(1);
        // `then` sends it.
        next = two.db.$queryRaw`SELECT 1 AS one`.then(() => waiting());
        expect(await over).toBe('busy');
      });
      expect(await next).toHaveLength(1);
    });
    await succeed(two);
    await two.close();
  });

  it('is away while it refuses connections, and back by itself', async () => {
    await proxy.refuse();
    expect(await reasons(database)).toEqual([isAway, isAway, isAway]);
    await proxy.serve();
    await expect.poll(() => reasons(database)).toEqual(['it succeeded', 'it succeeded', 'it succeeded']);
  });

  it('is away while it rejects the password of the server, and back by itself', async () => {
    const admin = test.database.db;
    await admin.$executeRawUnsafe("CREATE ROLE rejected LOGIN SUPERUSER PASSWORD 'one'");
    const url = new URL(test.url);
    Object.assign(url, { username: 'rejected', password: 'one' });
    const rejected = await openDatabase(url.href, { limits: quick });
    await succeed(rejected);
    await admin.$executeRawUnsafe("ALTER ROLE rejected PASSWORD 'another'");
    await admin.$queryRawUnsafe("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rejected'");
    expect(await reasons(rejected)).toEqual(['unreachable', 'unreachable', 'unreachable']);
    await admin.$executeRawUnsafe("ALTER ROLE rejected PASSWORD 'one'");
    await expect.poll(() => reasons(rejected)).toEqual(['it succeeded', 'it succeeded', 'it succeeded']);
    await rejected.close();
    await admin.$executeRawUnsafe('DROP ROLE rejected');
  });

  it('ends a start whose first read gets no answer', async () => {
    await transaction(test.database.db, async (tx) => {
      await tx.$executeRawUnsafe('LOCK TABLE _prisma_migrations IN ACCESS EXCLUSIVE MODE');
      await expect(migrate(test.url, undefined, quick)).rejects.toThrow('no answer');
    });
    expect(await migrate(test.url, undefined, quick)).toEqual([]);
  });

  it('is read-only, as a standby is, and works again afterwards', async () => {
    const name = new URL(test.url).pathname.slice(1);
    await succeed(database);
    await database.db.$executeRawUnsafe(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    await proxy.refuse();
    await proxy.serve();
    await expect.poll(() => database.db.setting.count().catch(() => 0)).toBeGreaterThan(0);
    changes.length = 0;
    await expect.poll(() => reasons(database)).toEqual(['read-only', 'read-only', 'read-only']);
    expect(await reasons(database)).toEqual(['read-only', 'read-only', 'read-only']);
    expect(await database.db.setting.count()).toBeGreaterThan(0);
    expect(changes, 'said once').toEqual(['read-only']);
    await transaction(test.database.db, async (tx) => {
      await tx.$executeRawUnsafe('SET TRANSACTION READ WRITE');
      await tx.$executeRawUnsafe(`ALTER DATABASE "${name}" RESET default_transaction_read_only`);
    });
    await expect.poll(() => reasons(database)).toEqual(['it succeeded', 'it succeeded', 'it succeeded']);
    await becomesUsable();
    expect(changes).toEqual(['read-only', undefined]);
  });

  it('says once that it is busy while a lock lasts, and once that it is usable again', async () => {
    await succeed(database);
    changes.length = 0;
    await transaction(test.database.db, async (tx) => {
      await tx.$executeRawUnsafe('LOCK TABLE settings IN ACCESS EXCLUSIVE MODE');
      for (let turn = 0; turn < 2; turn += 1) expect(await reasons(database)).toEqual(['busy', 'busy', 'busy']);
    });
    await becomesUsable();
    expect(changes).toEqual(['busy', undefined]);
  });

  /** After some time without a failure, the next write says it. */
  const becomesUsable = () =>
    expect
      .poll(async () => {
        await succeed(database);
        return changes.at(-1);
      })
      .toBeUndefined();
});

describe('a failing operation', () => {
  it('is not over by a write that succeeds before the server was looked at', async () => {
    const changes: (string | undefined)[] = [];
    let isUp = true;
    const { failed, watch } = watchFailingOperations(
      (away) => void changes.push(away?.reason),
      0,
      () => isUp,
    );
    const write = () => watch({ sql: 'UPDATE settings SET value = 1', args: [], argTypes: [] }, Promise.resolve(1));
    failed(new DatabaseUnavailable('read-only'));
    isUp = false;
    await write();
    expect(changes).toEqual(['read-only']);
    isUp = true;
    await write();
    expect(changes).toEqual(['read-only', undefined]);
  });
});

describe('an outage', () => {
  const away = new DatabaseUnavailable('busy');

  it('lasts until now while it goes on, and until its end afterwards', async () => {
    const { changed, last } = watchOutages();
    expect(last()).toBeUndefined();
    changed(away);
    const { from = 0, to = 0 } = last() ?? {};
    await sleep(20);
    const later = last();
    expect({ from: later?.from, isLonger: (later?.to ?? 0) > to }).toEqual({ from, isLonger: true });
    changed(undefined);
    const ended = last();
    await sleep(5);
    expect(last()).toEqual(ended);
  });
});
