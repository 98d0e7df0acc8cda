// Reads an export of PostgreSQL line by line, and verifies its digest at the end.
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import type { ExportEnd, ExportedTable } from './export.ts';
import { BackupError, type BackupHead, parseHead } from './head.ts';

export type ExportPart =
  | { kind: 'head'; head: BackupHead }
  | { kind: 'table'; table: ExportedTable }
  /** Lines that are JSON arrays of texts, one a row of the last table. */
  | { kind: 'rows'; lines: string[] }
  | { kind: 'end'; rows: Record<string, number> };

const BATCH_ROWS = 500;
const BATCH_CHARACTERS = 1_000_000;

/** What kind of database the backup is of, by its first bytes; throws BackupError for any other file. */
export function kindOfBackup(file: string): BackupHead['kind'] {
  const start = Buffer.alloc(16);
  try {
    const handle = openSync(file, 'r');
    try {
      readSync(handle, start, 0, start.length, 0);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    throw new BackupError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (start.toString('latin1').startsWith('SQLite format 3')) return 'sqlite';
  if (start[0] === 0x1f && start[1] === 0x8b) return 'postgresql';
  throw new BackupError(`${file} is not a backup of Gatehouse`);
}

/** The parts in order. Throws BackupError for a damaged, changed or truncated file, at the latest at its end. */
export async function* readExport(file: string): AsyncGenerator<ExportPart> {
  const hash = createHash('sha256');
  const rows: Record<string, number> = {};
  let table = '';
  let batch: string[] = [];
  let size = 0;
  let isFirst = true;
  let end: ExportEnd | undefined;
  const takeBatch = (): ExportPart => {
    const part: ExportPart = { kind: 'rows', lines: batch };
    rows[table] = (rows[table] ?? 0) + batch.length;
    [batch, size] = [[], 0];
    return part;
  };
  for await (const line of linesIn(file)) {
    if (end) throw new BackupError(`${file} was changed: it has data after its end`);
    if (isFirst) yield { kind: 'head', head: parseHead(line, file) };
    isFirst = false;
    if (line.startsWith('[')) {
      batch.push(line);
      size += line.length;
    } else if (batch.length > 0) yield takeBatch();
    if (line.startsWith('{"end"')) {
      end = parsed<ExportEnd>(line, file);
      continue;
    }
    hash.update(`${line}\n`);
    if (line.startsWith('{"table"')) {
      const declared = parsed<ExportedTable>(line, file);
      table = declared.table;
      rows[table] = 0;
      yield { kind: 'table', table: declared };
    } else if (batch.length >= BATCH_ROWS || size >= BATCH_CHARACTERS) yield takeBatch();
  }
  if (!end) throw new BackupError(`${file} is incomplete: its end is missing`);
  if (end.sha256 !== hash.digest('hex')) throw new BackupError(`${file} was changed or damaged: its digest differs`);
  yield { kind: 'end', rows };
}

/** Reads the whole file; throws BackupError unless it is complete and as it was written. */
export async function checkExport(file: string): Promise<void> {
  for await (const part of readExport(file)) void part;
}

/** The head of an export. */
export async function readExportHead(file: string): Promise<BackupHead> {
  for await (const part of readExport(file)) if (part.kind === 'head') return part.head;
  throw new BackupError(`${file} is empty`);
}

function parsed<T>(line: string, file: string): T {
  try {
    return JSON.parse(line) as T;
  } catch (cause) {
    throw new BackupError(`${file} is damaged: a line is not valid JSON`, { cause });
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
    if (cause instanceof BackupError) throw cause;
    throw new BackupError(`${file} is damaged: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  } finally {
    source.destroy();
  }
  if (rest !== '') yield rest;
}
