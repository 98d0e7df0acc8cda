// What the engine's own pages share. Their forms post back to the engine, with the token that it keeps in the session.
import type { KoaContextWithOIDC } from '../engine/library.ts';

/** The engine's CSRF token for its forms (`xsrf`). */
export function xsrfOf({ oidc }: KoaContextWithOIDC): string {
  const { secret } = (oidc.session?.state ?? {}) as { secret?: string };
  return secret ?? '';
}

/** How the client of the request is called on pages. */
export function applicationName({ oidc: { client } }: KoaContextWithOIDC): string | undefined {
  return client?.clientName ?? client?.clientId;
}
