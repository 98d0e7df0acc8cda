// Cache of the engine's rows that this process has read and verified, used while the database proves that none was changed since, by this
// process or another. A token that is revoked anywhere is invalid at its next use. On SQLite only: on
// PostgreSQL the proof would cost as much as to read the rows (read-ahead.ts).
import type { Sql } from '../../../base/storage/statements.ts';
import type { ArtifactRow } from './read-ahead.ts';

/** When a row was read: a change after it makes what was read unusable. */
export interface ReadAt {
  revision: number | undefined;
  deletions: number;
}

export type RowCache = ReturnType<typeof createRowCache>;

/** Up to 2 KB each. */
const MAX_ROWS = 500;

const caches = new WeakMap<object, RowCache>();

/** The cache of this database: one for all adapters, because each changes rows that others have cached. */
export function rowCacheOf(sql: Pick<Sql, 'artifactRevision'>): RowCache {
  const known = caches.get(sql);
  if (known) return known;
  const cache = createRowCache(sql);
  caches.set(sql, cache);
  return cache;
}

function createRowCache(sql: Pick<Sql, 'artifactRevision'>) {
  const rows = new Map<string, { row: ArtifactRow | null; revision: number }>();
  let deletions = 0;

  return {
    /** The row under this key as it is in the database now; null when there is none, undefined when it is not cached. */
    get(key: string): ArtifactRow | null | undefined {
      const known = rows.get(key);
      return known && known.revision === sql.artifactRevision() ? known.row : undefined;
    },

    /** Call it before the row is read. */
    begin: (): ReadAt => ({ revision: sql.artifactRevision(), deletions }),

    set(key: string, row: ArtifactRow | null, { revision, deletions: before }: ReadAt): void {
      // It may be the row that was changed while this one was read.
      if (revision === undefined || deletions !== before) return;
      rows.delete(key);
      const [oldest] = rows.keys();
      if (rows.size >= MAX_ROWS && oldest !== undefined) rows.delete(oldest);
      rows.set(key, { row, revision });
    },

    /** Call it after a statement that is marked ONE_ARTIFACT. */
    delete(key: string): void {
      deletions += 1;
      rows.delete(key);
    },
  };
}
