// Creates and checks the migrations of both databases from one schema, without a database server and without a download.
//   npm run db:migration -- NAME   writes prisma/migrations/{sqlite,postgresql}/<time>_NAME/migration.sql
//   npm run db:check               fails when the committed migrations do not lead to the schema
// prisma/migrations/migrated-schema.prisma is the schema at the newest migration; the next migration starts from it.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import type { DatabaseKind } from '../src/base/storage/database-url.ts';
import { startMigrationEngine } from '../src/base/storage/migrations/engine.ts';
import { migrationsFolder, readMigrations } from '../src/base/storage/migrations/files.ts';
import { migrate } from '../src/base/storage/migrations/migrate.ts';
import { SqliteFactory } from '../src/base/storage/sqlite/connections.ts';

const KINDS: DatabaseKind[] = ['sqlite', 'postgresql'];
const schemaFile = path.join(import.meta.dirname, 'schema.prisma');
const migratedSchemaFile = path.join(migrationsFolder, 'migrated-schema.prisma');
const sqliteInMemory = new SqliteFactory({ url: ':memory:' });

async function create([name = '']: string[]): Promise<void> {
  if (!/^[a-z][a-z0-9_]{1,60}$/.test(name)) fail(`a migration needs a name like add_labels, not "${name}"`);
  const time = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const changes = await Promise.all(KINDS.map(async (kind) => ({ kind, sql: await pendingSql(kind) })));
  if (changes.every(({ sql }) => sql === '')) return say('The schema has not changed since the last migration.');
  for (const { kind, sql } of changes) {
    const folder = path.join(migrationsFolder, kind, `${time}_${name}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'migration.sql'), sql || '-- Nothing to do on this database.\n');
    say(`wrote ${path.relative(process.cwd(), folder)}/migration.sql`);
  }
  writeFileSync(migratedSchemaFile, readFileSync(schemaFile));
  say(
    'Read the SQL before you commit it: Prisma drops a renamed column and creates a new one, unless you edit the SQL.',
  );
}

async function check(): Promise<void> {
  const [sqlite, postgresql] = KINDS.map((kind) => readMigrations(kind).map(({ name }) => name));
  if (String(sqlite) !== String(postgresql)) fail('the two databases have migrations of different names');
  for (const kind of KINDS) {
    const sql = await pendingSql(kind);
    if (sql !== '') fail(`the schema changed: run npm run db:migration -- NAME. Missing on ${kind}:\n${sql}`);
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-migrations-'));
  try {
    const url = `file:${path.join(folder, 'check.db')}`;
    await migrate(url);
    const factory = new SqliteFactory({ url });
    const engine = await startMigrationEngine('sqlite', factory);
    const schema = schemaFor('sqlite', schemaFile);
    // The engine (7.10) does not find the partial indexes of a SQLite database, so they are compared and taken away here.
    const wanted = (await engine.diff(undefined, schema)).split('\n').filter((line) => / WHERE .*;$/.test(line));
    if (String(await takePartialIndexes(factory)) !== String(wanted.sort())) fail('the partial indexes do not agree');
    const steps = await engine.push(schema.replace(/^ *@@index\(.* where: .*$/gm, ''));
    if (steps > 0) fail(`the migrations do not lead to the schema: ${steps} steps are missing on SQLite`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  say(`Migrations and schema agree (${sqlite?.length} applied).`);
}

/** Drops the partial indexes of the database and returns their statements, sorted. */
async function takePartialIndexes(factory: SqliteFactory): Promise<string[]> {
  const connection = await factory.connect();
  const partial = `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'`;
  const { rows } = await connection.queryRaw({ sql: partial, args: [], argTypes: [] });
  for (const [name] of rows) await connection.executeScript(`DROP INDEX "${name}"`);
  await connection.dispose();
  return rows.map(([, sql]) => `${sql};`).sort();
}

async function pendingSql(kind: DatabaseKind): Promise<string> {
  const engine = await startMigrationEngine(kind, kind === 'sqlite' ? sqliteInMemory : versionOnlyPostgresql);
  const previous = existsSync(migratedSchemaFile) ? schemaFor(kind, migratedSchemaFile) : undefined;
  const diff = await engine.diff(previous, schemaFor(kind, schemaFile));
  // The schema "public" exists already, and a database user with few rights may not create schemas.
  const sql = diff.replace(/^-- CreateSchema\nCREATE SCHEMA IF NOT EXISTS "public";\n+/, '');
  return /^\s*(-- This is an empty migration\.)?\s*$/.test(sql) ? '' : sql;
}

// Answers in place of a PostgreSQL server: the comparison of two schemas needs none, but the engine reads its version at the start.
const adapter = { provider: 'postgres', adapterName: '@prisma/adapter-pg' } as const;
const versionOnlyServer: SqlDriverAdapter = {
  ...adapter,
  queryRaw: async () => ({
    columnNames: ['exists', 'version', 'numeric_version'],
    columnTypes: [ColumnTypeEnum.Boolean, ColumnTypeEnum.Text, ColumnTypeEnum.Int32],
    rows: [[true, 'PostgreSQL 16.0', 160_000]],
  }),
  executeRaw: async () => 0,
  executeScript: async () => {},
  startTransaction: () => Promise.reject(new Error('there is no database')),
  dispose: async () => {},
  getConnectionInfo: () => ({ schemaName: 'public', supportsRelationJoins: true }),
};
const versionOnlyPostgresql: SqlMigrationAwareDriverAdapterFactory = {
  ...adapter,
  connect: async () => versionOnlyServer,
  connectToShadowDb: async () => versionOnlyServer,
};

function schemaFor(kind: DatabaseKind, file: string): string {
  return readFileSync(file, 'utf8').replace('provider = "sqlite"', `provider = "${kind}"`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

const [command, ...args] = process.argv.slice(2);

if (command === 'create') await create(args);
else if (command === 'check') await check();
else fail('usage: migration.ts create NAME | check');
