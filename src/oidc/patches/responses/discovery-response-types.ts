// Patch after the engine: removes the response type `none` from the discovery document. The engine uses it for SAML service
// providers (docs/decisions/0001-one-engine-two-protocols.md). No OpenID Connect client can use it.
import type { Context } from '../../../http/context.ts';
import { DISCOVERY } from '../../engine/routes.ts';

export function hideResponseTypeNone(ctx: Context): void {
  if (!DISCOVERY.includes(ctx.path) || ctx.status !== 200) return;
  (ctx.body as { response_types_supported: string[] }).response_types_supported = ['code'];
}
