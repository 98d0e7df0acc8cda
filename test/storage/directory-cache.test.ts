import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase, transaction } from '../../src/base/storage/database.ts';
import { cacheDirectory, DIRECTORY_TABLES } from '../../src/base/storage/directory-cache.ts';
import { shareReads } from '../../src/base/storage/request-reads.ts';
import { inRequestScope } from '../../src/base/storage/request-scope.ts';
import { clientOf, connectSqlite } from '../../src/base/storage/sqlite/connections.ts';
import { LAST_USE, type Revision } from '../../src/base/storage/statements.ts';
import { createAccountLookup } from '../../src/people/accounts/account.ts';
import { databaseKind, type TestDatabase, testDatabase } from '../support/database/database.ts';
import { servicesOf } from '../support/services-of.ts';

let test: TestDatabase;
let database: Database;
let elsewhere: Database;
let name: (id: string) => Promise<string | null | undefined>;

beforeAll(async () => {
  test = await testDatabase();
  database = test.database;
  // MACs are tested elsewhere.
  database.protect({ isGenuine: () => true, macOf: () => 'x' } as never);
  // MACs are tested elsewhere.
  database.protect({ isGenuine: () => true, macOf: () => 'x' } as never);
  elsewhere = await openDatabase(test.url);
  const { find: byId } = createAccountLookup(servicesOf({ ...database, now: () => new Date() }));
  name = async (id) => (await byId(id))?.name;
});
afterAll(async () => {
  await elsewhere.close();
  await test.close();
});

const create = (id: string) =>
  database.db.asStored.user.create({
    data: { id, username: id, usernameKey: id, name: 'before', updatedAt: new Date(0) },
  });
const scope = { isAnswered: () => false, store: () => {} };
const rename = (to: string, id: string) => ({ where: { id }, data: { name: to } });

describe('the directory cache', () => {
  it('reads a value once while the directory does not change', async () => {
    let reads = 0;
    const look = cacheDirectory(database.sql, async (key) => `${key}${++reads}`, { max: 2 });
    await create('zero');
    expect([await look('a'), await look('a')]).toEqual(['a1', 'a1']);
    await database.db.setting.create({ data: { key: 'of no matter', value: '1', updatedAt: new Date(0) } });
    expect(await look('a')).toBe('a1');
  });

  it('has triggers on each table of the directory', async () => {
    const text =
      databaseKind() === 'postgresql'
        ? `SELECT tgrelid::regclass::text AS name FROM pg_trigger WHERE tgname = 'directory_changed' AND tgdeferrable AND tginitdeferred`
        : `SELECT tbl_name AS name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'directory\\_changed\\_%' ESCAPE '\\'
            GROUP BY tbl_name HAVING COUNT(*) = 3`;
    const rows = await database.db.$queryRawUnsafe<{ name: string }[]>(text);
    expect(rows.map(({ name }) => name).sort()).toEqual([...DIRECTORY_TABLES].sort());
  });

  it.runIf(databaseKind() === 'postgresql')('reads the revision once for each request', async () => {
    await create('six');
    const { revision } = database.sql;
    const before = await revision();
    expect(await revision()).toBe(before);
    await inRequestScope(scope, async () => {
      shareReads();
      expect(await revision()).toBe(before);
      await elsewhere.db.asStored.user.update(rename('after', 'six'));
      expect(await revision()).toBe(before);
    });
    const after = await revision();
    expect(after).not.toBe(before);
    await elsewhere.db.user.deleteMany({ where: { id: 'nobody' } });
    expect(await revision()).toBe(after);
  });

  it.runIf(databaseKind() === 'sqlite')('looks for other writers once for all requests of one turn', async () => {
    await create('seven');
    const seen = (): Revision | Promise<Revision> =>
      inRequestScope({ ...scope }, () => {
        shareReads();
        return database.sql.revision();
      });
    const nextTurn = async () => void (await setImmediate(await setImmediate()));
    const other = clientOf(await connectSqlite(test.url.replace(/^file:/, '')));
    await nextTurn();
    const before = seen();
    other.exec("UPDATE users SET name = 'after' WHERE id = 'seven'");
    expect(seen()).toBe(before);
    await nextTurn();
    const after = seen();
    expect(after).not.toBe(before);
    other.exec("UPDATE users SET name = 'later' WHERE id = 'seven'");
    // What is not a request of the engine looks each time.
    expect(database.sql.revision()).not.toBe(after);
    other.close();
  });

  it.runIf(databaseKind() === 'sqlite')('is not emptied by what another process writes elsewhere', async () => {
    let reads = 0;
    const look = cacheDirectory(database.sql, async () => ++reads, { max: 2 });
    await create('eight');
    await elsewhere.db.asStored.user.update(rename('after', 'eight'));
    await look('a');
    await elsewhere.db.setting.create({ data: { key: 'elsewhere', value: '1', updatedAt: new Date(0) } });
    expect(await look('a')).toBe(1);
    for (const table of DIRECTORY_TABLES) await elsewhere.db.$executeRawUnsafe(`DELETE FROM "${table}" WHERE false`);
    expect(await look('a')).toBe(1);
    await elsewhere.db.role.create({ data: { id: 'role', name: 'role' } });
    await elsewhere.db.asStored.userRole.create({ data: { userId: 'eight', roleId: 'role' } });
    expect(await look('a')).toBe(2);
    // The row that ties the two goes with the role.
    await elsewhere.db.role.delete({ where: { id: 'role' } });
    expect(await look('a')).toBe(3);
  });

  it('is not emptied by the last use of an account, and by any other change of it', async () => {
    let reads = 0;
    const look = cacheDirectory(database.sql, async () => ++reads, { max: 2 });
    await create('nine');
    await elsewhere.db.asStored.user.update(rename('after', 'nine'));
    for (const { db } of [elsewhere, database]) {
      const before = Number(await look('a'));
      await db.$executeRawUnsafe(`${LAST_USE} UPDATE users SET last_seen_at = '2026-01-01 00:00:00' WHERE id = 'nine'`);
      expect(await look('a')).toBe(before);
      await db.asStored.user.update({ where: { id: 'nine' }, data: { lastSeenAt: new Date(0), mac: `${before}` } });
      expect(await look('a')).toBe(before + 1);
    }
  });

  it('follows a write of this process at once, in a transaction or not', async () => {
    await create('one');
    expect(await name('one')).toBe('before');
    await database.db.asStored.user.update(rename('after', 'one'));
    expect(await name('one')).toBe('after');
    await transaction(database.db, async (tx) => {
      await tx.asStored.user.update(rename('later', 'one'));
      expect(await name('one')).toBe('after');
    });
    expect(await name('one')).toBe('later');
  });

  it('follows a write of another process at once', async () => {
    await create('two');
    expect(await name('two')).toBe('before');
    await elsewhere.db.asStored.user.update(rename('after', 'two'));
    expect(await name('two')).toBe('after');
    await elsewhere.db.user.delete({ where: { id: 'two' } });
    expect(await name('two')).toBeUndefined();
  });

  it('ignores the writes of a transaction that was rolled back', async () => {
    await create('three');
    const work = transaction(database.db, async (tx) => {
      await tx.asStored.user.update(rename('never', 'three'));
      expect(await name('three')).toBe('before');
      throw new Error('rolled back');
    });
    await expect(work).rejects.toThrow('rolled back');
    expect(await name('three')).toBe('before');
  });

  it('drops a value that was written while it was read', async () => {
    await create('four');
    const look = cacheDirectory(
      database.sql,
      async (id) => {
        const row = await database.db.asStored.user.findUnique({ where: { id } });
        await database.db.asStored.user.update(rename(`${row?.name}!`, id));
        return row?.name ?? undefined;
      },
      { max: 2 },
    );
    expect([await look('four'), await look('four')]).toEqual(['before', 'before!']);
  });

  it('freezes its values, because all callers share them', async () => {
    await create('five');
    const account = await createAccountLookup(servicesOf({ ...database, now: () => new Date() })).find('five');
    expect(() => Object.assign(account ?? {}, { isActive: false })).toThrow(TypeError);
    expect(() => account?.roles.push('admin')).toThrow(TypeError);
  });

  it('does not store a value that depends on more than the rows', async () => {
    let reads = 0;
    const look = cacheDirectory(database.sql, async () => ++reads, { max: 2, isCacheable: () => false });
    expect([await look('a'), await look('a')]).toEqual([1, 2]);
  });
});
