// Distinguished names (RFC 4514): whether an entry is below a base, and the suffix of a domain.

/**
 * Whether the entry is the base or below it. Names are compared after normalization of case, spaces and escapes
 * (RFC 4514).
 */
export function isBelow(dn: string, base: string): boolean {
  const [entry, parent] = [rdnsOf(dn), rdnsOf(base)];
  if (entry === undefined || parent === undefined || parent.length === 0 || entry.length < parent.length) return false;
  return parent.every((part, at) => part === entry[entry.length - parent.length + at]);
}

/** The trailing `dc=` parts: the root of the domain; the DN itself when it has none. */
export function domainRootOf(dn: string): string {
  return /(?:^|,)\s*(dc=[^,\\]+(?:\s*,\s*dc=[^,\\]+)*)\s*$/i.exec(dn)?.[1] ?? dn;
}

/** The RDNs, normalized; undefined for a text that is no DN. */
function rdnsOf(dn: string): string[] | undefined {
  const parts = dn.split(/(?<=(?:^|[^\\])(?:\\\\)*)[,;]/);
  const normalized = parts.map((part) => {
    const [, type = '', value = ''] = /^\s*([A-Za-z0-9.-]+)\s*=\s*(.*?)\s*$/s.exec(part) ?? [];
    return type === '' ? undefined : `${type}=${unescaped(value)}`.toLowerCase();
  });
  return normalized.includes(undefined) ? undefined : (normalized as string[]);
}

function unescaped(value: string): string {
  const bytes: Buffer[] = [];
  for (const [, hex, character, plain] of value.matchAll(/\\([0-9a-f]{2})|\\(.)|([^\\]+)/gisu)) {
    bytes.push(hex === undefined ? Buffer.from(character ?? plain ?? '') : Buffer.from(hex, 'hex'));
  }
  return Buffer.concat(bytes).toString('utf8');
}
