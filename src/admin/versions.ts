// Versions of what the API shows (RFC 9110 8.8, 13.1): an ETag is made from the representation itself, and whoever changes
// something names the one they read. Compared inside the transaction of the change, under a lock.
import { preconditionFailed } from '../http/errors.ts';
import { sha256 } from '../platform/random.ts';

/** A strong ETag. */
export function etagOf(representation: unknown): string {
  return `"${sha256(JSON.stringify(representation)).slice(0, 27)}"`;
}

/** What a change is made to: the value of If-Match, or a caller that cannot have seen another version. */
export type Expected = string | 'any';

/** Throws precondition_failed unless `expected` names the version as it is now. */
export function assertVersion(expected: Expected, representation: unknown): void {
  if (expected === 'any' || expected.trim() === '*') return;
  const current = etagOf(representation);
  const listed = expected.split(',').map((tag) => tag.trim());
  // A weak tag (W/"…") promises too little for a change, so it names nothing here.
  if (!listed.includes(current)) throw preconditionFailed('precondition_failed');
}
