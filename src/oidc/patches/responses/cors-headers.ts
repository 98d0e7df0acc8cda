// Patch after the engine, which makes each response to an unknown client readable from every origin. Here only origins of
// registered redirect URIs may read it. Discovery and JWKS stay public, with `*`, so that caches can share them
// (docs/decisions/0025-public-documents-for-every-origin.md).

import type { Context } from '../../../http/context.ts';
import { engineContext } from '../../engine/app-context.ts';
import { READABLE_BY_ALL } from '../../engine/public-documents.ts';
import { FOR_BROWSER_CLIENTS, PUBLIC_DOCUMENTS } from '../../engine/routes.ts';

const HEADERS = [
  'Access-Control-Allow-Origin',
  'Access-Control-Allow-Methods',
  'Access-Control-Allow-Headers',
  'Access-Control-Max-Age',
  'Access-Control-Expose-Headers',
];

/** @param isRegistered whether any enabled application has a redirect URI of this origin */
export async function limitCors(ctx: Context, isRegistered: (origin: string) => Promise<boolean>): Promise<void> {
  if (PUBLIC_DOCUMENTS.has(ctx.path)) {
    ctx.set(READABLE_BY_ALL);
    return ctx.remove('Vary');
  }
  if (!FOR_BROWSER_CLIENTS.has(ctx.path)) return removeCorsHeaders(ctx);
  if (!ctx.response.get('Access-Control-Allow-Origin')) return;
  const origin = ctx.get('Origin');
  // With a client the engine has applied `clientBasedCORS`.
  if (origin && (engineContext(ctx)?.client || (await isRegistered(origin)))) return;
  removeCorsHeaders(ctx);
}

function removeCorsHeaders(ctx: Context): void {
  for (const header of HEADERS) ctx.remove(header);
}
