// Errors of every kind: what can be read of anything that was thrown, and those that are printed. Those of requests are in base/http/errors.ts.

const MAX_CAUSES = 8;

/** The message of an error, or its code or name where that is empty; of any other value, its text. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node's error has only a code when it could connect to none of a host's addresses.
  return error.message || ('code' in error ? String(error.code) : error.name);
}

/** The error, its cause, the cause of that and so on. */
export function causesOf(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let one = error; one !== undefined && found.length < MAX_CAUSES; ) {
    found.push(one);
    one = one instanceof Error ? one.cause : undefined;
  }
  return found;
}

/**
 * An error that a start or a command prints as it is: the message tells who runs the server what is wrong and what to do, without a secret; each
 * of its lines is printed.
 */
export class OperatorError extends Error {
  override name = 'OperatorError';
}
