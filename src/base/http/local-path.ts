// Checks the URL to return to, so that a redirect or a link never leaves this server (open redirect, RFC 9700 4.11).

// Only resolves relative URLs; never requested.
const PLACEHOLDER_ORIGIN = 'http://placeholder.invalid';

/**
 * The path and query of an address of this server; undefined for anything else. The result is checked again as a browser
 * parses it: `/.//host` is a path of this server, but without its dot segment it is the address of another host.
 */
export function localPath(value: string | undefined): string | undefined {
  if (!value?.startsWith('/') || /[\p{Cc}\\]/u.test(value)) return undefined;
  const parsed = parseLocal(value);
  const path = parsed && `${parsed.pathname}${parsed.search}`;
  return path && parseLocal(path)?.pathname === parsed.pathname ? path : undefined;
}

function parseLocal(value: string): URL | undefined {
  if (!URL.canParse(value, PLACEHOLDER_ORIGIN)) return undefined;
  const url = new URL(value, PLACEHOLDER_ORIGIN);
  return url.origin === PLACEHOLDER_ORIGIN ? url : undefined;
}
