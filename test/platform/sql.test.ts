import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, isUniqueViolation, transaction } from '../../src/platform/db.ts';
import { sqlFor } from '../../src/platform/sql.ts';
import { databaseKind, type TestDatabase, testDatabase } from '../support/database.ts';

const statements = () =>
  sqlFor(databaseKind(), {
    user: 'INSERT INTO users (id, username, username_key, email_verified, updated_at) VALUES (?,?,?,?,?)',
    find: 'SELECT id, email, email_verified, updated_at FROM users WHERE id = ?',
    updatedBefore: 'SELECT id FROM users WHERE updated_at < ? ORDER BY id',
    artifact: 'INSERT INTO oidc_artifacts (id, model, payload, expires_at) VALUES (?,?,?,?)',
    expiry: 'SELECT expires_at FROM oidc_artifacts WHERE id = ?',
    consume:
      'UPDATE oidc_artifacts SET consumed_at = ? WHERE id = ? AND consumed_at IS NULL RETURNING payload, consumed_at',
    remove: 'DELETE FROM oidc_artifacts WHERE model = ?',
    setting: 'INSERT INTO settings (key, value, updated_at) VALUES (?,?,?)',
  });

let test: TestDatabase;
let database: Database;
let text: ReturnType<typeof statements>;
beforeAll(async () => {
  test = await testDatabase();
  database = test.database;
  text = statements();
});
afterAll(() => test.close());

describe('plain statements', () => {
  it('store and read what Prisma stores and reads', async () => {
    const at = new Date('2026-03-29T01:30:00.120Z');
    const { db, sql } = database;
    await sql.execute(text.user, 'raw', 'Raw', 'raw', true, at);
    await db.user.create({
      data: { id: 'prisma', username: 'P', usernameKey: 'p', emailVerified: true, updatedAt: at },
    });
    const [raw] = await sql.query<object>(text.find, 'raw');
    expect(raw).toEqual({ id: 'raw', email: null, email_verified: true, updated_at: at });
    expect(await sql.query<object>(text.find, 'prisma')).toEqual([{ ...raw, id: 'prisma' }]);
    expect(await db.user.findUnique({ where: { id: 'raw' } })).toMatchObject({ emailVerified: true, updatedAt: at });
    const olderThan = async (limit: Date) =>
      (await sql.query<{ id: string }>(text.updatedBefore, limit)).map(({ id }) => id);
    expect(await olderThan(at)).toEqual([]);
    expect(await olderThan(new Date(at.getTime() + 1))).toEqual(['prisma', 'raw']);
  });

  it('count rows, return them, and hold integers as numbers', async () => {
    const { sql, db } = database;
    expect(await sql.execute(text.artifact, 'a', 'Session', '{}', 4_102_444_800n)).toBe(1);
    expect(await sql.execute(text.artifact, 'b', 'Session', '{}', null)).toBe(1);
    expect(await sql.query(text.expiry, 'a')).toEqual([{ expires_at: 4_102_444_800 }]);
    expect(await sql.query(text.expiry, 'b')).toEqual([{ expires_at: null }]);
    expect(await db.oidcArtifact.findUnique({ where: { id: 'a' } })).toMatchObject({ expiresAt: 4_102_444_800n });
    const results = await Promise.all(Array.from({ length: 10 }, (_, at) => sql.query(text.consume, at + 1, 'a')));
    expect(results.flat()).toHaveLength(1);
    expect(await sql.execute(text.remove, 'Session')).toBe(2);
    expect(await sql.query(text.expiry, 'a')).toEqual([]);
  });

  it('report a duplicate as such', async () => {
    const now = new Date();
    await database.sql.execute(text.setting, 'once', '1', now);
    const error = await database.sql.execute(text.setting, 'once', '2', now).catch((refused) => refused);
    expect(isUniqueViolation(error)).toBe(true);
    const other = await database.sql.query('SELECT * FROM nothing_like_it').catch((refused) => refused);
    expect(isUniqueViolation(other)).toBe(false);
  });

  it('are not part of a transaction that happens to be open', async () => {
    const failing = transaction(database.db, async (tx) => {
      await tx.setting.create({ data: { key: 'inside', value: '1' } });
      await sleep(100);
      throw new Error('rolled back');
    });
    await sleep(30);
    const write = database.sql.execute(text.setting, 'outside', '1', new Date());
    await expect(failing).rejects.toThrow('rolled back');
    await write;
    const rows = await database.sql.query("SELECT key FROM settings WHERE key IN ('inside', 'outside')");
    expect(rows).toEqual([{ key: 'outside' }]);
  });

  it('survive more different statements than are kept', async () => {
    for (let at = 0; at < 1200; at += 1) {
      expect(await database.sql.query(`SELECT ${at} AS n`)).toEqual([{ n: at }]);
    }
    expect(await database.sql.query('SELECT 0 AS n')).toEqual([{ n: 0 }]);
  });
});
