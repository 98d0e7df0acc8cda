// CORS: the origins whose pages may read a response. With a client: those of its own redirect URIs and of its `allowed_cors_origins`;
// without one (preflight requests, unknown clients): those of any registered application (patches/responses.ts).
import { readMetadata } from '../../../applications/application.ts';
import { originOf } from '../../../applications/uris.ts';
import type { Db } from '../../../base/storage/database.ts';

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
export async function isRegisteredOrigin(db: Db, origin: string): Promise<boolean> {
  const sent = originOf(origin);
  if (sent === undefined) return false;
  const hostPattern = `%${sent.slice(sent.indexOf('//') + 2)}%`;
  const rows = await db.$queryRaw<Awaited<ReturnType<Db['application']['findMany']>>>`
    SELECT id, client_id AS "clientId", protocol, name, enabled, consent, access, metadata, source, mac FROM applications
    WHERE protocol = 'oidc' AND enabled = ${true} AND lower(metadata) LIKE ${hostPattern}`;
  return rows.some(
    (row) => hasOrigin(readMetadata('oidc', row.metadata), origin) && db.macs.isGenuine('applications', row, row.mac),
  );
}
