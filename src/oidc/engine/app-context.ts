// The engine runs on the application's own Koa context (docs/decisions/0002-engine-on-our-koa-context.md): one object,
// two types.
import type { Context } from '../../http/context.ts';
import type { KoaContextWithOIDC } from './library.ts';

/** The application's view of the engine's context: request facts, logger, `render`. */
export function appContext(ctx: KoaContextWithOIDC): Context {
  return ctx as unknown as Context;
}

/** The engine's part of the application's context; undefined before the engine has run. */
export function engineContext(ctx: Context): KoaContextWithOIDC['oidc'] | undefined {
  return (ctx as unknown as Partial<KoaContextWithOIDC>).oidc;
}
