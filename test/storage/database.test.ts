import { statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Db,
  isUniqueConstraintError,
  openDatabase,
  type Tx,
  transaction,
} from '../../src/base/storage/database.ts';
import { DatabaseError } from '../../src/base/storage/database-url.ts';
import { afterCommit } from '../../src/base/storage/protected-client.ts';
import { hotStatements } from '../../src/base/storage/statements.ts';
import { databaseKind, type TestDatabase, testDatabase, testFolder } from '../support/database/database.ts';
import { event } from '../support/event.ts';

let test: TestDatabase;
let db: Db;
beforeAll(async () => {
  test = await testDatabase();
  db = test.database.db;
});
afterAll(() => test.close());

const setting = (key: string, value = '1') => ({ data: { key, value } });
/** Waits until both transactions have called it, on PostgreSQL; SQLite has one that writes. */
function lockedByBoth(): () => Promise<void> {
  const both = event(2);
  return async () => {
    both.happen();
    if (databaseKind() === 'postgresql') await both.happened;
  };
}
const keys = async (prefix: string) =>
  (await db.setting.findMany({ where: { key: { startsWith: prefix } }, orderBy: { key: 'asc' } })).map(
    ({ key }) => key,
  );

describe('a transaction', () => {
  it('commits everything or nothing', async () => {
    await transaction(db, async (tx) => {
      await tx.setting.create(setting('committed-1'));
      await tx.setting.create(setting('committed-2'));
    });
    const failing = transaction(db, async (tx) => {
      await tx.setting.create(setting('lost-1'));
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await keys('committed')).toEqual(['committed-1', 'committed-2']);
    expect(await keys('lost')).toEqual([]);
  });

  it('calls what waits for its commit once it has committed, and never after a rollback', async () => {
    const calls: string[] = [];
    const call = (name: string) => async (tx: Tx) => {
      afterCommit(tx, () => calls.push(name));
      await tx.setting.create(setting(name));
      expect(calls).not.toContain(name);
    };
    await transaction(db, call('waited'));
    await expect(transaction(db, call('waited'))).rejects.toThrow();
    expect(calls).toEqual(['waited']);
    afterCommit(db, () => calls.push('at once'));
    expect(calls).toEqual(['waited', 'at once']);
  });

  it('does not roll back the writes of others, and does not show them its uncommitted rows', async () => {
    const [created, end] = [event(), event()];
    const failing = transaction(db, async (tx) => {
      await tx.setting.create(setting('inside'));
      created.happen();
      await end.happened;
      throw new Error('rolled back');
    });
    await created.happened;
    expect(await keys('inside')).toEqual([]);
    const others = [
      db.setting.create(setting('other-1')),
      transaction(db, (tx) => tx.setting.create(setting('other-2'))),
    ];
    end.happen();
    await expect(failing).rejects.toThrow('rolled back');
    await Promise.all(others);
    expect(await keys('other')).toEqual(['other-1', 'other-2']);
    expect(await keys('inside')).toEqual([]);
  });

  it('lets one of many simultaneous conditional updates succeed', async () => {
    await db.setting.create(setting('single-use', 'unused'));
    const redeem = () =>
      transaction(db, (tx) =>
        tx.setting.updateMany({ where: { key: 'single-use', value: 'unused' }, data: { value: 'used' } }),
      );
    const results = await Promise.all(Array.from({ length: 20 }, redeem));
    expect(results.reduce((sum, { count }) => sum + count, 0)).toBe(1);
  });

  it('runs again after a conflict with another one', async () => {
    await db.setting.createMany({ data: [setting('a').data, setting('b').data] });
    let runs = 0;
    const locked = lockedByBoth();
    // Each locks a row, then requests the other's: a deadlock on PostgreSQL; on SQLite the second one waits.
    const cross = (first: string, second: string) =>
      transaction(db, async (tx) => {
        runs += 1;
        await tx.setting.update({ where: { key: first }, data: { value: first } });
        await locked();
        await tx.setting.update({ where: { key: second }, data: { value: first } });
      });
    await Promise.all([cross('a', 'b'), cross('b', 'a')]);
    expect(runs).toBeGreaterThanOrEqual(databaseKind() === 'postgresql' ? 3 : 2);
  });

  it('runs again after a conflict that a hot statement reports', async () => {
    await db.setting.createMany({ data: [setting('c').data, setting('d').data] });
    const { touch } = hotStatements('test', { touch: 'UPDATE settings SET value = ? WHERE key = ?' });
    let runs = 0;
    const locked = lockedByBoth();
    const cross = (first: string, second: string) =>
      transaction(db, async (tx) => {
        runs += 1;
        await test.database.sql.in(tx).execute(touch, first, first);
        await locked();
        await test.database.sql.in(tx).execute(touch, first, second);
      });
    await Promise.all([cross('c', 'd'), cross('d', 'c')]);
    expect(runs).toBeGreaterThanOrEqual(databaseKind() === 'postgresql' ? 3 : 2);
  });

  it('runs again after a serialization failure that a hot statement reports', async () => {
    const { add } = hotStatements('test', { add: 'INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)' });
    const onlyOne = (key: string) =>
      transaction(
        db,
        async (tx) => {
          if ((await tx.setting.count({ where: { key: { startsWith: 'only-' } } })) > 0) return false;
          await sleep(50);
          await test.database.sql.in(tx).execute(add, key, '1', new Date());
          return true;
        },
        { isolationLevel: 'Serializable' },
      );
    const created = await Promise.all(['only-1', 'only-2', 'only-3', 'only-4'].map(onlyOne));
    expect(created.filter(Boolean)).toHaveLength(1);
  });

  it('is aborted when it takes too long, and the next one runs', async () => {
    const endless = db.$transaction(() => sleep(10_000, undefined, { ref: false }), { timeout: 100 });
    await expect(
      Promise.race([endless, transaction(db, (tx) => tx.setting.create(setting('next')))]),
    ).resolves.toBeDefined();
    endless.catch(() => {});
  });
});

describe('the database', () => {
  it('reports a duplicate as a unique brokenRule, and rejects a dangling reference', async () => {
    await db.setting.create(setting('once'));
    expect(isUniqueConstraintError(await db.setting.create(setting('once')).catch((error) => error))).toBe(true);
    const orphan = { data: { userId: 'nobody', hash: 'x' } };
    const { add } = hotStatements('test', { add: 'INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)' });
    const again = transaction(db, (tx) => test.database.sql.in(tx).execute(add, 'once', '1', new Date()));
    expect(isUniqueConstraintError(await again.catch((error) => error))).toBe(true);
    const error = await db.asStored.passwordCredential.create(orphan).catch((rejected) => rejected);
    expect(error).toBeInstanceOf(Error);
    expect(isUniqueConstraintError(error)).toBe(false);
  });

  it('returns times unchanged, also through raw SQL', async () => {
    const at = new Date('2026-03-29T01:30:00.123Z');
    await db.jobLock.create({ data: { name: 'time', holder: 'x', lockedUntil: at } });
    expect((await db.jobLock.findUniqueOrThrow({ where: { name: 'time' } })).lockedUntil).toEqual(at);
    const sql = databaseKind() === 'sqlite' ? ['?', '?'] : ['$1', '$2'];
    const rows = await db.$queryRawUnsafe<{ locked_until: Date }[]>(
      `SELECT locked_until FROM job_locks WHERE name = ${sql[0]} AND locked_until = ${sql[1]}`,
      'time',
      at,
    );
    expect(rows).toEqual([{ locked_until: at }]);
  });

  it('names the database that cannot be opened, without the password', async () => {
    const wrong = openDatabase('postgresql://someone:hunter2@127.0.0.1:1/none');
    await expect(wrong).rejects.toThrow(DatabaseError);
    await expect(wrong).rejects.toThrow(/127\.0\.0\.1:1/);
    await expect(wrong).rejects.not.toThrow(/hunter2/);
    for (const url of [
      'mysql://localhost/x',
      'file:',
      'file::memory:',
      'postgresql://h:b%@/',
      'postgresql://h/d?schema=a"b',
    ]) {
      await expect(openDatabase(url), url).rejects.toThrow(DatabaseError);
    }
    await expect(openDatabase(`file:${import.meta.filename}/x.db`)).rejects.toThrow(/x\.db/);
  });
});

describe.runIf(databaseKind() === 'sqlite')('a SQLite file', () => {
  it('has its pragmas set on the connections', async () => {
    const read = async (name: string) =>
      Object.values((await db.$queryRawUnsafe<object[]>(`PRAGMA ${name}`))[0] ?? {}).map(String);
    expect(await read('journal_mode')).toEqual(['wal']);
    expect(await read('foreign_keys')).toEqual(['1']);
    expect(await read('busy_timeout')).toEqual(['20']);
    expect(await db.$queryRawUnsafe('SELECT foreign_keys FROM pragma_foreign_keys')).toEqual([{ foreign_keys: 1n }]);
  });

  it('waits for the disk in a transaction, and in no hot statement', async () => {
    const { sql } = test.database;
    const { pragma } = hotStatements('test', { pragma: 'PRAGMA synchronous' });
    const level = async (statements: Pick<typeof sql, 'query'>) =>
      Number((await statements.query<{ synchronous: number | bigint }>(pragma))[0]?.synchronous);
    const FULL = 2;
    const NORMAL = 1;
    expect(await transaction(db, (tx) => level(sql.in(tx)))).toBe(FULL);
    expect(await level(sql), 'after it').toBe(NORMAL);
    await expect(transaction(db, () => Promise.reject(new Error('rolled back')))).rejects.toThrow('rolled back');
    expect(await level(sql), 'after a rollback').toBe(NORMAL);
    await db.setting.create(setting('durable'));
    expect(await level(sql), 'after a write of Prisma').toBe(NORMAL);
  });

  it('is created with its folder, readable by its owner only', async () => {
    const file = `${testFolder()}/a/b/new.db`;
    const opened = await openDatabase(`file:${file}`);
    await opened.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  });
});
