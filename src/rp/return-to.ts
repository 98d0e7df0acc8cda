// Where to go after a sign-in: a path of ours, never an address that somebody put into a link (open redirect).

/** The path and query of an address of this server; undefined for anything else. */
export function localPath(value: string | undefined): string | undefined {
  if (!value?.startsWith('/') || /^\/[/\\]/.test(value) || /[\p{Cc}\\]/u.test(value)) return undefined;
  const { pathname, search, host } = new URL(value, 'http://here');
  return host === 'here' ? `${pathname}${search}` : undefined;
}
