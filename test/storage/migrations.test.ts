import { appendFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageVersion } from '../../src/base/platform/package.ts';
import { openDatabase } from '../../src/base/storage/database.ts';
import { migrationsFolder, readMigrations } from '../../src/base/storage/migrations/files.ts';
import { migrate } from '../../src/base/storage/migrations/migrate.ts';
import { databaseKind, testFolder } from '../support/database/database.ts';
import { emptyDatabaseUrl } from './empty-database.ts';

const version = packageVersion();
const all = () => readMigrations(databaseKind()).map(({ name }) => name);

function copyOfMigrations(): { folder: string; add(name: string, sql: string): void; file(name: string): string } {
  const folder = testFolder();
  cpSync(path.join(migrationsFolder, databaseKind()), path.join(folder, databaseKind()), { recursive: true });
  const file = (name: string) => path.join(folder, databaseKind(), name, 'migration.sql');
  return {
    folder,
    file,
    add(name, sql) {
      mkdirSync(path.dirname(file(name)));
      writeFileSync(file(name), sql);
    },
  };
}

async function rows(url: string, sql: string): Promise<unknown> {
  const { db, close } = await openDatabase(url);
  try {
    return await db.$queryRawUnsafe(sql);
  } finally {
    await close();
  }
}

describe('migrations', () => {
  it('create every table of an empty database, once', async () => {
    const url = await emptyDatabaseUrl();
    expect(await migrate(url)).toEqual(all());
    expect(await migrate(url)).toEqual([]);
    const { db, close } = await openDatabase(url);
    expect(await db.user.count()).toBe(0);
    expect((await db.auditEvent.create({ data: { type: 'test', outcome: 'success' } })).id).toBe(1);
    await close();
  });

  it('apply only what a newer version adds, and keep the rows', async () => {
    const url = await emptyDatabaseUrl();
    await migrate(url);
    const { db, close } = await openDatabase(url);
    await db.setting.create({ data: { key: 'kept', value: '1' } });
    await close();
    const { folder, add } = copyOfMigrations();
    add('99990101000000_more', "CREATE TABLE more (id TEXT);\nINSERT INTO more (id) VALUES ('a;b');");
    expect(await migrate(url, folder)).toEqual(['99990101000000_more']);
    expect(await rows(url, 'SELECT id, value FROM more, settings')).toEqual([{ id: 'a;b', value: '1' }]);
  });

  it('undo a migration that fails in the middle and name the failing statement', async () => {
    const url = await emptyDatabaseUrl();
    await migrate(url);
    const { folder, add } = copyOfMigrations();
    add('99990101000000_bad', 'CREATE TABLE first_half (id TEXT);\nINSERT INTO no_such_table VALUES (1);');
    await expect(migrate(url, folder)).rejects.toMatchObject({
      fault: 'failed',
      message: expect.stringContaining('no_such_table'),
    });
    await expect(rows(url, 'SELECT * FROM first_half')).rejects.toThrow(/first_half/);
    // No manual cleanup is needed: the corrected release continues from here.
    writeFileSync(
      path.join(folder, databaseKind(), '99990101000000_bad', 'migration.sql'),
      'CREATE TABLE good (id TEXT);',
    );
    expect(await migrate(url, folder)).toEqual(['99990101000000_bad']);
  });

  it('reject a database whose migration was edited afterwards', async () => {
    const url = await emptyDatabaseUrl();
    await migrate(url);
    const { folder, file } = copyOfMigrations();
    appendFileSync(file(all()[0] ?? ''), '-- edited\n');
    await expect(migrate(url, folder)).rejects.toMatchObject({
      fault: 'edited',
      message: expect.stringContaining('init'),
    });
  });

  it('reject a database that a newer version used', async () => {
    const url = await emptyDatabaseUrl();
    const { folder, add } = copyOfMigrations();
    add('99990101000000_later', 'CREATE TABLE later (id TEXT);');
    await migrate(url, folder);
    await expect(migrate(url)).rejects.toMatchObject({
      fault: 'newer',
      message: `a newer version used this database: Gatehouse ${version} does not know a migration (99990101000000_later). Start the later build of ${version}, or restore the backup from before the upgrade`,
    });
    await rows(url, "UPDATE _prisma_migrations SET logs = 'gatehouse 7.1.0' WHERE migration_name LIKE '9999%'");
    await expect(migrate(url)).rejects.toThrow(/Start Gatehouse 7\.1\.0 or newer, or restore/);
    await rows(url, "UPDATE _prisma_migrations SET logs = NULL WHERE migration_name LIKE '9999%'");
    await expect(migrate(url)).rejects.toThrow(/Start the newer version that was used last/);
  });

  it('reject a database with tables of another program', async () => {
    const url = await emptyDatabaseUrl();
    const { db, close } = await openDatabase(url);
    await db.$executeRawUnsafe('CREATE TABLE wordpress (id TEXT)');
    await close();
    await expect(migrate(url)).rejects.toMatchObject({
      fault: 'foreign',
      message: expect.stringContaining('wordpress'),
    });
  });

  it('reject a database that another tool left unfinished', async () => {
    const url = await emptyDatabaseUrl();
    await migrate(url);
    const { db, close } = await openDatabase(url);
    await db.$executeRawUnsafe('UPDATE _prisma_migrations SET finished_at = NULL');
    await close();
    await expect(migrate(url)).rejects.toMatchObject({ fault: 'unfinished' });
  });

  it('keep rows that refer to a rebuilt table, and reject dangling references', async () => {
    const url = await emptyDatabaseUrl();
    const { folder, add } = copyOfMigrations();
    rmSync(path.join(folder, databaseKind()), { recursive: true });
    mkdirSync(path.join(folder, databaseKind()));
    add(
      '1_init',
      'CREATE TABLE a (id TEXT PRIMARY KEY);\nCREATE TABLE b (a TEXT REFERENCES a (id) ON DELETE CASCADE);',
    );
    add('2_rows', "INSERT INTO a VALUES ('x');\nINSERT INTO b VALUES ('x');");
    if (databaseKind() === 'sqlite') add('3_rebuild', REBUILD);
    await migrate(url, folder);
    expect(await rows(url, 'SELECT a FROM b')).toEqual([{ a: 'x' }]);
    add('4_dangling', "INSERT INTO b VALUES ('nobody');");
    await expect(migrate(url, folder)).rejects.toThrow(/refer|foreign key/i);
    expect(await rows(url, 'SELECT a FROM b')).toEqual([{ a: 'x' }]);
  });
});

// How Prisma changes a column on SQLite.
const REBUILD = `PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE new_a (id TEXT PRIMARY KEY, note TEXT);
INSERT INTO new_a (id) SELECT id FROM a;
DROP TABLE a;
ALTER TABLE new_a RENAME TO a;
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;`;
