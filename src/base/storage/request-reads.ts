// What a request reads of the database once and uses several times: on PostgreSQL each statement is a round trip, and on SQLite each
// look at what other processes did locks the file.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Revision } from './statements.ts';

export interface RequestReads {
  /** PostgreSQL: the directory's revision (directory-cache.ts). */
  revision?: Promise<Revision> | undefined;
  /** SQLite: the changes of other processes were looked for. */
  hasDataVersion?: boolean;
  /** Rows that were read before they are needed; null for an id without a row. Each is used once. */
  ahead: Map<string, unknown>;
}

const READS = Symbol('request reads');

interface Request {
  [READS]?: RequestReads;
}

let requests: Pick<AsyncLocalStorage<object>, 'getStore'> = new AsyncLocalStorage();

/** Sets where the request that is served is found: one AsyncLocalStorage for all, because each makes every promise more expensive. */
export function findRequestsIn(storage: Pick<AsyncLocalStorage<object>, 'getStore'>): void {
  requests = storage;
}

/**
 * Lets the request share its reads from here on. It sees the directory as it was at its first look, so it must not change the directory and
 * read its change.
 */
export function shareReads(request: object): void {
  (request as Request)[READS] = { ahead: new Map() };
}

/** Of the request that is served; undefined outside of one, and for one that does not share its reads. */
export function requestReads(): RequestReads | undefined {
  return (requests.getStore() as Request | undefined)?.[READS];
}
