// Whether this process may write to a place, and how much space is left there.
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';

/** The folder, or the nearest one above it that exists: it is made where there is none. */
export function nearestFolder(folder: string): string {
  const parent = path.dirname(folder);
  return existsSync(folder) || parent === folder ? folder : nearestFolder(parent);
}

/** Free bytes for this user in the folder's file system. Throws the error of the file system. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(nearestFolder(folder));
  return bavail * bsize;
}

/** Whether nothing more fits there. A file system that tells no size at all is not full. */
export function isFull(folder: string): boolean {
  const { blocks, bavail } = statfsSync(nearestFolder(folder));
  return blocks > 0 && bavail === 0;
}

/** SQLite makes files beside a database before it reads the first row, and says "disk I/O error" where they do not fit. */
const SQLITE_BYTES = 256 * 1024;

/** Whether so little fits there that SQLite may not even open a file. */
export function isTooFullForSqlite(folder: string): boolean {
  return freeBytes(folder) < SQLITE_BYTES;
}

/** Why this process may not write to the file or folder, in one line that names both sides; undefined when it may. */
export function whyNotWritable(place: string): string | undefined {
  const existing = nearestFolder(place);
  try {
    accessSync(existing, statSync(existing).isDirectory() ? constants.W_OK | constants.X_OK : constants.W_OK);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EROFS') return `${existing} is on a read-only file system`;
    return `${existing} (${ownerOf(existing)}) is not writable by ${self()}`;
  }
}

/** Whether an error of the file system says that no space is left. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

/** What to do where no space is left for this file or folder, in one line. */
export function diskFullAt(place: string): string {
  return `the disk of ${nearestFolder(place)} is full for ${self()}: free space there, or choose a folder on another disk`;
}

function ownerOf(place: string): string {
  try {
    const { uid, gid, mode } = statSync(place);
    return `owner uid ${uid}, gid ${gid}, mode ${(mode & 0o7777).toString(8).padStart(4, '0')}`;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
  }
}

function self(): string {
  const { uid, gid } = { uid: process.getuid?.(), gid: process.getgid?.() };
  try {
    return `user ${userInfo().username} (uid ${uid}, gid ${gid})`;
  } catch {
    return `uid ${uid}, gid ${gid}`; // a user without an entry, as in a container
  }
}
