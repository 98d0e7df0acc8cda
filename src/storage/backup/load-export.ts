// Loads an export of PostgreSQL into an empty database of either kind, in one transaction: the migrations of its schema, then
// its rows as they were written. Later migrations are left to migrate().
import type { DatabaseKind } from '../database-url.ts';
import { readMigrations } from '../migrations/files.ts';
import { applyMigrations } from '../migrations/migrate.ts';
import type { LockedSession } from '../migrations/session.ts';
import type { ExportedTable } from './export.ts';
import { BackupError, type BackupHead, migrationsOf, type Progress } from './head.ts';
import { checkExport, readExport } from './read-export.ts';

export interface Loaded {
  head: BackupHead;
  /** The number of rows of each table. */
  rows: Record<string, number>;
}

/** Triggers fill it while the other tables are loaded; only processes that run have a use for its random numbers. */
const FILLED_BY_TRIGGERS = 'directory_revisions';

/** Loads `file` within the transaction of `locked`; throws BackupError, and the caller rolls back. */
export async function loadExport(
  locked: LockedSession,
  kind: DatabaseKind,
  file: string,
  onProgress: (progress: Progress) => void = () => {},
): Promise<Loaded> {
  await checkExport(file);
  let head: BackupHead | undefined;
  let table: ExportedTable | undefined;
  let done = 0;
  for await (const part of readExport(file)) {
    if (part.kind === 'head') {
      head = part.head;
      await createTables(locked, kind, head);
    } else if (part.kind === 'table') {
      if (table) await continueSequence(locked, kind, table);
      table = part.table;
      assertNames(table);
    } else if (part.kind === 'rows' && table) {
      if (table.table === FILLED_BY_TRIGGERS) continue;
      await execute(locked, insertOf(kind, table), `[${part.lines.join(',')}]`);
      done += part.lines.length;
      onProgress({ done, total: 0 });
    } else if (part.kind === 'end' && head) {
      if (table) await continueSequence(locked, kind, table);
      const { [FILLED_BY_TRIGGERS]: _, ...rows } = part.rows;
      return { head, rows };
    }
  }
  throw new BackupError(`${file} is empty`);
}

async function createTables(locked: LockedSession, kind: DatabaseKind, head: BackupHead): Promise<void> {
  await applyMigrations(locked, kind, migrationsOf(head, readMigrations(kind)));
  // A migration may write rows of its own, which the export has too.
  for (const name of await tableNames(locked, kind)) await locked.query(`DELETE FROM "${name}"`);
}

/** The tables of Gatehouse in the database. */
export async function tableNames({ query }: Pick<LockedSession, 'query'>, kind: DatabaseKind): Promise<string[]> {
  const tables = await query(
    kind === 'sqlite'
      ? "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> '_prisma_migrations'"
      : `SELECT tablename::text AS name FROM pg_tables WHERE schemaname = current_schema() AND tablename <> '_prisma_migrations'`,
  );
  return tables.map(({ name }) => String(name));
}

// The rows of a batch are one parameter, a JSON array of arrays of texts, and the database converts each text to its column.
function insertOf(kind: DatabaseKind, { table, columns, types }: ExportedTable): string {
  const convert = kind === 'sqlite' ? sqliteValue : postgresValue;
  const values = types.map((type, index) => convert(`value ->> ${index}`, type)).join(', ');
  const names = columns.map((name) => `"${name}"`).join(', ');
  const source = kind === 'sqlite' ? 'json_each(?)' : 'json_array_elements($1::json) AS rows (value)';
  return `INSERT INTO "${table}" (${names}) SELECT ${values} FROM ${source}`;
}

function postgresValue(text: string, type: string): string {
  return `(${text})::${type}`;
}

function sqliteValue(text: string, type: string): string {
  if (type === 'boolean') return `(${text}) = 'true'`;
  if (type === 'integer' || type === 'bigint') return `CAST(${text} AS INTEGER)`;
  if (type === 'bytea') return `unhex(substr(${text}, 3))`;
  if (type.startsWith('timestamp')) return `strftime('%Y-%m-%dT%H:%M:%f+00:00', ${text})`;
  return text;
}

async function continueSequence(locked: LockedSession, kind: DatabaseKind, { table, sequence }: ExportedTable) {
  if (!sequence) return;
  const { column, last } = sequence;
  if (kind === 'postgresql')
    await locked.query(`SELECT setval(pg_get_serial_sequence('"${table}"', '${column}'), ${last})`);
  else {
    await locked.query(`DELETE FROM sqlite_sequence WHERE name = '${table}'`);
    await locked.query(`INSERT INTO sqlite_sequence (name, seq) VALUES ('${table}', ${last})`);
  }
}

// They become part of statements.
function assertNames({ table, columns, types, sequence }: ExportedTable): void {
  const names = [table, ...columns, ...(sequence ? [sequence.column] : [])];
  const isValid =
    names.every((name) => /^[a-z_][a-z0-9_]*$/.test(name)) &&
    types.every((type) => /^[a-z][a-z0-9 ()]*$/.test(type)) &&
    (sequence === undefined || /^\d+$/.test(sequence.last));
  if (!isValid) throw new BackupError('the backup was not written by Gatehouse: it has a name that no table has');
}

async function execute({ adapter }: LockedSession, sql: string, argument: string): Promise<void> {
  await adapter.executeRaw({ sql, args: [argument], argTypes: [{ scalarType: 'string', arity: 'scalar' }] });
}
