// Counts the changes of the directory: the tables that nearly every request reads and few ever write. Our own writes are
// seen as they pass the writing connection, those of another process (the command line) by SQLite's data_version.
import type Sqlite from 'better-sqlite3';

const DIRECTORY =
  /\b(users|roles|permissions|user_roles|role_permissions|applications|application_roles|client_secrets)\b/i;

export interface Revisions {
  /** The number of the moment; another one means that the directory may have changed. */
  current(): number;
  /** To be called after each run of a statement; undefined where the statement cannot matter. */
  noteOf(statement: string): (() => void) | undefined;
}

export function createRevisions(writer: Sqlite.Database): Revisions {
  const dataVersion = writer.prepare('PRAGMA data_version').pluck();
  let ofOthers = dataVersion.get();
  let revision = 1;
  let isOpen = false;
  const written = () => {
    revision += 1;
    isOpen = true;
  };
  // Until then other connections read what was there before, and may have kept it since.
  const committed = () => {
    if (isOpen) revision += 1;
    isOpen = false;
  };

  return {
    current() {
      const seen = dataVersion.get();
      if (seen !== ofOthers) revision += 1;
      ofOthers = seen;
      return revision;
    },
    noteOf(statement) {
      if (/^\s*commit\b/i.test(statement)) return committed;
      return !/^\s*select\b/i.test(statement) && DIRECTORY.test(statement) ? written : undefined;
    },
  };
}
