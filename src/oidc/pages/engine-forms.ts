// Shared parts of the engine's own pages. Their forms post back to the engine, with the CSRF token from the session.
import type { KoaContextWithOIDC } from '../engine/library.ts';

/** The engine's CSRF token for its forms (`xsrf`). */
export function xsrfOf({ oidc }: KoaContextWithOIDC): string {
  const { secret } = (oidc.session?.state ?? {}) as { secret?: string };
  return secret ?? '';
}

/** The name of the client of the request on pages. */
export function applicationName({ oidc: { client } }: KoaContextWithOIDC): string | undefined {
  return client?.clientName ?? client?.clientId;
}
