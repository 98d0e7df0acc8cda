// Patch behind the engine: the languages of its pages follow the settings, and the engine reads its option for discovery only when it starts.
import type { Context } from '../../../http/context.ts';
import { DISCOVERY } from '../../engine/routes.ts';

/** Users may have claims in further languages; for these, `claims_locales` works as well. */
export function listOfferedLanguages(ctx: Context): void {
  if (!DISCOVERY.includes(ctx.path) || ctx.status !== 200) return;
  const { tags } = ctx.state.offeredLanguages;
  Object.assign(ctx.body as object, { ui_locales_supported: tags, claims_locales_supported: tags });
}
