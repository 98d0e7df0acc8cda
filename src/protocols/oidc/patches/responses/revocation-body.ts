// Patch after the engine, whose response to a revocation has an empty body. RFC 7009 2.2 does not specify the body, and some client
// libraries fail to parse an empty one as JSON.
import type { Context } from '../../../../base/http/context.ts';
import { routes } from '../../engine/configuration.ts';

export function answerRevocationInJson(ctx: Context): void {
  if (ctx.path === routes.revocation && ctx.status === 200) ctx.body = {};
}
