// What a request reads of the database once and uses several times: on PostgreSQL each statement is a round trip, and on SQLite each
// look at what other processes did locks the file.
import { servedRequest } from './request-scope.ts';
import type { Revision } from './statements.ts';

export interface RequestReads {
  /** PostgreSQL: the directory's revision (directory-cache.ts). */
  revision?: Promise<Revision> | undefined;
  /** SQLite: what other processes committed before the request came is counted (sqlite/directory-revision.ts). */
  hasSeenOthers?: boolean;
  /** Rows that were read before they are needed; null for an id without a row. Each is used once. */
  ahead: Map<string, unknown>;
}

const READS = Symbol('request reads');

const served = (): { [READS]?: RequestReads } | undefined => servedRequest();

/**
 * Lets the request that is served share its reads from here on. It sees the directory as it was at its first look, so it must not change the
 * directory and read its change. Does nothing outside of a request.
 */
export function shareReads(): void {
  const request = served();
  if (request) request[READS] = { ahead: new Map() };
}

/** Of the request that is served; undefined outside of one, and for one that does not share its reads. */
export function requestReads(): RequestReads | undefined {
  return served()?.[READS];
}
