// The text of an error_description (RFC 6749 5.2, RFC 6750 3).

const LOOK_ALIKE: Record<string, string> = { '’': "'", '“': "'", '”': "'", '…': '...', '"': "'", '\\': '/' };

/** The text in the characters that an error_description may have; at some endpoints it is in a header, too. */
export function asciiText(text: string): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/gu, (character) => LOOK_ALIKE[character] ?? '?');
}

/** The error_description with the code of the rejection; RFC 6749 5.2 leaves its text to the server. */
export function withCode(description: string | undefined, code: string): string {
  return `${description ?? 'rejected'} (error reference ${code})`;
}
