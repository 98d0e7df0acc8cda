// Identifiers of applications and APIs that belong to Gatehouse itself: registered for something else they would mislead users,
// services and administrators, who read them with less care than a computer.

import { nameKey } from '../people/accounts/names.ts';

/** Returns the check whether an identifier looks like one of these. */
export function createReservedCheck(reserved: readonly string[]): (identifier: string) => boolean {
  const keys = new Set(reserved.map(identifierKey));
  return (identifier) => keys.has(identifierKey(identifier));
}

/**
 * The comparable form of an identifier: equal keys look alike. Percent-encoding, case, look-alike letters (nameKey), scheme, default port,
 * trailing dots and slashes, dot segments, query and fragment make no difference.
 */
function identifierKey(identifier: string): string {
  const text = nameKey(percentDecoded(identifier)).replace(/[\s\p{C}\p{Default_Ignorable_Code_Point}]/gu, '');
  const address = text.replaceAll('\\', '/').replace(/^https?:\/*/, 'https://');
  if (!address.startsWith('https://') || !URL.canParse(address)) return text.replace(/\/+$/, '');
  const { hostname, port, pathname } = new URL(address);
  const path = pathname.replace(/\/{2,}/g, '/').replace(/[/.]+$/, '');
  return `https://${hostname.replace(/\.+$/, '')}${port === '' || port === '80' ? '' : `:${port}`}${path}`;
}

/** An identifier that is encoded more often is compared as it is then: nobody reads through so many layers. */
const MAX_LAYERS = 5;

function percentDecoded(text: string, layers = 0): string {
  if (layers === MAX_LAYERS || !text.includes('%')) return text;
  try {
    return percentDecoded(decodeURIComponent(text), layers + 1);
  } catch {
    return text;
  }
}
