// Patch behind the engine: the languages of its pages follow the settings, and the engine reads its option for discovery only when it starts.
import type { Context } from '../../../http/context.ts';
import { DISCOVERY } from '../../engine/routes.ts';

export function listOfferedLanguages(ctx: Context): void {
  if (!DISCOVERY.includes(ctx.path) || ctx.status !== 200) return;
  (ctx.body as { ui_locales_supported?: readonly string[] }).ui_locales_supported = ctx.state.offeredLanguages.tags;
}
