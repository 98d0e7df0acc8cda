// What both databases are opened with.
import { type Limits, limits } from '../limits.ts';
import type { DatabaseUnavailable } from './unavailable.ts';

/** The time limits of a database, in milliseconds, and the connections of its pool. */
export type DatabaseLimits = { readonly [Name in keyof Limits['database']]: number };

export interface OpenOptions {
  limits: DatabaseLimits;
  /** Called when the database goes away, with the reason, and when it is back. */
  onChange?: ((away: DatabaseUnavailable | undefined) => void) | undefined;
  /** A span for each statement (database.ts). */
  withSpans?: boolean;
}

const HOUR_MS = 3_600_000;

/**
 * Commands and migrations have more time for a statement than requests. But they first look whether PostgreSQL answers at all: a
 * connection and a statement have 10 seconds together.
 */
export const patientLimits: DatabaseLimits = {
  ...limits.database,
  statementMs: HOUR_MS,
  answerMs: HOUR_MS,
  lockMs: 30_000,
  lookMs: 5000,
};
