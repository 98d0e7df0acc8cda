// The migrations, applied one after another, create the same tables as the schema at once.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/base/storage/database.ts';
import { parseDatabaseUrl } from '../../src/base/storage/database-url.ts';
import { startMigrationEngine } from '../../src/base/storage/migrations/engine.ts';
import { migrationsFolder } from '../../src/base/storage/migrations/files.ts';
import { migrate } from '../../src/base/storage/migrations/migrate.ts';
import { openMigrationSession } from '../../src/base/storage/migrations/session.ts';
import { databaseKind } from '../support/database/database.ts';
import { emptyDatabaseUrl } from './empty-database.ts';

// Without triggers, which a schema of Prisma cannot have (directory-cache.test.ts looks for them).
const DESCRIPTION = {
  sqlite:
    "SELECT name, type FROM sqlite_master WHERE type <> 'trigger' AND name NOT LIKE '\\_prisma%' ESCAPE '\\' AND name NOT LIKE 'sqlite%' ORDER BY name",
  postgresql: `SELECT table_name::text || '.' || column_name AS name, data_type || is_nullable || coalesce(column_default, '') AS type
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> '_prisma_migrations'
    UNION ALL SELECT indexname::text, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'
    UNION ALL SELECT conname::text, pg_get_constraintdef(oid) FROM pg_constraint
      WHERE contype = 'f' AND connamespace = 'public'::regnamespace ORDER BY name`,
};
const COLUMNS = `SELECT m.name || '.' || c.name AS name, c.type || c."notnull" || coalesce(c.dflt_value, '') || c.pk AS type
  FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE '\\_prisma%' ESCAPE '\\' ORDER BY 1`;

async function describeTables(url: string): Promise<unknown[]> {
  const { db, kind, close } = await openDatabase(url);
  const tables = await db.$queryRawUnsafe<unknown[]>(DESCRIPTION[kind]);
  if (kind === 'sqlite') tables.push(...(await db.$queryRawUnsafe<unknown[]>(COLUMNS)));
  await close();
  return tables;
}

async function createFromSchema(url: string): Promise<void> {
  const kind = databaseKind();
  const session = await openMigrationSession(parseDatabaseUrl(url));
  const locked = await session.tryLock();
  if (!locked) throw new Error('an empty database cannot be locked');
  const connect = async () => locked.adapter;
  const { provider, adapterName } = locked.adapter;
  const engine = await startMigrationEngine(kind, { provider, adapterName, connect, connectToShadowDb: connect });
  const schema = readFileSync(path.join(migrationsFolder, '..', 'schema.prisma'), 'utf8');
  await locked.adapter.executeScript(
    await engine.diff(undefined, schema.replace('provider = "sqlite"', `provider = "${kind}"`)),
  );
  await locked.commit();
  await session.close();
}

it('the migrations and the schema agree', async () => {
  const [migrated, made] = [await emptyDatabaseUrl(), await emptyDatabaseUrl()];
  await migrate(migrated);
  await createFromSchema(made);
  const tables = await describeTables(migrated);
  expect(tables.length).toBeGreaterThan(100);
  expect(tables).toEqual(await describeTables(made));
});
