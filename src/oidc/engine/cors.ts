// CORS: the origins whose pages may read a response. With a client: those of its own redirect URIs; without one
// (preflight requests, unknown clients): those of any registered application (patches/responses/cors-headers.ts).
import { readMetadata } from '../../applications/application.ts';
import { type ApplicationColumns, isGenuineApplication } from '../../applications/macs/protected-applications.ts';
import type { ProtectedRows } from '../../audit/protected-rows.ts';
import type { Db } from '../../storage/database.ts';
import type { Client, KoaContextWithOIDC } from './library.ts';

/**
 * oidc-provider's `clientBasedCORS`. A confidential client runs on a server; from a browser it may only read userinfo.
 */
export function clientBasedCORS(ctx: KoaContextWithOIDC, origin: string, client: Client): boolean {
  if (ctx.oidc.route !== 'userinfo' && client.clientAuthMethod !== 'none') return false;
  return webOrigins(client.redirectUris).includes(origin);
}

/** Whether any enabled application redirects to this origin. */
export async function isRegisteredOrigin(
  { db, protectedRows }: { db: Db; protectedRows: Pick<ProtectedRows, 'isGenuine'> },
  origin: string,
): Promise<boolean> {
  if (webOrigins([origin])[0] !== origin) return false;
  const hostPattern = `%${new URL(origin).host}%`;
  const rows = await db.$queryRaw<(ApplicationColumns & { mac: string })[]>`
    SELECT id, client_id AS "clientId", protocol, name, enabled, consent, access, metadata, source, mac FROM applications
    WHERE protocol = 'oidc' AND enabled = ${true} AND lower(metadata) LIKE ${hostPattern}`;
  return rows.some(
    (row) =>
      webOrigins(readMetadata('oidc', row.metadata).redirect_uris).includes(origin) &&
      isGenuineApplication(row, protectedRows),
  );
}

// The origin of `com.example.app:/cb` is "null", which is also the origin of every sandboxed frame.
function webOrigins(uris: readonly string[] = []): string[] {
  return uris.flatMap((uri) => (/^https?:/i.test(uri) && URL.canParse(uri) ? [new URL(uri).origin] : []));
}
