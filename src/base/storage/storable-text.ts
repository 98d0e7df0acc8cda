// Text that both databases can store: PostgreSQL rejects NUL and half a surrogate pair, in a value and in a search alike.
// Input is checked once for each way it enters: base/http/input.ts (query, forms, JSON), base/http/host-guard.ts (the path), and the
// look-ups by a key from a protocol message that the engine or SAML has read: account, client, resource, entity ID, role.

const UNSTORABLE = /[\0\p{Surrogate}]/u;
const ALL_UNSTORABLE = /[\0\p{Surrogate}]/gu;

/** Whether both databases can store, and search for, this text. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** Whether both databases can store this time: PostgreSQL has no year 0, and RFC 3339 no year 10000. */
export function isStorableTime(at: Date): boolean {
  return at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999;
}

/** The text without the characters that cannot be stored, for a search or a log that should not fail on them. */
export function withoutUnstorable(text: string): string {
  return text.replace(ALL_UNSTORABLE, '');
}
