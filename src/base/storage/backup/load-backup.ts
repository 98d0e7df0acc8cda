// Loads a backup into an empty database of either kind, in one transaction: the migrations of its schema, then its rows, each value
// converted to its column. Later migrations are left to migrate().
import { plural } from '../../platform/plural.ts';
import type { DatabaseKind } from '../database-url.ts';
import { readMigrations } from '../migrations/files.ts';
import { applyMigrations } from '../migrations/migrate.ts';
import type { LockedSession } from '../migrations/session.ts';
import { driverMessage } from '../unavailable.ts';
import { BackupError, type BackupHead, migrationsOf, type Progress } from './head.ts';
import { type BackupTable, checkBackup, readBackup } from './read-backup.ts';
import { countRows, type Table, tablesOf } from './tables.ts';

export interface Loaded {
  /** Undefined for a copy of a SQLite file without FILE.json. */
  head: BackupHead | undefined;
  /** The number of rows of each table. */
  rows: Record<string, number>;
}

/** Triggers fill it while the other tables are loaded; only processes that run have a use for its random numbers. */
const FILLED_BY_TRIGGERS = 'directory_revisions';

/** Loads `file` within the transaction of `locked`; throws BackupError, and the caller rolls back. */
export async function loadBackup(
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
        throw new BackupError(`a row of ${name} cannot be restored: ${reasonOf(cause)}. Nothing was changed`, {
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
      throw new BackupError(
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

function notOurs(): BackupError {
  return new BackupError('the backup was not written by Gatehouse: it has a name that no table has');
}
