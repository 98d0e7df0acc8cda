// Patch in front of the engine: POST at the authorization and end-session endpoints (OIDC Core 3.1.2.1, RP-Initiated
// Logout 1.0 section 2). A POST from another site comes without the SameSite=Lax session cookie; it is answered with a
// redirect to the same request as a GET, which brings the cookie. The engine's option `enableHttpPostMethods` needs
// SameSite=None instead.
import type { Context } from '../../../http/context.ts';
import { readForm } from '../../../http/input.ts';
import { routes } from '../../engine/configuration.ts';
import { rejectLongQuery } from '../../engine/requests/request-guards.ts';

const PATHS = new Set<string>([routes.authorization, routes.end_session]);

/** Resolves with true when it has answered; undefined for other requests. Rejects with bad_request when the request is too long for a query. */
export function redirectPostToGet(ctx: Context): Promise<boolean> | undefined {
  return ctx.method === 'POST' && PATHS.has(ctx.path) ? redirectToGet(ctx) : undefined;
}

async function redirectToGet(ctx: Context): Promise<boolean> {
  const fields = Object.entries(await readForm(ctx, { lists: ['resource'] }));
  const pairs = fields.flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  const parameters = new URLSearchParams(pairs).toString();
  rejectLongQuery(parameters);
  ctx.status = 303;
  ctx.redirect(`${ctx.path}?${parameters}`);
  return true;
}
