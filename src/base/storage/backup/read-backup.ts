// Reads a backup of either kind as one stream: its head, then the rows of each table, as texts that PostgreSQL writes and reads. An
// export of PostgreSQL is such a stream; a copy of a SQLite file is queried for it, and stays as it is.

import { createHash } from 'node:crypto';
import { closeSync, createReadStream, existsSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import { messageOf } from '../../platform/errors.ts';
import { DatabaseError, type DatabaseKind } from '../database-url.ts';
import { versionNote } from '../migrations/newer.ts';
import { clientOf, connectSqlite } from '../sqlite/connections.ts';
import { type BackupHead, parseHead } from './head.ts';
import { readManifest } from './manifest.ts';
import { assertIntact, digestOf, recordedMigrations, type SyncQuery, syncQuery } from './sqlite-copy.ts';
import { countRows, type Table, tablesOf } from './tables.ts';

export type BackupPart =
  /** The head is unknown of a copy of a SQLite file without FILE.json. */
  | { kind: 'head'; head: BackupHead | undefined; migrations: { name: string; logs: unknown }[] }
  | { kind: 'table'; table: BackupTable }
  /** Lines that are JSON arrays of texts, one a row of the last table. */
  | { kind: 'rows'; lines: string[] }
  | { kind: 'end'; rows: Record<string, number> };

export interface BackupTable {
  table: string;
  columns: string[];
  /** The last value of the column that numbers itself. */
  sequence?: { column: string; last: string };
}

/** The last line of an export. */
export interface ExportEnd {
  end: true;
  rows: Record<string, number>;
  /** Of all lines before, in hexadecimal. */
  sha256: string;
}

const BATCH_ROWS = 500;
const BATCH_CHARACTERS = 1_000_000;

/** What kind of database the backup is of, by its first bytes; throws DatabaseError for any other file. */
export function kindOfBackup(file: string): DatabaseKind {
  if (!existsSync(file)) throw new DatabaseError(`${file} does not exist`);
  const start = Buffer.alloc(16);
  try {
    const handle = openSync(file, 'r');
    try {
      readSync(handle, start, 0, start.length, 0);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    throw new DatabaseError(`${file} cannot be read: ${messageOf(error)}`);
  }
  if (start.toString('latin1').startsWith('SQLite format 3')) return 'sqlite';
  if (start[0] === 0x1f && start[1] === 0x8b) return 'postgresql';
  throw new DatabaseError(`${file} is not a backup of Gatehouse`);
}

/** The parts in order. Throws DatabaseError for a damaged, changed or truncated file, at the latest at its end. */
export function readBackup(file: string): AsyncGenerator<BackupPart> {
  return kindOfBackup(file) === 'sqlite' ? readSqlite(file) : readExport(file);
}

/** Reads the whole file and returns the number of rows of each table; throws DatabaseError unless it is complete and as it was written. */
export async function checkBackup(file: string): Promise<Record<string, number>> {
  if (kindOfBackup(file) === 'sqlite') {
    const manifest = readManifest(file);
    if (manifest && manifest.sha256 !== (await digestOf(file)))
      throw new DatabaseError(`${file} was changed or damaged: its digest differs from that in ${file}.json`);
    return querySqlite(file, (query) => {
      assertIntact(query);
      return countRows(query, 'sqlite');
    });
  }
  for await (const part of readBackup(file)) if (part.kind === 'end') return part.rows;
  throw new DatabaseError(`${file} is empty`);
}

/** Undefined for a copy of a SQLite file without FILE.json. */
export async function readBackupHead(file: string): Promise<BackupHead | undefined> {
  for await (const part of readBackup(file)) if (part.kind === 'head') return part.head;
  throw new DatabaseError(`${file} is empty`);
}

async function* readExport(file: string): AsyncGenerator<BackupPart> {
  const hash = createHash('sha256');
  const rows: Record<string, number> = {};
  const batch = createBatch();
  let table = '';
  let isFirst = true;
  let end: ExportEnd | undefined;
  for await (const line of linesIn(file)) {
    if (end) throw new DatabaseError(`${file} was changed: it has data after its end`);
    if (isFirst) {
      const head = parseHead(line, file);
      const logs = versionNote(head.version);
      yield { kind: 'head', head, migrations: head.migrations.map((name) => ({ name, logs })) };
      isFirst = false;
    } else if (line.startsWith('[')) {
      rows[table] = (rows[table] ?? 0) + 1;
      batch.add(line);
      if (batch.isFull()) yield* batch.take();
    } else {
      yield* batch.take();
      if (line.startsWith('{"end"')) {
        end = parsed<ExportEnd>(line, file);
        continue; // it holds the digest of the lines before it
      }
      if (line.startsWith('{"table"')) {
        const declared = parsed<BackupTable>(line, file);
        table = declared.table;
        rows[table] = 0;
        yield { kind: 'table', table: declared };
      }
    }
    hash.update(`${line}\n`);
  }
  if (!end) throw new DatabaseError(`${file} is incomplete: its end is missing`);
  if (end.sha256 !== hash.digest('hex')) throw new DatabaseError(`${file} was changed or damaged: its digest differs`);
  yield { kind: 'end', rows };
}

/** Collects the rows of a table into parts of bounded size. */
function createBatch() {
  let lines: string[] = [];
  let size = 0;
  return {
    add(line: string): void {
      lines.push(line);
      size += line.length;
    },
    isFull: (): boolean => lines.length >= BATCH_ROWS || size >= BATCH_CHARACTERS,
    /** The part with the rows since the last one; none without rows. */
    *take(): Generator<BackupPart> {
      const part: BackupPart = { kind: 'rows', lines };
      [lines, size] = [[], 0];
      if (part.lines.length > 0) yield part;
    },
  };
}

/** Within one transaction, so that it is one moment even of a file that a server writes to. */
async function* readSqlite(file: string): AsyncGenerator<BackupPart> {
  const connection = await connectSqlite(file, { readonly: true });
  const query = syncQuery(connection);
  try {
    query('BEGIN');
    yield { kind: 'head', head: readManifest(file), migrations: recordedMigrations(query) };
    const rows: Record<string, number> = {};
    for (const table of await tablesOf(query, 'sqlite')) {
      const { table: name, columns } = table;
      const sequence = sequenceOf(query, name);
      yield { kind: 'table', table: { table: name, columns, ...(sequence && { sequence }) } };
      rows[name] = 0;
      const batch = createBatch();
      for (const line of clientOf(connection).prepare(linesOf(table)).pluck().iterate() as Iterable<string>) {
        rows[name] += 1;
        batch.add(line);
        if (batch.isFull()) yield* batch.take();
      }
      yield* batch.take();
    }
    yield { kind: 'end', rows };
  } catch (cause) {
    throw asBackupError(file, cause);
  } finally {
    await connection.dispose();
  }
}

/** Reads from a copy without a change, also of the files beside it. */
async function querySqlite<T>(file: string, work: (query: SyncQuery) => Promise<T>): Promise<T> {
  const connection = await connectSqlite(file, { readonly: true });
  try {
    return await work(syncQuery(connection));
  } catch (cause) {
    throw asBackupError(file, cause);
  } finally {
    await connection.dispose();
  }
}

function asBackupError(file: string, cause: unknown): DatabaseError {
  if (cause instanceof DatabaseError) return cause;
  return new DatabaseError(`${file}: ${messageOf(cause)}`, { cause });
}

/** Each row as a JSON array of texts. */
function linesOf({ table, columns, types }: Table): string {
  const texts = columns.map((column, at) => textOf(`"${column}"`, String(types[at])));
  return `SELECT json_array(${texts.join(', ')}) FROM "${table}"`;
}

function textOf(column: string, type: string): string {
  if (type === 'BOOLEAN') return `CASE ${column} WHEN 0 THEN 'false' WHEN 1 THEN 'true' END`;
  if (type === 'BLOB') return `iif(${column} IS NULL, NULL, '\\x' || lower(hex(${column})))`;
  if (type === 'DATETIME') return `coalesce(strftime('%Y-%m-%d %H:%M:%f', ${column}), ${column})`;
  return `CAST(${column} AS TEXT)`;
}

function sequenceOf(query: SyncQuery, table: string): BackupTable['sequence'] {
  const [last] = query(`SELECT seq FROM sqlite_sequence WHERE name = '${table}'`);
  const [key] = query(`SELECT name FROM pragma_table_info('${table}') WHERE pk = 1`);
  return last && key && { column: String(key.name), last: String(last.seq) };
}

function parsed<T>(line: string, file: string): T {
  try {
    return JSON.parse(line) as T;
  } catch (cause) {
    throw new DatabaseError(`${file} is damaged: a line is not valid JSON`, { cause });
  }
}

async function* linesIn(file: string): AsyncGenerator<string> {
  const source = createReadStream(file);
  const gunzip = createGunzip();
  source.once('error', (error) => gunzip.destroy(error));
  const decoder = new StringDecoder('utf8');
  let rest = '';
  try {
    for await (const chunk of source.pipe(gunzip)) {
      const lines = (rest + decoder.write(chunk as Buffer)).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (cause) {
    if (cause instanceof DatabaseError) throw cause;
    throw new DatabaseError(`${file} is damaged: ${messageOf(cause)}`, { cause });
  } finally {
    source.destroy();
  }
  if (rest !== '') yield rest;
}
