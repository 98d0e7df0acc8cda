// The engine's rows that this process has read and verified, used again while the database proves that none was changed since, by this
// process or another (docs/decisions/0018-directory-cache.md). A token that is revoked anywhere is invalid at its next use. On SQLite only: on
// PostgreSQL the proof would cost as much as to read the rows (read-ahead.ts).
import type { Sql } from '../../storage/statements.ts';
import type { ArtifactRow } from './read-ahead.ts';

/** When a row was read: a change after it makes what was read unusable. */
export interface ReadAt {
  revision: number | undefined;
  forgotten: number;
}

export interface RowMemory {
  /** The row under this key as it is in the database now; null when there is none, undefined when it is not remembered. */
  find(key: string): ArtifactRow | null | undefined;
  /** Call it before the row is read. */
  begin(): ReadAt;
  remember(key: string, row: ArtifactRow | null, readAt: ReadAt): void;
  /** Call it after a statement that is marked ONE_ARTIFACT. */
  forget(key: string): void;
}

/** Up to 2 KB each. */
const MAX_ROWS = 500;

const memories = new WeakMap<object, RowMemory>();

/** The memory of this database: one for all adapters, because each changes rows that others remember. */
export function rowMemoryOf(sql: Pick<Sql, 'artifactRevision'>): RowMemory {
  const known = memories.get(sql);
  if (known) return known;
  const memory = createRowMemory(sql);
  memories.set(sql, memory);
  return memory;
}

function createRowMemory(sql: Pick<Sql, 'artifactRevision'>): RowMemory {
  const rows = new Map<string, { row: ArtifactRow | null; revision: number }>();
  let forgotten = 0;

  return {
    find(key) {
      const known = rows.get(key);
      return known && known.revision === sql.artifactRevision() ? known.row : undefined;
    },

    begin: () => ({ revision: sql.artifactRevision(), forgotten }),

    remember(key, row, { revision, forgotten: before }) {
      // It may be the row that was changed while this one was read.
      if (revision === undefined || forgotten !== before) return;
      rows.delete(key);
      const [oldest] = rows.keys();
      if (rows.size >= MAX_ROWS && oldest !== undefined) rows.delete(oldest);
      rows.set(key, { row, revision });
    },

    forget(key) {
      forgotten += 1;
      rows.delete(key);
    },
  };
}
