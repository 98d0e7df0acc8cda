// Lists that are typed into a text area, one entry a line.

/** The lines that are not blank, trimmed. */
export function lines(text: string | undefined): string[] {
  return (text ?? '').split(/\r?\n/).flatMap((line) => line.trim() || []);
}

/** `name = value` on each line; a line without `=` names its value too. The last `=` counts, so a name may be a URL. */
export function parseNameValueLines(text: string): Record<string, string> {
  return Object.fromEntries(
    lines(text).map((line) => {
      const separator = line.lastIndexOf('=');
      return separator < 0 ? [line, line] : [line.slice(0, separator).trim(), line.slice(separator + 1).trim()];
    }),
  );
}
