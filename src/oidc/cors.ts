// Which pages of other origins may read our answers: those of a client's own redirect URIs. Where no client is known
// (documents, preflights, strangers that are refused) those of any registered application.

import type { Context } from '../http/context.ts';
import type { Db } from '../platform/db.ts';
import type { Client, KoaContextWithOIDC } from './library.ts';

const HEADERS = ['Origin', 'Methods', 'Headers'].map((name) => `Access-Control-Allow-${name}`);
const MORE_HEADERS = ['Access-Control-Max-Age', 'Access-Control-Expose-Headers'];

/**
 * CORS by client (oidc-provider's `clientBasedCORS`). A confidential client has no business in a browser except to read
 * userinfo.
 */
export function clientBasedCORS(ctx: KoaContextWithOIDC, origin: string, client: Client): boolean {
  if (ctx.oidc.route !== 'userinfo' && client.clientAuthMethod !== 'none') return false;
  return webOrigins(client.redirectUris).includes(origin);
}

/** Whether any enabled application redirects to this origin. */
export async function isRegisteredOrigin(db: Db, origin: string): Promise<boolean> {
  const [asked] = webOrigins([origin]);
  if (asked !== origin) return false;
  const part = `%${new URL(origin).host}%`;
  const rows = await db.$queryRaw<{ metadata: string }[]>`SELECT metadata FROM applications
    WHERE protocol = 'oidc' AND enabled = ${true} AND lower(metadata) LIKE ${part}`;
  return rows.some(({ metadata }) => {
    const { redirect_uris: uris } = JSON.parse(metadata) as { redirect_uris?: string[] };
    return webOrigins(uris).includes(origin);
  });
}

/** Takes back what the engine allows to every origin as long as no client was found. */
export async function hideFromStrangers(ctx: Context, isRegistered: (origin: string) => Promise<boolean>) {
  if (!ctx.response.get('Access-Control-Allow-Origin')) return;
  const origin = ctx.get('Origin');
  const { oidc } = ctx as unknown as Partial<KoaContextWithOIDC>;
  if (oidc?.client && origin) return;
  if (origin && (await isRegistered(origin))) return;
  hideFromPages(ctx);
}

/** Takes back what the engine allows: no page may read this answer. */
export function hideFromPages(ctx: Context): void {
  for (const header of [...HEADERS, ...MORE_HEADERS]) ctx.remove(header);
}

// The origin of `com.example.app:/cb` is "null", which is also what a sandboxed frame of anybody says.
function webOrigins(uris: readonly string[] = []): string[] {
  return uris.flatMap((uri) => (/^https?:/i.test(uri) && URL.canParse(uri) ? [new URL(uri).origin] : []));
}
