// Where an application is entered: SAML at its own start page or by a sign-in begun at this server, OpenID Connect at the
// address that begins a sign-in at the application (OIDC Core 4) or its home page.
import type { Db } from '../platform/db.ts';

export interface StartPage {
  name: string;
  /** A path of ours or a web address. */
  url: string;
}

/** What is looked at of how an application is registered. */
export interface StartMetadata {
  initiate_login_uri?: string;
  client_uri?: string;
  idp_initiated?: boolean;
  start_url?: string;
}

/** Undefined when the application has said neither. */
export function startUrl(
  { protocol, clientId, metadata }: { protocol: string; clientId: string; metadata: StartMetadata },
  issuer: string,
): string | undefined {
  return protocol === 'saml' ? samlStart(clientId, metadata) : oidcStart(metadata, issuer);
}

/** Makes the look-up by client id or entity id; undefined for an application that is unknown, off, or has no such page. */
export function createStartPages({ db, issuer }: { db: Db; issuer: string }) {
  return async function startOf(clientId: string): Promise<StartPage | undefined> {
    const row = await db.application.findFirst({
      where: { clientId, enabled: true },
      select: { name: true, protocol: true, metadata: true },
    });
    const url = row && startUrl({ ...row, clientId, metadata: JSON.parse(row.metadata) as StartMetadata }, issuer);
    return url ? { name: row.name, url } : undefined;
  };
}

function samlStart(entityId: string, { idp_initiated, start_url }: StartMetadata): string | undefined {
  if (start_url) return start_url;
  return idp_initiated ? `/saml/sso/start?${new URLSearchParams({ sp: entityId })}` : undefined;
}

function oidcStart({ initiate_login_uri, client_uri }: StartMetadata, issuer: string): string | undefined {
  if (!initiate_login_uri) return client_uri;
  const url = new URL(initiate_login_uri);
  url.searchParams.set('iss', issuer);
  return url.href;
}
