// The stored text of a session beside its content, so that a change can be made on condition that the row is still the same.

const STORED_TEXT = Symbol('the stored text of a session as it was read');

interface WithText {
  [STORED_TEXT]?: string;
}

/** The text that the row had when this was read; undefined for a session that was not read. */
export const storedTextOf = (session: object): string | undefined => (session as WithText)[STORED_TEXT];

/** No key of the object's content: it is neither copied nor stored. */
export function setStoredText(session: object, text: string): void {
  Object.defineProperty(session, STORED_TEXT, { value: text });
}
