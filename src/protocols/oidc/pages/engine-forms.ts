// Shared parts of the engine's own pages. Their forms post back to the engine, with the CSRF token from the session.
import { languagesOf } from '../../../base/http/pages/language.ts';
import { appContext } from '../engine/app-context.ts';
import type { KoaContextWithOIDC } from '../engine/library.ts';

/** The engine's CSRF token for its forms (`xsrf`). */
export function xsrfOf({ oidc }: KoaContextWithOIDC): string {
  const { secret } = (oidc.session?.state ?? {}) as { secret?: string };
  return secret ?? '';
}

/**
 * Gives the page the languages that the request asks for, and returns them. The steps of a logout carry them in their address, because
 * the engine has `ui_locales` only in the first one.
 */
export function readLanguages(ctx: KoaContextWithOIDC): string[] {
  const languages = languagesOf(ctx.oidc.params?.ui_locales ?? ctx.query.ui_locales);
  appContext(ctx).state.requestedLanguages = languages;
  return languages;
}

/** The name of the client of the request on pages. */
export function applicationName({ oidc: { client } }: KoaContextWithOIDC): string | undefined {
  return client?.clientName ?? client?.clientId;
}
