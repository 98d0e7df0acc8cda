// What `gatehouse upgrade check` has to know of a database, read without a change.
import { statSync } from 'node:fs';
import { unreachable } from '../database.ts';
import { DatabaseError, type DatabaseKind, type DatabaseLocation } from '../database-url.ts';
import { type MigrationFile, readMigrations } from '../migrations/files.ts';
import { findMissing } from '../migrations/migrate.ts';
import { openMigrationSession } from '../migrations/session.ts';

export interface DatabaseState {
  kind: DatabaseKind;
  bytes: number;
  missing: MigrationFile[];
  tableRows: Record<string, number>;
  /** With indexes; of PostgreSQL only. */
  tableBytes: Record<string, number>;
  /** The newest one in the audit log. */
  backup: { file: string; at: Date } | undefined;
  /** The connections of other programs of Gatehouse; null on SQLite, which does not tell. */
  servers: { version: string | null; address: string; connections: number }[] | null;
}

type Query = (sql: string) => Promise<Record<string, unknown>[]>;

/** Throws DatabaseError when it cannot be reached, and MigrationError when this program cannot migrate it. */
export async function inspectDatabase(location: DatabaseLocation): Promise<DatabaseState> {
  const { kind } = location;
  const session = await openMigrationSession(location);
  const { query } = session;
  try {
    const migrations = readMigrations(kind);
    const names = await findMissing(session, kind, migrations);
    const tables = (await query(kind === 'sqlite' ? SQLITE_TABLES : POSTGRESQL_TABLES)).map((row) => String(row.name));
    return {
      kind,
      missing: migrations.filter(({ name }) => names.includes(name)),
      tableRows: await numbers(query, tables, (table) => `SELECT count(*) AS number FROM "${table}"`),
      tableBytes:
        kind === 'sqlite'
          ? {}
          : await numbers(query, tables, (table) => `SELECT pg_total_relation_size('"${table}"') AS number`),
      bytes: location.kind === 'sqlite' ? sizeOf(location.file) : await postgresSize(query),
      backup: tables.includes('audit_events') ? await newestBackup(query) : undefined,
      servers: kind === 'sqlite' ? null : await otherServers(query),
    };
  } catch (cause) {
    throw cause instanceof DatabaseError ? cause : unreachable(location, cause);
  } finally {
    await session.close();
  }
}

async function numbers(query: Query, tables: string[], sqlOf: (table: string) => string) {
  const found: Record<string, number> = {};
  for (const table of tables) found[table] = Number((await query(sqlOf(table)))[0]?.number);
  return found;
}

async function postgresSize(query: Query): Promise<number> {
  return Number((await query('SELECT pg_database_size(current_database()) AS bytes'))[0]?.bytes);
}

async function newestBackup(query: Query): Promise<DatabaseState['backup']> {
  const [row] = await query(
    "SELECT at, data FROM audit_events WHERE type = 'backup.created' AND outcome = 'success' ORDER BY id DESC LIMIT 1",
  );
  if (!row) return undefined;
  const data = JSON.parse(String(row.data ?? '{}')) as { file?: string };
  return { file: data.file ?? 'a backup', at: row.at instanceof Date ? row.at : new Date(utc(String(row.at))) };
}

// PostgreSQL's text has no zone.
function utc(text: string): string {
  return /[Z+]/.test(text) ? text : `${text.replace(' ', 'T')}Z`;
}

async function otherServers(query: Query): Promise<DatabaseState['servers']> {
  const rows = await query(SERVERS);
  return rows.map(({ name, address, connections }) => ({
    version: /^gatehouse (\S+)$/.exec(String(name))?.[1] ?? null,
    address: String(address),
    connections: Number(connections),
  }));
}

function sizeOf(file: string): number {
  const bytes = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  return bytes(file) + bytes(`${file}-wal`);
}

const SQLITE_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
const POSTGRESQL_TABLES = 'SELECT tablename::text AS name FROM pg_tables WHERE schemaname = current_schema()';
// The pool of this session has at most one idle connection beside the one that asks.
const SERVERS = `SELECT application_name AS name, coalesce(host(client_addr), 'this machine') AS address, count(*) AS connections
  FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'gatehouse%' AND pid <> pg_backend_pid()
  GROUP BY 1, 2 ORDER BY 1, 2`;

// What a migration script does to which tables, read from its SQL as Prisma writes it.

export interface TouchedTable {
  table: string;
  /** Created and removed by the script, changed, or every row written again. */
  change: 'created' | 'removed' | 'changed' | 'rewritten';
}

/** What a statement does to the table that it names. Prisma changes a table of SQLite by way of a copy named `new_<table>`, which is no table of its own. */
const STATEMENTS: readonly (readonly [TouchedTable['change'], RegExp])[] = [
  ['created', /CREATE TABLE "(?!new_)(\w+)"/g],
  ['changed', /ALTER TABLE "(?!new_)(\w+)"/g],
  ['changed', /CREATE (?:UNIQUE )?INDEX "\w+" ON "(\w+)"/g],
  ['changed', /DELETE FROM "?(\w+)"?/g],
  ['changed', /INSERT INTO "?(?!new_)(\w+)"?/g],
  ['rewritten', /UPDATE "?(?!new_)(\w+)"? SET/g],
  ['rewritten', /ALTER TABLE "new_\w+" RENAME TO "(\w+)"/g],
];
/** PostgreSQL writes every row again when a column gets another type. */
const OTHER_TYPE = /ALTER TABLE "(\w+)"[^;]*(?:SET DATA TYPE|\sTYPE\s)/g;

/** The tables of a script, each once, in order, with the strongest of its changes. */
export function touchedTables(sql: string, kind: DatabaseKind): TouchedTable[] {
  const found = new Map<string, TouchedTable['change']>();
  const note = (table: string, change: TouchedTable['change']) => {
    const before = found.get(table);
    if (before === undefined || ORDER.indexOf(change) > ORDER.indexOf(before)) found.set(table, change);
  };
  const script = sql.replace(/--[^\n]*/g, '');
  for (const [change, statement] of STATEMENTS)
    for (const [, table = ''] of script.matchAll(statement)) note(table, change);
  if (kind === 'postgresql') for (const [, table = ''] of script.matchAll(OTHER_TYPE)) note(table, 'rewritten');
  // The old table of a copy is dropped too, before the copy gets its name.
  for (const [, table = ''] of script.matchAll(/DROP TABLE "(\w+)"/g))
    if (!new RegExp(`RENAME TO "${table}"`).test(script)) note(table, 'removed');
  return [...found].map(([table, change]) => ({ table, change }));
}

/** The strongest last. */
const ORDER: TouchedTable['change'][] = ['changed', 'rewritten', 'created', 'removed'];
