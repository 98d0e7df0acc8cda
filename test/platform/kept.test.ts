import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccountLookup } from '../../src/accounts/account.ts';
import { type Database, openDatabase, transaction } from '../../src/platform/db.ts';
import { keepFresh } from '../../src/platform/kept.ts';
import { databaseKind, type TestDatabase, testDatabase } from '../support/database.ts';

let test: TestDatabase;
let database: Database;
let elsewhere: Database;
let name: (id: string) => Promise<string | null | undefined>;

beforeAll(async () => {
  test = await testDatabase();
  database = test.database;
  elsewhere = await openDatabase(test.url);
  const { byId } = createAccountLookup(database);
  name = async (id) => (await byId(id))?.name;
});
afterAll(async () => {
  await elsewhere.close();
  await test.close();
});

const create = (id: string) =>
  database.db.user.create({ data: { id, username: id, usernameKey: id, name: 'before', updatedAt: new Date(0) } });
const rename = (to: string, id: string) => ({ where: { id }, data: { name: to } });

describe('what is kept of the directory', () => {
  it('is read once while nothing is written to it', async () => {
    let reads = 0;
    const look = keepFresh(database.sql, async (key) => `${key}${++reads}`, { max: 2 });
    const isKept = databaseKind() === 'sqlite';
    expect([await look('a'), await look('a')]).toEqual(['a1', isKept ? 'a1' : 'a2']);
    await database.db.setting.create({ data: { key: 'of no matter', value: '1', updatedAt: new Date(0) } });
    expect(await look('a')).toBe(isKept ? 'a1' : 'a3');
  });

  it('changes at once with a write of this process, in a transaction or not', async () => {
    await create('one');
    expect(await name('one')).toBe('before');
    await database.db.user.update(rename('after', 'one'));
    expect(await name('one')).toBe('after');
    await transaction(database.db, async (tx) => {
      await tx.user.update(rename('later', 'one'));
      expect(await name('one')).toBe('after');
    });
    expect(await name('one')).toBe('later');
  });

  it('changes at once with a write of another process', async () => {
    await create('two');
    expect(await name('two')).toBe('before');
    await elsewhere.db.user.update(rename('after', 'two'));
    expect(await name('two')).toBe('after');
    await elsewhere.db.user.delete({ where: { id: 'two' } });
    expect(await name('two')).toBeUndefined();
  });

  it('is not what a transaction wrote that was taken back', async () => {
    await create('three');
    const work = transaction(database.db, async (tx) => {
      await tx.user.update(rename('never', 'three'));
      expect(await name('three')).toBe('before');
      throw new Error('taken back');
    });
    await expect(work).rejects.toThrow('taken back');
    expect(await name('three')).toBe('before');
  });

  it('is void when it was written to while it was read', async () => {
    await create('four');
    const look = keepFresh(
      database.sql,
      async (id) => {
        const row = await database.db.user.findUnique({ where: { id } });
        await database.db.user.update(rename(`${row?.name}!`, id));
        return row?.name ?? undefined;
      },
      { max: 2 },
    );
    expect([await look('four'), await look('four')]).toEqual(['before', 'before!']);
  });

  it('is shared, so nobody may change it', async () => {
    await create('five');
    const account = await createAccountLookup(database).byId('five');
    expect(() => Object.assign(account ?? {}, { isActive: false })).toThrow(TypeError);
    expect(() => account?.roles.push('admin')).toThrow(TypeError);
  });

  it('is not kept where it depends on more than the rows', async () => {
    let reads = 0;
    const look = keepFresh(database.sql, async () => ++reads, { max: 2, isLasting: () => false });
    expect([await look('a'), await look('a')]).toEqual([1, 2]);
  });
});
