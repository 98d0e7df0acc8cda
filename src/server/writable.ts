// Stops a start if the database or the data folder is not writable, with one line that names the path and the user.
import path from 'node:path';
import type { Config } from '../base/config.ts';
import { diskFullAt, isDiskFull, isTooFullForSqlite, whyNotWritable } from '../base/platform/folders.ts';
import { DatabaseError, placeOf, sqliteFileOf } from '../base/storage/database-url.ts';
import { asUnavailable, driverMessage, unavailableIn } from '../base/storage/unavailable.ts';
import type { Core } from '../core/core.ts';

/** Throws DatabaseError for the SQLite file and its folder. */
export function requireWritableDatabase({ databaseUrl }: Config): void {
  const file = sqliteFileOf(databaseUrl);
  if (file === undefined) return;
  // SQLite also creates files in the same folder (WAL).
  const reason = whyNotWritable(file) ?? whyNotWritable(path.dirname(file));
  if (reason) throw new DatabaseError(`the database cannot be written: ${reason}`);
}

/** Throws DatabaseError for a data folder that mail is written to. */
export function requireWritableOutbox({ config, logger, mailServer }: Core): void {
  const reason = whyNotWritable(config.dataDir);
  if (!reason) return;
  if (!mailServer.isSet()) throw new DatabaseError(`DATA_DIR cannot be written, and mail goes there: ${reason}`);
  logger.warn(`DATA_DIR cannot be written: ${reason}`);
}

/** The error of a start as one line, when the database could not be used; other errors are returned unchanged. */
export function startError({ databaseUrl }: Config, error: unknown): unknown {
  const file = sqliteFileOf(databaseUrl);
  if (file !== undefined && hasFullDisk(error, path.dirname(file)))
    return new DatabaseError(`the database cannot be written: ${diskFullAt(path.dirname(file))}`, { cause: error });
  const unavailable = unavailableIn(error);
  if (!unavailable || error instanceof DatabaseError) return error;
  const { reason, cause } = unavailable;
  const what = reason === 'read-only' || reason === 'disk full' ? 'written' : 'used';
  const detail = cause instanceof Error ? `: ${driverMessage(cause)}` : '';
  return new DatabaseError(`the database cannot be ${what} (${placeOf(databaseUrl)}): ${reason}${detail}`, {
    cause: error,
  });
}

/** Whether the error or one of its causes says that the disk is full. */
function hasFullDisk(error: unknown, folder: string): boolean {
  if (!(error instanceof Error)) return false;
  const reason = asUnavailable(error)?.reason;
  if (isDiskFull(error) || reason === 'disk full') return true;
  return reason === 'input/output error' ? isTooFullForSqlite(folder) : hasFullDisk(error.cause, folder);
}
