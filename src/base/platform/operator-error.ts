// An error that a start or a command prints as it is; those of requests are in base/http/errors.ts.

/** The message tells who runs the server what is wrong and what to do, without a secret; each of its lines is printed. */
export class OperatorError extends Error {
  override name = 'OperatorError';
}
