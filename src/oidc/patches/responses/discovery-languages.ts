// Patch after the engine: the languages of the discovery document follow the settings, but the engine reads its option only at start.
import type { Context } from '../../../http/context.ts';
import { DISCOVERY } from '../../engine/routes.ts';

/** Users may have claims in other languages too; `claims_locales` supports these as well. */
export function listOfferedLanguages(ctx: Context): void {
  if (!DISCOVERY.includes(ctx.path) || ctx.status !== 200) return;
  const { tags } = ctx.state.offeredLanguages();
  Object.assign(ctx.body as object, { ui_locales_supported: tags, claims_locales_supported: tags });
}
