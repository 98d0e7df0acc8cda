// Patch in front of the engine: it answers an error as a page when the Accept header prefers HTML. At endpoints that
// programs call the error is JSON (RFC 6749 5.2), whatever a client library sends by default.
import type { Context } from '../../../../base/http/context.ts';
import { routes } from '../../engine/configuration.ts';
import { isForPrograms } from '../../engine/routes.ts';

/** RFC 9701 4: a signed response of introspection, for a client that asks for it. */
const SIGNED = 'application/token-introspection+jwt';

export function preferJsonErrors(ctx: Context): void {
  if (!isForPrograms(ctx.path)) return;
  const isSigned =
    ctx.path === routes.introspection && ctx.get('Accept').includes('jwt') && ctx.accepts('json', SIGNED) === SIGNED;
  ctx.req.headers.accept = isSigned ? `${SIGNED}, application/json;q=0.9` : 'application/json';
}
