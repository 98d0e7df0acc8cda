// Exports a PostgreSQL database without pg_dump: every row as PostgreSQL writes it, from one REPEATABLE READ transaction, which
// is one moment of the database while servers write to it. The file is gzip of JSON lines: the head, then for each table a line
// with its columns and a line (an array of texts) for each row, then the end with the number of rows and the digest of all
// lines before it. A table comes after those that it refers to. read-backup.ts reads it.

import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { SqlQueryable } from '@prisma/driver-adapter-utils';
import type { DatabaseLocation } from '../database-url.ts';
import { queryRows } from '../migrations/session.ts';
import { type DatabaseLimits, patientLimits } from '../open-options.ts';
import { postgresAdapter } from '../postgresql/adapter.ts';
import { type BackupHead, newHead, type Progress } from './head.ts';
import type { BackupTable, ExportEnd } from './read-backup.ts';
import { syncFile } from './sqlite-copy.ts';
import { type Table, tablesOf } from './tables.ts';

type PostgresLocation = Extract<DatabaseLocation, { kind: 'postgresql' }>;

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
  for (const table of await tablesOf((sql) => queryRows(tx, sql), 'postgresql')) {
    const sequence = await sequenceOf(tx, table);
    const described: BackupTable = { table: table.table, columns: table.columns, ...(sequence && { sequence }) };
    yield line(JSON.stringify(described));
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

async function* rowsOf(tx: SqlQueryable, { table, columns }: Table): AsyncGenerator<string[]> {
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

async function sequenceOf(tx: SqlQueryable, { table, columns }: Table): Promise<BackupTable['sequence']> {
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

const ESTIMATE = `SELECT sum(greatest(reltuples, 0))::bigint AS rows FROM pg_class
  WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`;
