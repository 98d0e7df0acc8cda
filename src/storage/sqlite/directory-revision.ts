// Counts the changes of the directory (directory-tables.ts). Writes of this process
// pass the writing connection; SQLite's data_version shows those of another process (the command line).
import type Sqlite from 'better-sqlite3';
import { DIRECTORY_TABLES } from '../directory-tables.ts';

const DIRECTORY = new RegExp(`\\b(${DIRECTORY_TABLES.join('|')})\\b`, 'i');

export interface Revisions {
  /** The current revision; a different one means that the directory may have changed. */
  current(): number;
  /** A callback for after each run of the statement; undefined when it cannot change the directory. */
  afterRun(statement: string): (() => void) | undefined;
}

export function createRevisions(writer: Sqlite.Database): Revisions {
  const dataVersion = writer.prepare('PRAGMA data_version').pluck();
  let lastDataVersion = dataVersion.get();
  let revision = 1;
  let isOpen = false;
  const onWrite = () => {
    revision += 1;
    isOpen = true;
  };
  // Until the commit, other connections read the old rows, and may have cached them since the write.
  const onCommit = () => {
    if (isOpen) revision += 1;
    isOpen = false;
  };

  return {
    current() {
      const version = dataVersion.get();
      if (version !== lastDataVersion) revision += 1;
      lastDataVersion = version;
      return revision;
    },
    afterRun(statement) {
      if (/^\s*commit\b/i.test(statement)) return onCommit;
      return !/^\s*select\b/i.test(statement) && DIRECTORY.test(statement) ? onWrite : undefined;
    },
  };
}
