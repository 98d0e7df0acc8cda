// What is read of an error that another module threw, whatever it is.

const MAX_CAUSES = 8;

/** Its message; of something else that was thrown, its text. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The error of a host with several addresses has none.
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
