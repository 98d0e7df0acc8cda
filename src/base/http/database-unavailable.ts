// The response while the database cannot be used: 503 with Retry-After (RFC 9110 15.6.4), whatever code has caught the error and
// thrown another one because of it.
import { unavailableIn } from '../storage/unavailable.ts';
import { AppError } from './errors.ts';

/** Seconds; a database is usually back within this time after a restart or failover. */
export const RETRY_AFTER = { 'Retry-After': '5' };

/** The AppError of an error that is, or is caused by, a database that cannot be used; undefined for every other error. */
export function databaseUnavailable(thrown: unknown): AppError | undefined {
  const unavailable = unavailableIn(thrown);
  if (!unavailable) return undefined;
  return new AppError('unavailable', { headers: RETRY_AFTER, detail: unavailable.logFields, cause: unavailable });
}
