// Discovery and JWKS are the same for every caller until the keys or the offered languages change: the engine makes them once, then they are
// served from memory.

import type { Context } from '../../http/context.ts';
import type { Provider } from './library.ts';
import { PUBLIC_DOCUMENTS } from './routes.ts';

/** CORS for every origin (docs/decisions/0025-public-documents-for-every-origin.md). */
export const READABLE_BY_ALL = { 'Access-Control-Allow-Origin': '*' };

export interface PublicDocuments {
  /** Answers from memory. False when the engine has to answer. */
  serve(ctx: Context): boolean;
  /** Stores what the engine has just answered. */
  store(ctx: Context): void;
}

export function createPublicDocuments({ provider }: { provider(): Provider }): PublicDocuments {
  // A key rotation makes a new Provider, and with it new documents.
  const stored = new WeakMap<Provider, Map<string, { text: string; type: string; languages: string }>>();
  const languagesOf = ({ state }: Context) => state.offeredLanguages().tags.join();
  const isStorable = (ctx: Context) => PUBLIC_DOCUMENTS.has(ctx.path) && ctx.method === 'GET';

  return {
    serve(ctx) {
      const document = isStorable(ctx) ? stored.get(provider())?.get(ctx.path) : undefined;
      if (document?.languages !== languagesOf(ctx)) return false;
      ctx.body = document.text;
      ctx.type = document.type;
      ctx.set(READABLE_BY_ALL);
      return true;
    },

    store(ctx) {
      if (!isStorable(ctx) || ctx.status !== 200) return;
      const documents = stored.get(provider()) ?? new Map();
      const document = { text: JSON.stringify(ctx.body), type: ctx.response.type, languages: languagesOf(ctx) };
      stored.set(provider(), documents.set(ctx.path, document));
    },
  };
}
