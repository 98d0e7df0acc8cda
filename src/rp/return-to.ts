// Same-origin redirect target after sign-in (prevents open redirects).

// Only resolves relative URLs; never requested.
const PLACEHOLDER_ORIGIN = 'http://placeholder.invalid';

/** The path and query of an address of this server; undefined for anything else. */
export function localPath(value: string | undefined): string | undefined {
  if (!value?.startsWith('/') || /^\/[/\\]/.test(value) || /[\p{Cc}\\]/u.test(value)) return undefined;
  const { pathname, search, origin } = new URL(value, PLACEHOLDER_ORIGIN);
  return origin === PLACEHOLDER_ORIGIN ? `${pathname}${search}` : undefined;
}
