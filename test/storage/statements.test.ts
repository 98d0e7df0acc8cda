import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, isUniqueConstraintError, transaction } from '../../src/base/storage/database.ts';
import { hotStatements } from '../../src/base/storage/statements.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';
import { event } from '../support/event.ts';

const statements = hotStatements('test', {
  user: 'INSERT INTO users (id, username, username_key, email_verified, updated_at) VALUES (?,?,?,?,?)',
  find: 'SELECT id, email, email_verified, updated_at FROM users WHERE id = ?',
  updatedBefore: 'SELECT id FROM users WHERE updated_at < ? ORDER BY id',
  artifact: 'INSERT INTO oidc_artifacts (id, model, payload, expires_at) VALUES (?,?,?,?)',
  expiry: 'SELECT expires_at FROM oidc_artifacts WHERE id = ?',
  consume:
    'UPDATE oidc_artifacts SET consumed_at = ? WHERE id = ? AND consumed_at IS NULL RETURNING payload, consumed_at',
  remove: 'DELETE FROM oidc_artifacts WHERE model = ?',
  setting: 'INSERT INTO settings (key, value, updated_at) VALUES (?,?,?)',
  settings: "SELECT key FROM settings WHERE key IN ('inside', 'outside')",
  faulty: 'SELECT * FROM nothing_like_it',
});

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await testDatabase();
  database = test.database;
});
afterAll(() => test.close());

describe('hot statements', () => {
  it('store and read what Prisma stores and reads', async () => {
    const at = new Date('2026-03-29T01:30:00.120Z');
    const { db, sql } = database;
    await sql.execute(statements.user, 'raw', 'Raw', 'raw', true, at);
    await db.asStored.user.create({
      data: { id: 'prisma', username: 'P', usernameKey: 'p', emailVerified: true, updatedAt: at },
    });
    const [raw] = await sql.query<object>(statements.find, 'raw');
    expect(raw).toEqual({ id: 'raw', email: null, email_verified: true, updated_at: at });
    expect(await sql.query<object>(statements.find, 'prisma')).toEqual([{ ...raw, id: 'prisma' }]);
    expect(await db.asStored.user.findUnique({ where: { id: 'raw' } })).toMatchObject({
      emailVerified: true,
      updatedAt: at,
    });
    const olderThan = async (limit: Date) =>
      (await sql.query<{ id: string }>(statements.updatedBefore, limit)).map(({ id }) => id);
    expect(await olderThan(at)).toEqual([]);
    expect(await olderThan(new Date(at.getTime() + 1))).toEqual(['prisma', 'raw']);
  });

  it('return the count of changed rows, or rows with integers as numbers', async () => {
    const { sql, db } = database;
    expect(await sql.execute(statements.artifact, 'a', 'Session', '{}', 4_102_444_800n)).toBe(1);
    expect(await sql.execute(statements.artifact, 'b', 'Session', '{}', null)).toBe(1);
    expect(await sql.query(statements.expiry, 'a')).toEqual([{ expires_at: 4_102_444_800 }]);
    expect(await sql.query(statements.expiry, 'b')).toEqual([{ expires_at: null }]);
    expect(await db.oidcArtifact.findUnique({ where: { id: 'a' } })).toMatchObject({ expiresAt: 4_102_444_800n });
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, at) => sql.query(statements.consume, at + 1, 'a')),
    );
    expect(results.flat()).toHaveLength(1);
    expect(await sql.execute(statements.remove, 'Session')).toBe(2);
    expect(await sql.query(statements.expiry, 'a')).toEqual([]);
  });

  it('report a duplicate as a unique brokenRule', async () => {
    const now = new Date();
    await database.sql.execute(statements.setting, 'once', '1', now);
    const error = await database.sql.execute(statements.setting, 'once', '2', now).catch((rejected) => rejected);
    expect(isUniqueConstraintError(error)).toBe(true);
    const other = await database.sql.query(statements.faulty).catch((rejected) => rejected);
    expect(isUniqueConstraintError(other)).toBe(false);
  });

  it('do not join a transaction that is open', async () => {
    const [created, end] = [event(), event()];
    const failing = transaction(database.db, async (tx) => {
      await tx.setting.create({ data: { key: 'inside', value: '1' } });
      created.happen();
      await end.happened;
      throw new Error('rolled back');
    });
    await created.happened;
    const write = database.sql.execute(statements.setting, 'outside', '1', new Date());
    end.happen();
    await expect(failing).rejects.toThrow('rolled back');
    await write;
    const rows = await database.sql.query(statements.settings);
    expect(rows).toEqual([{ key: 'outside' }]);
  });

  it('run more different statements than the cache of PostgreSQL names', async () => {
    const select = (n: number) => hotStatements('test', { select: `SELECT ${n} AS n` }).select;
    for (let n = 0; n < 1200; n += 1) {
      expect(await database.sql.query(select(n))).toEqual([{ n }]);
    }
    expect(await database.sql.query(select(0))).toEqual([{ n: 0 }]);
  });
});
