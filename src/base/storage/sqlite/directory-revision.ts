// Counts the changes of the directory (directory-cache.ts) and of the engine's rows. Writes of this process pass the writing connection;
// SQLite's data_version shows that another process wrote (a worker, the command line), and a number that triggers change whether it wrote to
// the directory.
import { performance } from 'node:perf_hooks';
import type Sqlite from 'better-sqlite3';
import { DIRECTORY_TABLES } from '../directory-cache.ts';
import { type RequestReads, requestReads } from '../request-reads.ts';
import { LAST_USE, ONE_ARTIFACT } from '../statements.ts';

/** What is counted apart. */
type Part = 'directory' | 'artifacts';

const TABLES: readonly [Part, RegExp][] = [
  ['directory', new RegExp(`\\b(${DIRECTORY_TABLES.join('|')})\\b`, 'i')],
  ['artifacts', /\boidc_artifacts\b/i],
];

export type Revisions = ReturnType<typeof createRevisions>;

const { nodeTiming } = performance;

/** Which turn of the event loop this is: libuv counts before each wait for new events. */
const turnOfLoop = (): number => nodeTiming.uvMetricsInfo.loopCount;

export function createRevisions(writer: Sqlite.Database) {
  const prepare = writer.prepare.bind(writer);
  const dataVersion = prepare('PRAGMA data_version').pluck();
  let lastDataVersion = dataVersion.get();
  let directoryVersion: Sqlite.Statement | undefined;
  let lastDirectoryVersion: unknown;
  const revision = { directory: 1, artifacts: 1 };
  // A write in a transaction counts when it runs, and again at the commit: between the two, other connections read the old rows, and may
  // cache them under the first number.
  const isUncommitted = { directory: false, artifacts: false };
  const onCommit = () => {
    for (const [part] of TABLES) {
      if (isUncommitted[part]) revision[part] += 1;
      isUncommitted[part] = false;
    }
  };

  // The turn of the event loop in which the last look was.
  let lastTurn = -1;
  function lookAtOthers(): void {
    lastTurn = turnOfLoop();
    const version = dataVersion.get();
    if (version === lastDataVersion) return;
    // Prepared here, because a new file has no tables when it is opened.
    directoryVersion ??= prepare('SELECT revision FROM directory_revisions').pluck();
    const directory = directoryVersion.get();
    if (directory !== lastDirectoryVersion) revision.directory += 1;
    revision.artifacts += 1;
    [lastDataVersion, lastDirectoryVersion] = [version, directory];
  }

  /** A request has to see what was committed before it came: one look is enough for it. */
  function mustLook(reads: RequestReads | undefined): boolean {
    if (!reads) return true;
    if (reads.hasSeenOthers) return false;
    // One look is enough for all requests of a turn of the event loop: they all came before the first of them ran.
    return lastTurn !== turnOfLoop();
  }

  return {
    /** The current revision; a different one means that this part of the database may have changed. */
    current(part: Part): number {
      const reads = requestReads();
      if (mustLook(reads)) lookAtOthers();
      if (reads) reads.hasSeenOthers = true;
      return revision[part];
    },
    /** A callback for after each run of the statement; undefined when it changes neither. */
    afterRun(statement: string): (() => void) | undefined {
      if (/^\s*commit\b/i.test(statement)) return onCommit;
      if (/^\s*select\b/i.test(statement)) return undefined;
      if ([ONE_ARTIFACT, LAST_USE].some((mark) => statement.startsWith(mark))) return undefined;
      const parts = TABLES.filter(([, tables]) => tables.test(statement)).map(([part]) => part);
      if (parts.length === 0) return undefined;
      return () => {
        for (const part of parts) {
          revision[part] += 1;
          isUncommitted[part] ||= writer.inTransaction;
        }
      };
    },
  };
}
