// Whether two URLs are the same address. Never for entity IDs, which are names (SAML Core 8.3.6).

/**
 * Compares scheme, host and port as WHATWG URL reads them (RFC 3986 6.2.2.1 and 6.2.3): capitals, default ports and an empty path mean
 * nothing. Path and query have to agree character by character. A URL with credentials, a backslash or white space is only the same as
 * itself, because other software may read another host in it.
 */
export function isSameAddress(one: string, other: string): boolean {
  if (one === other) return true;
  const normalized = normalizedAddress(one);
  return normalized !== undefined && normalized === normalizedAddress(other);
}

/** Undefined for what is compared as it is written. */
function normalizedAddress(text: string): string | undefined {
  const [, scheme, authority = '', rest = ''] = /^(https?):\/\/([^/?#@\\]+)([^\\]*)$/i.exec(text) ?? [];
  if (scheme === undefined || /[\s\p{Cc}]/u.test(text)) return undefined;
  const origin = `${scheme}://${authority}`;
  if (!URL.canParse(origin)) return undefined;
  return `${new URL(origin).origin}${/^[?#]|^$/.test(rest) ? `/${rest}` : rest}`;
}
