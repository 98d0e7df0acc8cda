// The command line with --json: an error is one JSON object on standard error, on one line and alone there, however the command reports it.
import type { Failure } from './failure.ts';
import type { Io } from './io.ts';

/** Whether the words of a command line ask for JSON. */
export function asksForJson(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return (end < 0 ? words : words.slice(0, end)).includes('--json');
}

/**
 * Runs `work` and resolves with the exit code. What it writes to standard error waits until it has ended: it follows a result, and is
 * part of the object of an error. A report with another exit code than 0, such as that of `doctor`, is a result.
 */
export async function withJsonErrors(
  io: Io,
  command: string | undefined,
  work: (io: Io) => Promise<number | Failure>,
): Promise<number> {
  const lines: { text: string; isError: boolean }[] = [];
  let hasResult = false;
  const result =
    <Args extends unknown[]>(print: (...args: Args) => void) =>
    (...args: Args) => {
      hasResult = true;
      print(...args);
    };
  const outcome = await work({
    ...io,
    out: result(io.out),
    json: result(io.json),
    table: result(io.table),
    err: (text) => void lines.push({ text, isError: true }),
    note: (text) => void lines.push({ text, isError: false }),
  });
  if (typeof outcome === 'number' && (outcome === 0 || hasResult)) {
    for (const { text } of lines) io.err(text);
    return outcome;
  }
  const errors = typeof outcome === 'number' ? lines.filter(({ isError }) => isError) : [];
  const notes = lines.filter((line) => !errors.includes(line)).map(({ text }) => text);
  const { code, fields } = typeof outcome === 'number' ? { code: outcome, fields: reported(errors, command) } : outcome;
  io.err(JSON.stringify({ ...fields, ...(notes.length > 0 && { notes }) }));
  return code;
}

/** The fields of an error that the command has written itself. */
function reported(errors: readonly { text: string }[], command: string | undefined) {
  return { error: errors.map(({ text }) => text).join('\n'), command };
}
