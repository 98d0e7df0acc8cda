// Applies missing migrations to a copy, so that a database is known to migrate before it is touched. SQLite: a copy of the file.
// PostgreSQL: a schema of its own with the rows copied into it, all in one transaction that is rolled back, so that nothing
// stays, also when the process is killed.
import { mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { plural } from '../../platform/plural.ts';
import { EXACT_TEXTS, queryRows } from '../backup/export.ts';
import { copySqlite } from '../backup/sqlite-copy.ts';
import type { DatabaseLocation } from '../database-url.ts';
import type { MigrationFile } from '../migrations/files.ts';
import { openMigrationSession } from '../migrations/session.ts';
import { patientLimits } from '../open-options.ts';
import { postgresAdapter } from '../postgresql/adapter.ts';

export interface TrialOptions {
  /** What the database has, and what it lacks. */
  applied: readonly MigrationFile[];
  missing: readonly MigrationFile[];
  /** Whether the rows are copied too. */
  withRows: boolean;
  onProgress(message: string): void;
}

export interface TrialResult {
  ok: boolean;
  /** What the migrations ran on. */
  on: 'copy with rows' | 'schema without rows' | 'nothing';
  /** Where it was. */
  where: string;
  seconds: number;
  migrations: { name: string; seconds: number }[];
  /** How much the copy grew meanwhile, in bytes; null where it is not known. */
  growth: number | null;
  /** The migration that failed, and why. */
  failed?: { name: string; message: string };
}

/** Tries the migrations; the database is only read. */
export async function tryMigrations(location: DatabaseLocation, options: TrialOptions): Promise<TrialResult> {
  const begun = performance.now();
  const result = await (location.kind === 'sqlite'
    ? trySqlite(location.file, options)
    : tryPostgres(location, options));
  return { ...result, seconds: secondsSince(begun) };
}

async function trySqlite(file: string, options: TrialOptions): Promise<TrialResult> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-upgrade-'));
  const where = `a copy in ${tmpdir()}`;
  try {
    const { bavail, bsize } = statfsSync(folder);
    const { size } = statSync(file);
    // The copy, and its rewritten tables beside it.
    if (bavail * bsize < 3 * size)
      return nothing(where, `it needs ${plural(3 * size, 'byte')}, and ${bavail * bsize} are free there`);
    const copy = path.join(folder, 'copy.db');
    options.onProgress('Copying the database…');
    let tenths = 0;
    await copySqlite(file, copy, ({ done, total }) => {
      if (Math.floor((done / total) * 10) === tenths) return;
      tenths = Math.floor((done / total) * 10);
      options.onProgress(`  ${tenths * 10} %`);
    });
    const session = await openMigrationSession({ kind: 'sqlite', file: copy });
    try {
      const locked = await session.tryLock();
      if (!locked) return nothing(where, 'the copy is in use');
      const target: Target = { query: locked.query, script: (sql) => locked.adapter.executeScript(sql) };
      const result = await runMissing(target, where, 'copy with rows', options);
      if (!result.ok) return result;
      const failed = await locked.commit().then(
        () => undefined,
        (error: unknown) => ({ name: 'the end', message: messageOf(error) }),
      );
      const growth = sizeOf(copy) + sizeOf(`${copy}-wal`) - size;
      return { ...result, growth: Math.max(0, growth), ...(failed && { ok: false, failed }) };
    } finally {
      await session.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Where the migrations run. */
interface Target {
  query(sql: string): Promise<Record<string, unknown>[]>;
  script(sql: string): Promise<void>;
}

const TRIAL_SCHEMA = 'gatehouse_upgrade_check';

async function tryPostgres(
  location: Extract<DatabaseLocation, { kind: 'postgresql' }>,
  options: TrialOptions,
): Promise<TrialResult> {
  // Without the lock of migrations, so that a server can start meanwhile.
  const adapter = postgresAdapter({ ...location, keepsStatements: false }, { limits: patientLimits, max: 1 });
  const connection = await adapter.connect();
  const tx = await connection.startTransaction('REPEATABLE READ');
  const target: Target = {
    query: (sql) => queryRows(tx, sql),
    script: async (sql) => void (await tx.executeRaw({ sql, args: [], argTypes: [] })),
  };
  try {
    for (const setting of EXACT_TEXTS) await target.script(setting);
    const where = await createTrialSchema(target);
    if (where === undefined) {
      const reason = "the database user can't create a schema: GRANT CREATE ON DATABASE";
      return { ok: true, on: 'nothing', where: reason, seconds: 0, migrations: [], growth: null };
    }
    for (const { sql } of options.applied) await target.script(sql);
    if (options.withRows) await copyRows(target, location.schema, options.onProgress);
    const on = options.withRows ? 'copy with rows' : 'schema without rows';
    return await runMissing(target, where, on, options);
  } finally {
    await target.script('ROLLBACK').catch(() => {}); // the first error is the one to report
    await tx.rollback(); // returns the connection to the pool
    await connection.dispose();
  }
}

/** Makes the schema that unqualified names point to from now on; undefined where the user may not. */
async function createTrialSchema(target: Target): Promise<string | undefined> {
  const [rights] = await target.query(`SELECT has_database_privilege(current_database(), 'CREATE') AS "mayCreate"`);
  if (rights?.mayCreate !== true) return undefined;
  await target.query(`CREATE SCHEMA ${TRIAL_SCHEMA}`);
  await target.query(`SET LOCAL search_path = ${TRIAL_SCHEMA}`);
  return 'a schema of its own, rolled back';
}

async function copyRows(target: Target, source: string, onProgress: (message: string) => void): Promise<void> {
  const tables = await target.query(COPIED_COLUMNS.replaceAll('$source', source));
  onProgress(`Copying ${plural(tables.length, 'table')}…`);
  // The references are complete already, and are checked again by the migrations that touch them.
  const references = await target.query(REFERENCES);
  for (const { table, name } of references) await target.query(`ALTER TABLE "${table}" DROP CONSTRAINT "${name}"`);
  for (const { table, columns } of tables)
    await target.query(`INSERT INTO "${table}" (${columns}) SELECT ${columns} FROM "${source}"."${table}"`);
  // PostgreSQL alters no table while deferred triggers wait for the end of the transaction.
  await target.query('SET CONSTRAINTS ALL IMMEDIATE');
  await target.query('SET CONSTRAINTS ALL DEFERRED');
  onProgress('Checking the references of the copy…');
  for (const { table, name, definition } of references)
    await target.query(`ALTER TABLE "${table}" ADD CONSTRAINT "${name}" ${definition}`);
}

async function runMissing(
  target: Target,
  where: string,
  on: TrialResult['on'],
  { missing, onProgress }: TrialOptions,
): Promise<TrialResult> {
  const migrations: TrialResult['migrations'] = [];
  for (const { name, sql } of missing) {
    const begun = performance.now();
    try {
      await target.script(sql);
    } catch (error) {
      const failed = { name, message: messageOf(error) };
      return { ok: false, on, where, seconds: 0, migrations, growth: null, failed };
    }
    migrations.push({ name, seconds: secondsSince(begun) });
    onProgress(`  ${name}: ${secondsSince(begun)} s`);
  }
  return { ok: true, on, where, seconds: 0, migrations, growth: null };
}

function nothing(where: string, message: string): TrialResult {
  return {
    ok: false,
    on: 'nothing',
    where,
    seconds: 0,
    migrations: [],
    growth: null,
    failed: { name: 'none', message },
  };
}

function secondsSince(begun: number): number {
  return Math.round(performance.now() - begun) / 1000;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function messageOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (typeof cause === 'object' && cause !== null && 'originalMessage' in cause) return String(cause.originalMessage);
  return error instanceof Error ? error.message : String(error);
}

const HERE = "relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('users'))";
const COPIED_COLUMNS = `SELECT pg_class.relname::text AS table, string_agg(format('%I', attname), ', ')::text AS columns
  FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
  WHERE relkind = 'r' AND ${HERE} AND to_regclass(format('%I.%I', '$source', relname)) IS NOT NULL GROUP BY 1`;
const REFERENCES = `SELECT pg_class.relname::text AS table, conname::text AS name, pg_get_constraintdef(pg_constraint.oid) AS definition
  FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid WHERE contype = 'f' AND ${HERE}`;
