// Patch after the engine, which makes each response readable from every origin. Here only origins of registered applications
// may read it, and of a known client only its own. A request from any other origin is answered without CORS headers. Discovery and JWKS stay public, with `*`, so that caches can share them
// (docs/decisions/0025-public-documents-for-every-origin.md).

import type { Context } from '../../../../base/http/context.ts';
import { engineContext } from '../../engine/app-context.ts';
import { routes } from '../../engine/configuration.ts';
import { hasOrigin } from '../../engine/cors.ts';
import { READABLE_BY_ALL } from '../../engine/public-documents.ts';
import { FOR_BROWSER_CLIENTS, PUBLIC_DOCUMENTS } from '../../engine/routes.ts';
import type { ClientSource } from '../../store/clients.ts';

const HEADERS = [
  'Access-Control-Allow-Origin',
  'Access-Control-Allow-Methods',
  'Access-Control-Allow-Headers',
  'Access-Control-Max-Age',
  'Access-Control-Expose-Headers',
];

type Clients = Pick<ClientSource, 'applicationOf' | 'isRegisteredOrigin'>;

export async function limitCors(ctx: Context, clients: Clients): Promise<void> {
  if (PUBLIC_DOCUMENTS.has(ctx.path)) {
    ctx.set(READABLE_BY_ALL);
    return ctx.remove('Vary');
  }
  if (!FOR_BROWSER_CLIENTS.has(ctx.path)) return removeCorsHeaders(ctx);
  if (!ctx.response.get('Access-Control-Allow-Origin')) return;
  const origin = ctx.get('Origin');
  if (!origin || !(await mayRead(ctx, origin, clients))) removeCorsHeaders(ctx);
}

/** A confidential client runs on a server; from a browser it may only read userinfo. */
async function mayRead(ctx: Context, origin: string, clients: Clients): Promise<boolean> {
  const client = engineContext(ctx)?.client;
  if (!client) return clients.isRegisteredOrigin(origin);
  if (ctx.path !== routes.userinfo && client.clientAuthMethod !== 'none') return false;
  const { allowed_cors_origins: named } = (await clients.applicationOf(client.clientId))?.metadata ?? {};
  return hasOrigin({ redirect_uris: client.redirectUris, allowed_cors_origins: named }, origin);
}

function removeCorsHeaders(ctx: Context): void {
  for (const header of HEADERS) ctx.remove(header);
}
