// Connections and statements of better-sqlite3 are never garbage collected, which would crash the process on Node 24.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Sqlite from 'better-sqlite3';
import { expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrations/migrate.ts';
import { hotStatements } from '../../src/storage/statements.ts';
import { testDatabase } from '../support/database/database.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

it('protects connections and statements from garbage collection, also after the database is closed', async () => {
  const seen: WeakRef<object>[] = [];
  const prepare = Sqlite.prototype.prepare;
  const watched = vi.spyOn(Sqlite.prototype, 'prepare').mockImplementation(function (this: Sqlite.Database, text) {
    const statement = prepare.call(this, text);
    seen.push(new WeakRef(this), new WeakRef(statement));
    return statement;
  });
  const { url, close } = await testDatabase();
  await migrate(url);
  const { db, sql, close: closeSecond } = await openDatabase(url);
  await db.user.findMany();
  for (let number = 0; number < 600; number += 1)
    await sql.query(hotStatements('test', { at: `SELECT ${number} AS number` }).at);
  await Promise.all([close(), closeSecond()]);
  watched.mockRestore();

  await new Promise(setImmediate);
  collectGarbage();
  expect(seen.length).toBeGreaterThan(1200);
  expect(seen.filter((one) => one.deref() === undefined)).toEqual([]);
});
