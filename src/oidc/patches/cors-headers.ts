// Patch behind the engine: its documents are readable from every origin, and so is each response to a client that is not
// known. Here only origins of registered redirect URIs may read them (docs/decisions/0005-cors-for-registered-origins.md).

import type { Context } from '../../http/context.ts';
import { engineContext } from '../engine/app-context.ts';
import { FOR_BROWSER_CLIENTS } from '../engine/routes.ts';

const HEADERS = [
  'Access-Control-Allow-Origin',
  'Access-Control-Allow-Methods',
  'Access-Control-Allow-Headers',
  'Access-Control-Max-Age',
  'Access-Control-Expose-Headers',
];

/** @param isRegistered whether any enabled application has a redirect URI of this origin */
export async function limitCors(ctx: Context, isRegistered: (origin: string) => Promise<boolean>): Promise<void> {
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
