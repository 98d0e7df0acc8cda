// How much a statement stores, and the error of a request that must not store more.
import { causesOf } from '../platform/errors.ts';

/** Counted for each row in addition to its values: its place in the table and in the indexes. */
const ROW_BYTES = 256;
/** A write of Prisma or of a hot statement, with its table. */
const WRITE = /^\s*(?:\/\*.*?\*\/\s*)?(INSERT INTO|UPDATE|DELETE FROM)\s+(?:["`]?\w+["`]?\.)?["`]?(\w+)["`]?/i;

/** The table that a statement writes to, and about how many bytes; undefined for a statement that stores nothing. */
export function writeOf(text: string, values: readonly unknown[]): { table: string; bytes: number } | undefined {
  if (/^\s*SELECT\b/i.test(text)) return undefined;
  const [, verb, table] = WRITE.exec(text) ?? [];
  if (table === undefined || verb?.toUpperCase() === 'DELETE FROM') return undefined;
  return { table, bytes: values.reduce<number>((sum, value) => sum + sizeOf(value), ROW_BYTES) };
}

/** The table that a statement writes to, or deletes from. */
export function tableWritten(text: string): string | undefined {
  return WRITE.exec(text)?.[2];
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return value instanceof Uint8Array ? value.byteLength : 8;
}

/**
 * The sender of the request has stored as much as one may for now (people/rate-limits/storage-budget.ts). The fields are those that Koa and
 * oidc-provider read from any error, so both answer 429.
 */
export class TooMuchStored extends Error {
  override name = 'TooMuchStored';
  readonly status = 429;
  readonly statusCode = 429;
  readonly expose = true;
  readonly error = 'temporarily_unavailable';
  readonly error_description = 'too many requests from this network; try again after the time that Retry-After says';
  /** At /authorize the error is displayed on a page, because an application that receives it might retry at once. */
  readonly allow_redirect = false;
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('temporarily_unavailable');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** `error` or one of its causes, if it is a TooMuchStored. */
export const tooMuchStoredIn = (error: unknown): TooMuchStored | undefined =>
  causesOf(error).find((one) => one instanceof TooMuchStored);
