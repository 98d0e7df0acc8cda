// CORS: the origins whose pages may read a response. With a client: those of its own redirect URIs and of its `allowed_cors_origins`;
// without one (preflight requests, unknown clients): those of any registered application (patches/responses.ts).
import { readMetadata } from '../../../applications/application.ts';
import { type ApplicationColumns, isGenuineApplication } from '../../../applications/macs/protected-applications.ts';
import { originOf } from '../../../applications/uris.ts';
import type { Db } from '../../../base/storage/database.ts';
import type { ProtectedRows } from '../../../base/storage/protected-rows.ts';

type Registered = { readonly [Field in 'redirect_uris' | 'allowed_cors_origins']?: readonly string[] | undefined };

/** The origins of an application: those of its redirect URIs on the web, and those that it names (web views, browser extensions). */
function originsOf({ redirect_uris = [], allowed_cors_origins = [] }: Registered): (string | undefined)[] {
  const onTheWeb = redirect_uris.filter((uri) => /^https?:/i.test(uri));
  return [...onTheWeb, ...allowed_cors_origins].map(originOf);
}

/** Whether the application has this origin, as a browser sends it (RFC 6454 6.2). */
export function hasOrigin(metadata: Registered, origin: string): boolean {
  const sent = originOf(origin);
  return sent !== undefined && originsOf(metadata).includes(sent);
}

/** Whether any enabled application has this origin. */
export async function isRegisteredOrigin(
  { db, protectedRows }: { db: Db; protectedRows: ProtectedRows },
  origin: string,
): Promise<boolean> {
  const sent = originOf(origin);
  if (sent === undefined) return false;
  const hostPattern = `%${sent.slice(sent.indexOf('//') + 2)}%`;
  const rows = await db.$queryRaw<(ApplicationColumns & { mac: string })[]>`
    SELECT id, client_id AS "clientId", protocol, name, enabled, consent, access, metadata, source, mac FROM applications
    WHERE protocol = 'oidc' AND enabled = ${true} AND lower(metadata) LIKE ${hostPattern}`;
  return rows.some(
    (row) => hasOrigin(readMetadata('oidc', row.metadata), origin) && isGenuineApplication(row, protectedRows),
  );
}
