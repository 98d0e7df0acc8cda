// The engine runs on the application's own Koa context: one object, two types. Mounted apart, it would have no request ID, other cookie keys
// and error pages of its own. So nothing may read a request body before the engine does.
import type { Context } from '../../../base/http/context.ts';
import type { Sender } from '../../../base/platform/request-info.ts';
import type { KoaContextWithOIDC } from './library.ts';

/** The application's view of the engine's context: request facts, logger, `render`. */
export function appContext(ctx: KoaContextWithOIDC): Context {
  return ctx as unknown as Context;
}

/** The engine's part of the application's context; undefined before the engine has run. */
export function engineContext(ctx: Context): KoaContextWithOIDC['oidc'] | undefined {
  return (ctx as unknown as Partial<KoaContextWithOIDC>).oidc;
}

/**
 * Whether the request ends in this error because the person has ended the sign-in on one of its pages: canceled it, did not consent, or went
 * back from the page that denied access, which has recorded the rejection.
 */
export const isDecided = ({ oidc }: KoaContextWithOIDC, error: string): boolean =>
  error === 'access_denied' && oidc.entities.Interaction?.result?.error === error;

/** Routes where a client authenticates with its own credential before anything is stored (RFC 6749 2.3, RFC 9126 2). */
const CLIENT_ROUTES = new Set<string>(['token', 'pushed_authorization_request', 'device_authorization']);

/** Who a request of the engine stores for: the user of its session or token, or an application with a credential; undefined: nobody known. */
export function engineSender(ctx: Context): Sender | undefined {
  const oidc = engineContext(ctx);
  if (!oidc) return undefined;
  const userId = oidc.session?.accountId ?? oidc.entities.Account?.accountId;
  if (userId) return { userId };
  const isApplication = CLIENT_ROUTES.has(oidc.route) && oidc.client && oidc.client.clientAuthMethod !== 'none';
  return isApplication ? 'trusted' : undefined;
}

// The text of an error_description (RFC 6749 5.2, RFC 6750 3).

const LOOK_ALIKE: Record<string, string> = { '’': "'", '“': "'", '”': "'", '…': '...', '"': "'", '\\': '/' };

/** The text in the characters that an error_description may have; at some endpoints it is in a header, too. */
export function asciiText(text: string): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/gu, (character) => LOOK_ALIKE[character] ?? '?');
}

/** The error_description with the code of the rejection; RFC 6749 5.2 leaves its text to the server. */
export function withCode(description: string | undefined, code: string): string {
  return `${description ?? 'rejected'} (error reference ${code})`;
}
