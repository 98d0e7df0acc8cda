// A consistent copy of a SQLite file while servers write to it, by SQLite's online backup API. The read transaction holds one
// moment of the database: without it, the copy would begin again at each write of another process.

import { createHash } from 'node:crypto';
import { chmodSync, closeSync, createReadStream, createWriteStream, fsyncSync, openSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import { messageOf } from '../../platform/errors.ts';
import { diskFullAt, isTooFullForSqlite } from '../../platform/folders.ts';
import { DatabaseError } from '../database-url.ts';
import { clientOf, connectSqlite } from '../sqlite/connections.ts';
import { asUnavailable, DatabaseUnavailable } from '../unavailable.ts';
import type { Progress } from './head.ts';

const STEP_PAGES = 2000;

/** Copies `file` into the new file `target`, which only its owner can read. */
export async function copySqlite(
  file: string,
  target: string,
  onProgress: (progress: Progress) => void = () => {},
): Promise<void> {
  // Created empty first, so that its mode is restrictive before it has content.
  closeSync(openSync(target, 'wx', 0o600));
  const connection = await connectSqlite(file);
  try {
    const source = clientOf(connection);
    const size = Number(source.pragma('page_size', { simple: true }));
    source.exec('BEGIN');
    source.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').all(); // a transaction reads from its first query on
    await source.backup(target, {
      progress({ totalPages, remainingPages }) {
        onProgress({ done: (totalPages - remainingPages) * size, total: totalPages * size });
        return STEP_PAGES;
      },
    });
  } finally {
    await connection.dispose();
  }
  await inspectSqlite(target, (query) => {
    query('PRAGMA journal_mode = DELETE'); // one file, which can be opened read-only
  });
  chmodSync(target, 0o600);
  syncFile(target);
}

export type SyncQuery = (sql: string) => Record<string, unknown>[];

/** Opens a copy, which no other process uses, and removes what SQLite leaves beside it. */
export async function inspectSqlite<T>(file: string, work: (query: SyncQuery) => T | Promise<T>): Promise<T> {
  const connection = await connectSqlite(file);
  try {
    return await work(syncQuery(connection));
  } catch (cause) {
    if (cause instanceof DatabaseError) throw cause;
    const folder = path.dirname(file);
    if (asUnavailable(cause)?.reason === 'input/output error' && isTooFullForSqlite(folder))
      throw new DatabaseError(diskFullAt(folder), { cause: new DatabaseUnavailable('disk full', cause) });
    throw new DatabaseError(`${file}: ${messageOf(cause)}`, { cause });
  } finally {
    await connection.dispose();
    for (const left of [`${file}-wal`, `${file}-shm`, `${file}-journal`]) rmSync(left, { force: true });
  }
}

/** Runs statements on a connection, which answers at once. */
export function syncQuery(connection: SqlDriverAdapter): SyncQuery {
  const client = clientOf(connection);
  return (sql) => {
    const statement = client.prepare(sql).safeIntegers(false);
    if (statement.reader) return statement.all() as Record<string, unknown>[];
    statement.run();
    return [];
  };
}

/** Throws DatabaseError when a page or an index is damaged, or a row refers to a missing one. */
export function assertIntact(query: SyncQuery): void {
  const [page] = query('PRAGMA integrity_check(1)');
  if (page?.integrity_check !== 'ok') throw new DatabaseError(`the file is damaged: ${String(page?.integrity_check)}`);
  const [row] = query('PRAGMA foreign_key_check');
  if (row) throw new DatabaseError(`a row of ${String(row.table)} refers to a missing row of ${String(row.parent)}`);
}

/** The names of the migrations that are recorded in the file. */
export function recordedMigrations(query: SyncQuery): { name: string; logs: unknown }[] {
  return query(
    'SELECT migration_name AS name, logs FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name',
  ) as { name: string; logs: unknown }[];
}

/** Copies a file that nothing writes to; returns the SHA-256 of its content in hexadecimal, and its length. */
export async function copyFile(
  file: string,
  target: string,
  onProgress: (bytes: number) => void = () => {},
): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      onProgress(bytes);
      done(null, chunk);
    },
  });
  await pipeline(createReadStream(file), count, createWriteStream(target, { flags: 'wx', mode: 0o600 }));
  syncFile(target);
  return { sha256: hash.digest('hex'), bytes };
}

/** SHA-256 of the content of a file, in hexadecimal. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Waits until the content of a file, or the names in a folder, are on the disk. */
export function syncFile(file: string): void {
  const handle = openSync(file, 'r');
  fsyncSync(handle);
  closeSync(handle);
}
