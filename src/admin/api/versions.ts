// Versions of resources (RFC 9110 8.8, 13.1): an ETag is made from the representation, and a change names the version that
// it was made for. They are compared inside the transaction of the change, under a lock.
import { preconditionFailed } from '../../base/http/errors.ts';
import { sha256 } from '../../base/platform/random.ts';

/** The If-Match of a change: `*`, or strong ETags as `etagOf` makes them. */
export const ifMatchPattern = '^(\\*|"[A-Za-z0-9_-]+"(, ?"[A-Za-z0-9_-]+")*)$';

/** A strong ETag. */
export function etagOf(representation: unknown): string {
  return `"${sha256(JSON.stringify(representation)).slice(0, 27)}"`;
}

/** The version that a change is made for: the value of If-Match, or `any` where versions do not matter. */
export type Expected = string | 'any';

/** Throws precondition_failed unless `expected` names the version as it is now. */
export function assertVersion(expected: Expected, representation: unknown): void {
  if (expected === 'any' || expected.trim() === '*') return;
  const current = etagOf(representation);
  // A weak tag (W/"…") is none of them: it promises too little for a change (RFC 9110 13.1.1).
  const listed = expected.split(',').map((tag) => tag.trim());
  if (!listed.includes(current)) throw preconditionFailed('precondition_failed');
}
