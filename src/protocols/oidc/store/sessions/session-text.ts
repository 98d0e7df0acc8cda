// Remembers the stored text of a session object, so that its row is changed only if it still has this text.

const STORED_TEXT = Symbol('the stored text of a session as it was read');

interface WithText {
  [STORED_TEXT]?: string;
}

/** The text of the row when the session was read; undefined for a new session. */
export const storedTextOf = (session: object): string | undefined => (session as WithText)[STORED_TEXT];

/** The text is under a symbol that is not enumerable, so it is neither copied nor stored with the session. */
export function setStoredText(session: object, text: string): void {
  Object.defineProperty(session, STORED_TEXT, { value: text });
}
