// What a request reads of the database once and uses several times. Only on PostgreSQL, where each statement is a round trip.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Revision } from './statements.ts';

export interface RequestReads {
  /** The directory's revision (directory-cache.ts). */
  revision?: Promise<Revision> | undefined;
  /** Rows that were read before they are needed; null for an id without a row. Each is used once. */
  ahead: Map<string, unknown>;
}

const storage = new AsyncLocalStorage<RequestReads>();

/**
 * Runs `work`, which serves one request. It sees the directory as it was at its first look, so it must not change the directory and
 * read its change.
 */
export function withRequestReads<T>(work: () => T): T {
  return storage.run({ ahead: new Map() }, work);
}

/** Of the request that is served; undefined outside of `withRequestReads`. */
export function requestReads(): RequestReads | undefined {
  return storage.getStore();
}
