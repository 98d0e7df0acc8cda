// Cleans the values of an audit entry: removes characters that a database cannot store or a reader cannot see, and secrets
// that a caller passes by mistake (recognized by the name of the key).

const SECRET_KEY =
  /^(?:(?:current|new|old|client|totp|one time)? ?(?:password|passphrase|secret|otp|code)|(?:\w+ )?token|recovery codes?|code verifier|password hash|hash|code hash|token hash|private \w+|\w+ sealed|assertion|client assertion|saml ?(?:request|response)|cookie|authorization|csrf|proof)$/;
const REMOVED = '[removed]';
const MAX_DEPTH = 6;
const MAX_ITEMS = 200;
const MAX_TEXT = 2000;

/** Replaces NUL (which PostgreSQL rejects), other control characters and lone surrogates; cuts to `max` characters. */
export function cleanText(text: string | undefined, max = 256): string | null {
  if (text === undefined) return null;
  // A cut through a surrogate pair leaves a lone half, so replace after cutting.
  return text.slice(0, max).replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd');
}

/** The JSON of a copy without secrets. Longer than `maxBytes`, its texts and lists are cut, and `truncated` says how many bytes it had. */
export function limitedJson(data: Record<string, unknown>, maxBytes: number): string {
  const whole = JSON.stringify(withoutSecrets(data));
  const bytes = Buffer.byteLength(whole);
  if (bytes <= maxBytes) return whole;
  for (let part = 2; part <= MAX_ITEMS; part *= 2) {
    const cut = { text: Math.ceil(MAX_TEXT / part), items: Math.ceil(MAX_ITEMS / part) };
    const text = JSON.stringify({ ...(withoutSecrets(data, cut) as object), truncated: bytes });
    if (Buffer.byteLength(text) <= maxBytes) return text;
  }
  return JSON.stringify({ truncated: bytes });
}

/** A copy that can be stored as JSON, with the values of secret-looking keys removed. */
export function withoutSecrets(value: unknown, max = { text: MAX_TEXT, items: MAX_ITEMS }, depth = 0): unknown {
  if (typeof value === 'string') return cleanText(value, max.text);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= MAX_DEPTH) return '[deep]';
  if (Array.isArray(value)) return value.slice(0, max.items).map((item) => withoutSecrets(item, max, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, max.items)
      .map(([key, item]) => [
        key.slice(0, max.text),
        isSecret(key, item) ? REMOVED : withoutSecrets(item, max, depth + 1),
      ]),
  );
}

// Text, lists and objects can hold a secret; `{ password: true }` only says that one exists.
function isSecret(key: string, item: unknown): boolean {
  if (typeof item !== 'string' && !Array.isArray(item) && typeof item !== 'object') return false;
  return item !== null && SECRET_KEY.test(words(key));
}

// newPassword, new_password and New-Password become the same words.
function words(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .toLowerCase();
}
