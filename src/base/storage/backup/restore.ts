// Puts a backup in the place of a database. Until the last step the database is as it was: one transaction on PostgreSQL, the
// rename of a file on SQLite. It is not migrated: the next start does that.

import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { diskFullAt, isDiskFull, whyNotWritable } from '../../platform/folders.ts';
import { plural } from '../../platform/plural.ts';
import { DatabaseError, type DatabaseKind, type DatabaseLocation } from '../database-url.ts';
import { readMigrations } from '../migrations/files.ts';
import { applyMigrations } from '../migrations/migrate.ts';
import { type LockedSession, openMigrationSession } from '../migrations/session.ts';
import { createSqliteFile } from '../sqlite/adapter.ts';
import { connectSqlite } from '../sqlite/connections.ts';
import { asUnavailable, driverMessage } from '../unavailable.ts';
import { EXACT_TEXTS } from './export.ts';
import { type BackupHead, migrationsOf, type Progress } from './head.ts';
import { readManifest } from './manifest.ts';
import { type BackupTable, checkBackup, kindOfBackup, readBackup } from './read-backup.ts';
import {
  assertIntact,
  copyFile,
  inspectSqlite,
  recordedMigrations,
  type SyncQuery,
  syncFile,
  syncQuery,
} from './sqlite-copy.ts';
import { countRows, type Table, tablesOf } from './tables.ts';

/** A row of the table data_keys, as core/keys/data-keys.ts reads it. */
export interface StoredDataKey {
  id: string;
  purpose: string;
  generation: number;
  keySealed: string;
}

export interface RestoreOptions {
  /** Whether a database with content may be replaced. */
  replace: boolean;
  now: Date;
  /** Gets the data keys of the backup before it becomes the database; throws to leave the old one. */
  checkDataKeys(rows: StoredDataKey[]): void;
  onProgress?(progress: Progress): void;
}

export interface Restored {
  /** Undefined for a copy of a SQLite file without FILE.json. */
  head: BackupHead | undefined;
  rows: Record<string, number>;
  /** Where the former SQLite file is now. */
  replacedFile?: string;
}

/** Restores `file` into the database at `location`; throws DatabaseError, and nothing was changed. */
export async function restoreBackup(
  location: DatabaseLocation,
  file: string,
  options: RestoreOptions,
): Promise<Restored> {
  const kind = kindOfBackup(file);
  if (location.kind === 'postgresql') return restorePostgres(location, file, options);
  const target = location.file;
  if (target === file) throw new DatabaseError(`${file} is the database itself`);
  requireWritable(target);
  return restoreSqlite(target, file, kind, options).catch((error: unknown) => {
    if (!isDiskFull(error) && asUnavailable(error)?.reason !== 'disk full') throw error;
    throw new DatabaseError(`${diskFullAt(path.dirname(target))}. Nothing was changed`, { cause: error });
  });
}

function requireWritable(target: string): void {
  const reason = whyNotWritable(target) ?? whyNotWritable(path.dirname(target));
  if (!reason) return;
  const advice = 'run this as the user of the server, or change the owner or the mode of the folder';
  throw new DatabaseError(`the database cannot be written: ${reason}. To restore, ${advice}. Nothing was changed`);
}

type PostgresLocation = Extract<DatabaseLocation, { kind: 'postgresql' }>;

async function restorePostgres(location: PostgresLocation, file: string, options: RestoreOptions): Promise<Restored> {
  const session = await openMigrationSession(location);
  try {
    const locked = await session.tryLock();
    if (!locked)
      throw new DatabaseError(
        'another process is migrating or restoring this database: try again when it has finished',
      );
    try {
      for (const setting of EXACT_TEXTS) await locked.query(setting);
      await dropTables(locked, options.replace);
      const { head, rows } = await loadBackup(locked, 'postgresql', file, options.onProgress);
      options.checkDataKeys((await locked.query(DATA_KEYS)) as never);
      await locked.commit();
      return { head, rows };
    } catch (error) {
      await locked.rollback().catch(() => {}); // the first error is the one to report
      throw error;
    }
  } finally {
    await session.close();
  }
}

/** The servers on this database. A connection that was closed a moment ago, such as a first look of this command, is still listed. */
async function serversOn(query: LockedSession['query']): Promise<Record<string, unknown>[]> {
  for (let waited = 0; ; waited += CLOSING.everyMs) {
    const servers = await query(SERVERS);
    if (servers.length === 0 || waited >= CLOSING.waitMs) return servers;
    await sleep(CLOSING.everyMs);
    await query('SELECT pg_stat_clear_snapshot()::text');
  }
}

const CLOSING = { waitMs: 3000, everyMs: 200 };

async function dropTables(locked: LockedSession, replace: boolean): Promise<void> {
  const { query } = locked;
  const others = await serversOn(query);
  if (others.length > 0) {
    const from = others.map(({ name, address }) => `${name} from ${address}`).join(', ');
    throw new DatabaseError(`a server runs on this database (${from}): stop all servers first. Nothing was changed`);
  }
  const tables = (await tablesOf(query, 'postgresql')).map(({ table }) => table);
  if (tables.length === 0) return;
  if (!tables.includes('users') || !tables.includes('audit_events'))
    throw new DatabaseError(
      'the database contains tables of another program: use an empty database. Nothing was changed',
    );
  if (!replace && (await query(ANY_CONTENT)).length > 0) throw notEmpty();
  await query(`DROP TABLE ${[...tables, '_prisma_migrations'].map((name) => `"${name}"`).join(', ')} CASCADE`);
  for (const { name } of await query(TRIGGER_FUNCTIONS)) await query(`DROP FUNCTION ${String(name)} CASCADE`);
}

async function restoreSqlite(
  target: string,
  file: string,
  kind: DatabaseKind,
  options: RestoreOptions,
): Promise<Restored> {
  const exists = existsSync(target) && statSync(target).size > 0;
  createSqliteFile(target);
  const draft = `${target}.restoring`;
  const lock = await lockUnusedFile(target);
  let isDone = false;
  try {
    if (!options.replace && hasContent(lock.query)) throw notEmpty();
    removeSqlite(draft);
    const head = kind === 'sqlite' ? await copyChecked(file, draft, options) : await loadDraft(file, draft, options);
    const found = await inspectDraft(draft, options);
    const replacedFile = exists ? `${target}.replaced-${options.now.toISOString().replaceAll(':', '-')}` : undefined;
    if (replacedFile) renameSync(target, replacedFile);
    renameSync(draft, target);
    isDone = true;
    syncFile(path.dirname(target));
    return { head, ...found, ...(replacedFile && { replacedFile }) };
  } finally {
    await lock.release();
    removeSqlite(draft);
    if (!isDone && !exists) removeSqlite(target);
  }
}

async function copyChecked(file: string, draft: string, options: RestoreOptions): Promise<BackupHead | undefined> {
  const total = statSync(file).size;
  const manifest = readManifest(file);
  const { sha256 } = await copyFile(file, draft, (done) => options.onProgress?.({ done, total }));
  if (manifest && manifest.sha256 !== sha256)
    throw new DatabaseError(`${file} was changed or damaged: its digest differs from that in ${file}.json`);
  return manifest;
}

async function loadDraft(file: string, draft: string, { onProgress }: RestoreOptions): Promise<BackupHead | undefined> {
  const { head } = await loadIntoFile(file, draft, onProgress);
  return head;
}

function inspectDraft(draft: string, { checkDataKeys }: RestoreOptions) {
  return inspectSqlite(draft, async (query) => {
    assertIntact(query);
    migrationsOf(recordedMigrations(query), readMigrations('sqlite')); // throws for a newer schema
    const rows = await countRows(query, 'sqlite');
    checkDataKeys(query(DATA_KEYS) as never);
    return { rows };
  });
}

/** Loads a backup into a new SQLite file. */
export async function loadIntoFile(file: string, target: string, onProgress?: (progress: Progress) => void) {
  const session = await openMigrationSession({ kind: 'sqlite', file: target });
  try {
    const locked = await session.tryLock();
    if (!locked) throw new DatabaseError(`${target} is in use`);
    const loaded = await loadBackup(locked, 'sqlite', file, onProgress);
    await locked.commit();
    return loaded;
  } finally {
    await session.close();
  }
}

/** Locks a SQLite file that no other process has open. Throws DatabaseError while a server runs on it. */
async function lockUnusedFile(file: string): Promise<{ query: SyncQuery; release(): Promise<void> }> {
  const connection = await connectSqlite(file);
  const query = syncQuery(connection);
  try {
    query('PRAGMA busy_timeout = 0');
    // Each connection to a file in WAL mode holds a lock on it, so the mode changes only when there is no other one.
    const [changed] = query('PRAGMA journal_mode = DELETE');
    if (changed?.journal_mode !== 'delete') throw new Error(`its journal mode stays ${String(changed?.journal_mode)}`);
    query('BEGIN EXCLUSIVE');
  } catch (cause) {
    await connection.dispose();
    throw new DatabaseError(`a server or another command uses ${file}: stop all servers first. Nothing was changed`, {
      cause,
    });
  }
  return { query, release: () => connection.dispose() };
}

function hasContent(query: SyncQuery): boolean {
  const tables = query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  const isOurs = ['users', 'audit_events'].every((name) => tables.some((table) => table.name === name));
  if (!isOurs) return tables.length > 0;
  return query('SELECT 1 FROM users UNION ALL SELECT 1 FROM audit_events LIMIT 1').length > 0;
}

function removeSqlite(file: string): void {
  for (const name of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) rmSync(name, { force: true });
}

function notEmpty(): DatabaseError {
  return new DatabaseError('the database is not empty: to replace its content, add --replace. Nothing was changed');
}

const TRIGGER_FUNCTIONS = `SELECT oid::regprocedure::text AS name FROM pg_proc
  WHERE pronamespace = current_schema()::regnamespace AND prorettype = 'trigger'::regtype`;
const ANY_CONTENT =
  'SELECT 1 FROM (SELECT id::text FROM users UNION ALL SELECT id::text FROM audit_events) AS content LIMIT 1';
const DATA_KEYS = 'SELECT id, purpose, generation, key_sealed AS "keySealed" FROM data_keys ORDER BY generation DESC';
const SERVERS = `SELECT application_name AS name, coalesce(client_addr::text, 'this machine') AS address
  FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'gatehouse%' AND pid <> pg_backend_pid()
  GROUP BY 1, 2`;

// Loads a backup into an empty database of either kind, in one transaction: the migrations of its schema, then its rows, each value
// converted to its column. Later migrations are left to migrate().

interface Loaded {
  /** Undefined for a copy of a SQLite file without FILE.json. */
  head: BackupHead | undefined;
  /** The number of rows of each table. */
  rows: Record<string, number>;
}

/** Triggers fill it while the other tables are loaded; only processes that run have a use for its random numbers. */
const FILLED_BY_TRIGGERS = 'directory_revisions';

/** Loads `file` within the transaction of `locked`; throws DatabaseError, and the caller rolls back. */
async function loadBackup(
  locked: LockedSession,
  kind: DatabaseKind,
  file: string,
  onProgress: (progress: Progress) => void = () => {},
): Promise<Loaded> {
  const { [FILLED_BY_TRIGGERS]: _, ...rows } = await checkBackup(file);
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  let head: BackupHead | undefined;
  let tables: Table[] = [];
  let insert = '';
  let name = '';
  let done = 0;
  for await (const part of readBackup(file)) {
    if (part.kind === 'head') {
      head = part.head;
      tables = await createTables(locked, kind, migrationsOf(part.migrations, readMigrations(kind)));
    } else if (part.kind === 'table') {
      name = part.table.table;
      if (name === FILLED_BY_TRIGGERS) continue;
      insert = insertOf(kind, part.table, tables);
      if (part.table.sequence) await continueSequence(locked, kind, part.table);
    } else if (part.kind === 'rows' && name !== FILLED_BY_TRIGGERS) {
      await execute(locked, insert, `[${part.lines.join(',')}]`).catch((cause: unknown) => {
        throw new DatabaseError(`a row of ${name} cannot be restored: ${reasonOf(cause)}. Nothing was changed`, {
          cause,
        });
      });
      done += part.lines.length;
      onProgress({ done, total });
    }
  }
  await assertCounts(locked, kind, rows);
  return { head, rows };
}

async function createTables(
  locked: LockedSession,
  kind: DatabaseKind,
  migrations: Parameters<typeof applyMigrations>[2],
): Promise<Table[]> {
  await applyMigrations(locked, kind, migrations);
  const tables = await tablesOf(locked.query, kind);
  // A migration may write rows of its own, which the backup has too.
  for (const { table } of tables.toReversed()) await locked.query(`DELETE FROM "${table}"`);
  return tables;
}

async function assertCounts(locked: LockedSession, kind: DatabaseKind, expected: Record<string, number>) {
  const found = await countRows(locked.query, kind);
  for (const [table, count] of Object.entries(expected))
    if (found[table] !== count)
      throw new DatabaseError(
        `${table} has ${plural(found[table] ?? 0, 'row')} instead of ${count} after the restore. Nothing was changed`,
      );
}

// The rows of a batch are one parameter, a JSON array of arrays of texts, and the database converts each text to its column.
function insertOf(kind: DatabaseKind, { table, columns }: BackupTable, tables: readonly Table[]): string {
  // Names become part of statements, so they are those of the new tables.
  const target = tables.find((one) => one.table === table);
  const types = columns.map((column) => target?.types[target.columns.indexOf(column)]);
  const convert = kind === 'sqlite' ? sqliteValue : postgresValue;
  const values = types.map((type, index) => {
    if (type === undefined) throw notOurs();
    return convert(`value ->> ${index}`, type);
  });
  const names = columns.map((name) => `"${name}"`);
  const source = kind === 'sqlite' ? 'json_each(?)' : 'json_array_elements($1::json) AS rows (value)';
  return `INSERT INTO "${table}" (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${source}`;
}

function postgresValue(text: string, type: string): string {
  return `(${text})::${type}`;
}

function sqliteValue(text: string, type: string): string {
  if (type === 'BOOLEAN') return `(${text}) = 'true'`;
  if (type === 'INTEGER' || type === 'BIGINT') return `CAST(${text} AS INTEGER)`;
  if (type === 'BLOB') return `unhex(substr(${text}, 3))`;
  if (type === 'DATETIME') return `strftime('%Y-%m-%dT%H:%M:%f+00:00', ${text})`;
  return text;
}

/** Numbers of deleted rows are not given again. */
async function continueSequence(locked: LockedSession, kind: DatabaseKind, { table, columns, sequence }: BackupTable) {
  if (!sequence) return;
  const { column, last } = sequence;
  if (!columns.includes(column) || !/^\d+$/.test(last)) throw notOurs();
  if (kind === 'postgresql')
    await locked.query(`SELECT setval(pg_get_serial_sequence('"${table}"', '${column}'), ${last})`);
  else {
    await locked.query(`DELETE FROM sqlite_sequence WHERE name = '${table}'`);
    await locked.query(`INSERT INTO sqlite_sequence (name, seq) VALUES ('${table}', ${last})`);
  }
}

async function execute({ adapter }: LockedSession, sql: string, argument: string): Promise<void> {
  await adapter.executeRaw({ sql, args: [argument], argTypes: [{ scalarType: 'string', arity: 'scalar' }] });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? driverMessage(error) : String(error);
}

function notOurs(): DatabaseError {
  return new DatabaseError('the backup was not written by Gatehouse: it has a name that no table has');
}
