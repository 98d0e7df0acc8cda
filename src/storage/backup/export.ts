// Exports a PostgreSQL database without pg_dump: every row as PostgreSQL writes it, from one REPEATABLE READ transaction, which
// is one moment of the database while servers write to it. The file is gzip of JSON lines: the head, then for each table a line
// with its columns and a line (an array of texts) for each row, then the end with the number of rows and the digest of all
// lines before it. A table comes after those that it refers to.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { SqlQueryable } from '@prisma/driver-adapter-utils';
import type { DatabaseLocation } from '../database-url.ts';
import { type DatabaseLimits, patientLimits } from '../open-options.ts';
import { postgresAdapter } from '../postgresql/adapter.ts';
import { type BackupHead, newHead, type Progress } from './head.ts';
import { syncFile } from './sqlite-copy.ts';

type PostgresLocation = Extract<DatabaseLocation, { kind: 'postgresql' }>;
type Row = Record<string, unknown>;

export interface ExportedTable {
  table: string;
  columns: string[];
  /** Of the columns, as PostgreSQL names them. */
  types: string[];
  /** The last value of the column that numbers itself. */
  sequence?: { column: string; last: string };
}

export interface ExportEnd {
  end: true;
  rows: Record<string, number>;
  /** Of all lines before, in hexadecimal. */
  sha256: string;
}

export interface ExportOptions {
  now: Date;
  /** The time limits; by default 5 minutes for the next rows, however many there are. */
  limits?: DatabaseLimits;
  onProgress?(progress: Progress): void;
}

const STEP_LIMITS: DatabaseLimits = { ...patientLimits, answerMs: 300_000 };
const FETCH = 500;
const MIGRATIONS = '_prisma_migrations';

/** Writes the export into the new file `target`; returns the number of rows of each table. */
export async function exportPostgres(
  location: PostgresLocation,
  target: string,
  { now, limits = STEP_LIMITS, onProgress = () => {} }: ExportOptions,
): Promise<{ head: BackupHead; rows: Record<string, number> }> {
  const connection = await postgresAdapter({ ...location, keepsStatements: false }, { limits, max: 1 }).connect();
  try {
    const tx = await connection.startTransaction('REPEATABLE READ');
    try {
      for (const setting of EXACT_TEXTS) await tx.executeRaw({ sql: setting, args: [], argTypes: [] });
      const head = newHead('postgresql', now, await migrationNames(tx));
      const rows: Record<string, number> = {};
      const lines = Readable.from(linesOf(tx, head, rows, onProgress), { objectMode: true, highWaterMark: 2 });
      await pipeline(lines, createGzip(), createWriteStream(target, { flags: 'wx', mode: 0o600 }));
      syncFile(target);
      return { head, rows };
    } finally {
      await tx.executeRaw({ sql: 'ROLLBACK', args: [], argTypes: [] }).catch(() => {}); // the first error is the one to report
      await tx.rollback(); // returns the connection to the pool
    }
  } finally {
    await connection.dispose();
  }
}

/** The settings of a transaction that reads or writes values as text, and may take long. */
export const EXACT_TEXTS = [
  "SET LOCAL DateStyle = 'ISO, YMD'",
  "SET LOCAL TimeZone = 'UTC'",
  "SET LOCAL bytea_output = 'hex'",
  'SET LOCAL statement_timeout = 0',
  'SET LOCAL idle_in_transaction_session_timeout = 0',
];

/** The tables of the schema, each after those that it refers to. */
export async function exportedTables(tx: SqlQueryable): Promise<ExportedTable[]> {
  const columns = await queryRows(tx, COLUMNS);
  const references = await queryRows(tx, REFERENCES);
  const tables = new Map<string, ExportedTable>();
  for (const { table, column, type } of columns) {
    const entry = tables.get(String(table)) ?? { table: String(table), columns: [], types: [] };
    entry.columns.push(String(column));
    entry.types.push(String(type));
    tables.set(entry.table, entry);
  }
  const sorted: ExportedTable[] = [];
  const waiting = new Set(tables.keys());
  while (waiting.size > 0) {
    const next = [...waiting].filter(
      (name) =>
        !references.some(({ table, parent }) => table === name && parent !== name && waiting.has(String(parent))),
    );
    if (next.length === 0) throw new Error(`the tables ${[...waiting].join(', ')} refer to each other`);
    for (const name of next) {
      waiting.delete(name);
      sorted.push(tables.get(name) as ExportedTable);
    }
  }
  return sorted;
}

async function* linesOf(
  tx: SqlQueryable,
  head: BackupHead,
  rows: Record<string, number>,
  onProgress: (progress: Progress) => void,
): AsyncGenerator<string> {
  const hash = createHash('sha256');
  const line = (text: string) => {
    hash.update(`${text}\n`);
    return `${text}\n`;
  };
  yield line(JSON.stringify(head));
  // Of the statistics, which a new database does not have yet.
  const total = Number((await queryRows(tx, ESTIMATE))[0]?.rows ?? 0);
  let done = 0;
  for (const table of await exportedTables(tx)) {
    const sequence = await sequenceOf(tx, table);
    yield line(JSON.stringify({ ...table, ...(sequence && { sequence }) }));
    rows[table.table] = 0;
    for await (const batch of rowsOf(tx, table)) {
      rows[table.table] = (rows[table.table] ?? 0) + batch.length;
      done += batch.length;
      onProgress({ done, total: total > done ? total : 0 });
      yield batch.map(line).join('');
    }
  }
  yield `${JSON.stringify({ end: true, rows, sha256: hash.digest('hex') } satisfies ExportEnd)}\n`;
}

async function* rowsOf(tx: SqlQueryable, { table, columns }: ExportedTable): AsyncGenerator<string[]> {
  const texts = columns.map((column) => `"${column}"::text`).join(', ');
  await queryRows(
    tx,
    `DECLARE export NO SCROLL CURSOR FOR SELECT json_build_array(${texts})::text AS line FROM "${table}"`,
  );
  for (;;) {
    const batch = await queryRows(tx, `FETCH ${FETCH} FROM export`);
    if (batch.length > 0) yield batch.map(({ line }) => String(line));
    if (batch.length < FETCH) break;
  }
  await queryRows(tx, 'CLOSE export');
}

async function sequenceOf(tx: SqlQueryable, { table, columns }: ExportedTable): Promise<ExportedTable['sequence']> {
  for (const column of columns) {
    const [found] = await queryRows(tx, `SELECT pg_get_serial_sequence('"${table}"', '${column}') AS name`);
    if (typeof found?.name !== 'string') continue;
    const [value] = await queryRows(tx, `SELECT last_value::text AS last FROM ${found.name}`);
    return { column, last: String(value?.last) };
  }
  return undefined;
}

async function migrationNames(tx: SqlQueryable): Promise<string[]> {
  const recorded = await queryRows(
    tx,
    `SELECT migration_name AS name FROM ${MIGRATIONS} WHERE rolled_back_at IS NULL ORDER BY migration_name`,
  );
  return recorded.map(({ name }) => String(name));
}

/** The rows of a query without parameters. */
export async function queryRows(queryable: SqlQueryable, sql: string): Promise<Row[]> {
  const { columnNames, rows } = await queryable.queryRaw({ sql, args: [], argTypes: [] });
  return rows.map((row) => Object.fromEntries(columnNames.map((name, index) => [name, row[index]])));
}

const OWN_TABLES = `pg_class.relkind = 'r' AND pg_class.relnamespace = current_schema()::regnamespace
  AND pg_class.relname <> '${MIGRATIONS}'`;
const COLUMNS = `SELECT relname::text AS table, attname::text AS column, format_type(atttypid, atttypmod) AS type
  FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
  WHERE ${OWN_TABLES} ORDER BY relname, attnum`;
const REFERENCES = `SELECT pg_class.relname::text AS table, parent.relname::text AS parent
  FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid JOIN pg_class AS parent ON parent.oid = confrelid
  WHERE contype = 'f' AND ${OWN_TABLES}`;
const ESTIMATE = `SELECT sum(greatest(reltuples, 0))::bigint AS rows FROM pg_class WHERE ${OWN_TABLES}`;
