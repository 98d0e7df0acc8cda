// PostgreSQL text holds neither NUL nor half a surrogate pair, and fails on being asked for one. Whatever a client sends
// as a key to look up passes here first.

const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** Whether both databases can hold, and be asked for, this text. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}
