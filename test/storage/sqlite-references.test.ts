// What better-sqlite3 makes in C++ is never garbage collected, which would crash the process on Node 24.
import { rmSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import { copySqlite } from '../../src/base/storage/backup/sqlite-copy.ts';
import { openDatabase } from '../../src/base/storage/database.ts';
import { migrate } from '../../src/base/storage/migrations/migrate.ts';
import { clientOf, connectSqlite } from '../../src/base/storage/sqlite/connections.ts';
import { hotStatements } from '../../src/base/storage/statements.ts';
import { testDatabase } from '../support/database/database.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

interface Native {
  prepare(...values: unknown[]): object;
  backup(...values: unknown[]): object;
}

/** The prototype of the objects in C++ behind the connections. */
async function nativeConnections(): Promise<Native> {
  const client = clientOf(await connectSqlite(':memory:'));
  const [symbol] = Object.getOwnPropertySymbols(client);
  return Object.getPrototypeOf((client as never)[symbol as symbol]);
}

it('the process references connections, statements and backups until it ends, also after the database is closed', async () => {
  const seen: WeakRef<object>[] = [];
  const natives = await nativeConnections();
  const watched = (['prepare', 'backup'] as const).map((name) => {
    const make = natives[name];
    return vi.spyOn(natives, name).mockImplementation(function (this: Native, ...values) {
      const made = make.apply(this, values);
      seen.push(new WeakRef(this), new WeakRef(made));
      return made;
    });
  });
  const { url, close } = await testDatabase();
  await migrate(url);
  const { db, sql, close: closeSecond } = await openDatabase(url);
  await db.asStored.user.findMany();
  for (let number = 0; number < 600; number += 1)
    await sql.query(hotStatements('test', { at: `SELECT ${number} AS number` }).at);
  const file = url.replace(/^file:/, '');
  clientOf(await connectSqlite(file)).pragma('page_size');
  await copySqlite(file, `${file}-copy`);
  rmSync(`${file}-copy`);
  await Promise.all([close(), closeSecond()]);
  for (const one of watched) expect(one).toHaveBeenCalled();
  for (const one of watched) one.mockRestore();

  await new Promise(setImmediate);
  collectGarbage();
  expect(seen.length).toBeGreaterThan(1200);
  expect(seen.filter((one) => one.deref() === undefined)).toEqual([]);
});
