// The name that a user gives to a passkey.
const MAX_NAME = 60;

/** The name without control characters, at most 60 characters; a default for an empty one. */
export function passkeyName(name: string): string {
  const text = name
    .normalize('NFC')
    .replace(/[\p{C}]/gu, '')
    .trim();
  return [...text].slice(0, MAX_NAME).join('') || 'Passkey';
}
