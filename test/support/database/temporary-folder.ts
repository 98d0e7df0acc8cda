// The folder for the files of a test run, removed with it, also when it ends by Ctrl-C.
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import path from 'node:path';

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 8 * 1024 ** 3;

export function temporaryFolder(): { folder: string; remove(): void } {
  const folder = mkdtempSync(path.join(parentFolder(), 'gatehouse-test-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  return { folder, remove };
}

/** A file system in memory where there is plenty of it, so that hundreds of databases do not wait for a disk. */
export function parentFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, freemem()) >= ENOUGH_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
