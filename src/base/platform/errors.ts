// What can be read of anything that was thrown, an error or not.

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
