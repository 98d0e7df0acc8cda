// What a request reads of the database once and uses several times. Only on PostgreSQL, where each statement is a round trip.
import { inRequestScope, type RequestReads, requestScope } from './request-scope.ts';

/**
 * Runs `work`, a part of the request that is served. It sees the directory as it was at its first look, so it must not change the
 * directory and read its change.
 */
export async function withRequestReads<T>(work: () => Promise<T>): Promise<T> {
  const scope = requestScope();
  if (!scope) return inRequestScope({ isAnswered: () => false }, () => withRequestReads(work));
  scope.reads = { ahead: new Map() };
  try {
    return await work();
  } finally {
    scope.reads = undefined;
  }
}

/** Of the request that is served; undefined outside of `withRequestReads`. */
export function requestReads(): RequestReads | undefined {
  return requestScope()?.reads;
}
