// What a request writes later is read by it, is all stored before its answer, or not at all.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../src/base/storage/database.ts';
import { inRequestScope } from '../../src/base/storage/request-scope.ts';
import { hotStatements } from '../../src/base/storage/statements.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';

const statements = hotStatements('test', {
  add: 'INSERT INTO seen_messages (id, expires_at) VALUES (?,?)',
  addOnce: 'INSERT INTO seen_messages (id, expires_at) VALUES (?,?) ON CONFLICT (id) DO NOTHING',
  remove: 'DELETE FROM seen_messages WHERE id = ?',
  find: 'SELECT id FROM seen_messages ORDER BY id',
  count: 'SELECT count(*) AS count FROM users',
});
const until = new Date('2100-01-01');

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await testDatabase();
  database = test.database;
});
beforeEach(() => database.db.seenMessage.deleteMany());
afterAll(() => test.close());

const inRequest = <T>(work: () => Promise<T>) => inRequestScope({ isAnswered: () => false, store: () => {} }, work);
/** As another request sees it. */
const stored = async () => (await database.sql.query<{ id: string }>(statements.find)).map(({ id }) => id);

it('waits for the next write, which commits both', async () => {
  const { sql } = database;
  await inRequest(async () => {
    const committed: string[] = [];
    await sql.later(statements.add, ['a', until], () => committed.push('a'));
    expect(await inRequest(stored)).toEqual([]);
    expect(committed).toEqual([]);
    expect(await sql.execute(statements.add, 'b', until)).toBe(1);
    expect(await inRequest(stored)).toEqual(['a', 'b']);
    expect(committed).toEqual(['a']);
  });
});

it('is in what the same request reads, by a hot statement, by Prisma and in a transaction', async () => {
  const { db, sql } = database;
  await inRequest(async () => {
    await sql.later(statements.add, ['a', until]);
    await sql.query(statements.count); // of another table
    expect(await inRequest(stored)).toEqual([]);
    expect(await stored()).toEqual(['a']);
    await sql.later(statements.add, ['b', until]);
    expect(await db.seenMessage.count()).toBe(2);
    await sql.later(statements.add, ['c', until]);
    expect(await db.$transaction((tx) => tx.seenMessage.count())).toBe(3);
  });
});

it('is stored with all that waits, or with none of it', async () => {
  const { sql } = database;
  await inRequest(async () => {
    await sql.later(statements.add, ['a', until]);
    await sql.later(statements.add, ['a', until]);
    const settled = sql.settled();
    await expect(sql.commitWaiting()).rejects.toThrow();
    await settled;
    expect(await stored()).toEqual([]);
    // What failed is not tried again, and the request fails at its end too.
    await expect(sql.commitWaiting({ isLast: true })).rejects.toThrow();
  });
  expect(await stored()).toEqual([]);
});

it('is stored although the write that commits it violates a constraint', async () => {
  const { sql } = database;
  await sql.execute(statements.add, 'taken', until);
  const committed: string[] = [];
  await inRequest(async () => {
    await sql.later(statements.add, ['a', until], () => committed.push('a'));
    await expect(sql.execute(statements.add, 'taken', until)).rejects.toThrow();
    expect(await inRequest(stored)).toEqual(['a', 'taken']);
    await sql.commitWaiting({ isLast: true });
  });
  expect(committed).toEqual(['a']);
});

it('fails the request when it is not stored, also when a caller has caught the error and another commit has succeeded', async () => {
  const { sql } = database;
  await inRequest(async () => {
    await sql.later(statements.add, ['a', until]);
    await sql.later(statements.add, ['a', until]);
    await sql.execute(statements.add, 'b', until).catch(() => {});
    await sql.later(statements.add, ['c', until]);
    await expect(sql.commitWaiting({ isLast: true })).rejects.toThrow();
  });
});

it('is before every other write of its request, also of those that are made at once', async () => {
  const { sql } = database;
  await inRequest(async () => {
    await sql.later(statements.add, ['a', until]);
    const counts = await Promise.all([
      sql.execute(statements.add, 'b', until),
      sql.execute(statements.remove, 'a'),
      sql.allOrNone([{ statement: statements.remove, values: ['b'] }]),
    ]);
    expect(counts).toEqual([1, 1, true]);
  });
});

it('is stored when it is written while the last commit is under way', async () => {
  const { sql } = database;
  await inRequest(async () => {
    await sql.later(statements.add, ['a', until]);
    const last = sql.commitWaiting({ isLast: true });
    await sql.later(statements.add, ['b', until]);
    await last;
  });
  expect(await stored()).toEqual(['a', 'b']);
});

it('is written at once outside of a request, and after the end of one', async () => {
  const { sql } = database;
  await sql.later(statements.add, ['a', until]);
  expect(await stored()).toEqual(['a']);
  await inRequest(async () => {
    await sql.later(statements.add, ['b', until]);
    await sql.commitWaiting({ isLast: true });
    expect(await inRequest(stored)).toEqual(['a', 'b']);
    await sql.later(statements.add, ['c', until]);
    expect(await inRequest(stored)).toEqual(['a', 'b', 'c']);
  });
});

it('runs all of some writes or none, also of parallel requests', async () => {
  const { sql } = database;
  const both = (...ids: string[]) => ids.map((id) => ({ statement: statements.addOnce, values: [id, until] }));
  expect(await sql.allOrNone(both('a', 'b'))).toBe(true);
  expect(await sql.allOrNone(both('c', 'a'))).toBe(false);
  expect(await stored()).toEqual(['a', 'b']);
  const results = await Promise.all(Array.from({ length: 8 }, () => inRequest(() => sql.allOrNone(both('x', 'y')))));
  expect(results.filter(Boolean)).toHaveLength(1);
  expect(await stored()).toEqual(['a', 'b', 'x', 'y']);
});
