// Discovery and JWKS are the same for every caller until the keys, the offered languages or what is published change: the engine makes them
// once, then they are served from memory.

import type { Context } from '../../../base/http/context.ts';
import type { Provider } from './library.ts';
import type { Published } from './published.ts';
import { PUBLIC_DOCUMENTS } from './routes.ts';

/** CORS for every origin (docs/decisions/0025-public-documents-for-every-origin.md). */
export const READABLE_BY_ALL = { 'Access-Control-Allow-Origin': '*' };

export type PublicDocuments = ReturnType<typeof createPublicDocuments>;

export function createPublicDocuments({
  provider,
  published,
}: {
  provider(): Provider;
  published(): Promise<Published>;
}) {
  // A key rotation makes a new Provider, and with it new documents.
  const stored = new WeakMap<Provider, Map<string, { text: string; type: string; variant: string }>>();
  const variantOf = async ({ state }: Context) => {
    const { algs, registration } = await published();
    return [...state.offeredLanguages().tags, ...algs, registration].join();
  };
  const isStorable = (ctx: Context) => PUBLIC_DOCUMENTS.has(ctx.path) && ctx.method === 'GET';

  async function serve(ctx: Context): Promise<boolean> {
    const document = stored.get(provider())?.get(ctx.path);
    if (!document || document.variant !== (await variantOf(ctx))) return false;
    ctx.body = document.text;
    ctx.type = document.type;
    ctx.set(READABLE_BY_ALL);
    return true;
  }

  async function store(ctx: Context): Promise<void> {
    if (ctx.status !== 200) return;
    const documents = stored.get(provider()) ?? new Map();
    const document = { text: JSON.stringify(ctx.body), type: ctx.response.type, variant: await variantOf(ctx) };
    stored.set(provider(), documents.set(ctx.path, document));
  }

  return {
    /** Answers from memory. False when the engine has to answer; undefined for every other request. */
    serve: (ctx: Context): Promise<boolean> | undefined => (isStorable(ctx) ? serve(ctx) : undefined),
    /** Stores what the engine has just answered; undefined for every other request. */
    store: (ctx: Context): Promise<void> | undefined => (isStorable(ctx) ? store(ctx) : undefined),
  };
}
