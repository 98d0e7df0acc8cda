import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/base/storage/database.ts';
import { type TestDatabase, testDatabase } from './database.ts';

let one: TestDatabase;
let two: TestDatabase;
beforeAll(async () => {
  [one, two] = await Promise.all([testDatabase(), testDatabase()]);
});
afterAll(() => Promise.all([one.close(), two.close()]));

describe('the database of the tests', () => {
  it('gives every caller a database of its own, with every table and no row', async () => {
    await one.database.db.setting.create({ data: { key: 'a', value: '1' } });
    expect(await one.database.db.setting.count()).toBe(1);
    expect(await two.database.db.setting.count()).toBe(0);
  });

  it('lets a second instance open a database', async () => {
    const other = await openDatabase(one.url);
    await other.db.setting.create({ data: { key: 'b', value: '2' } });
    expect(await one.database.db.setting.findUnique({ where: { key: 'b' } })).toMatchObject({ value: '2' });
    await other.close();
  });
});
