// Discovery and JWKS say the same to everybody until the keys change: made by the engine once, then kept as text.

import type { Context } from '../http/context.ts';
import type { Provider } from './library.ts';

export interface PublicDocuments {
  /** Answers with the kept text. False when the engine has to be asked. */
  serve(ctx: Context): boolean;
  /** Keeps what the engine has just answered. */
  keep(ctx: Context): void;
}

export function createPublicDocuments({ provider }: { provider(): Provider }): PublicDocuments {
  // A rotation of keys makes a new engine, and with it new documents.
  const kept = new WeakMap<Provider, Map<string, { text: string; type: string }>>();
  // Browsers name an origin, and are answered each by their own rule.
  const isPlain = (ctx: Context) => ctx.method === 'GET' && !ctx.get('Origin');

  return {
    serve(ctx) {
      const document = isPlain(ctx) ? kept.get(provider())?.get(ctx.path) : undefined;
      if (!document) return false;
      ctx.body = document.text;
      ctx.type = document.type;
      ctx.vary('Origin');
      return true;
    },

    keep(ctx) {
      if (!isPlain(ctx) || ctx.status !== 200) return;
      const documents = kept.get(provider()) ?? new Map();
      kept.set(provider(), documents.set(ctx.path, { text: JSON.stringify(ctx.body), type: ctx.response.type }));
    },
  };
}
