// The URL that opens an application: for SAML its start page or an IdP-initiated sign-in, for OpenID Connect its
// initiate_login_uri (OIDC Core 4) or its home page, for a website its address.

import type { Db } from '../base/storage/database.ts';
import { type Registration, registrationOf } from './application.ts';
import type { OidcMetadata } from './fields/oidc-client.ts';
import type { ServiceProviderSettings } from './fields/service-provider.ts';

export interface StartPage {
  name: string;
  /** A path on this server, or a web address. */
  url: string;
}

/** Undefined when the application registered neither. */
export function startUrl(clientId: string, registration: Registration, issuer: string): string | undefined {
  if (registration.protocol === 'proxy') return `${clientId}/`;
  return registration.protocol === 'saml'
    ? samlStart(clientId, registration.metadata)
    : oidcStart(registration.metadata, issuer);
}

/** Makes the look-up by client_id or entity ID; undefined for an application that is unknown, disabled, or has no start page, and for one that another program wrote. */
export function createStartPages({ db, issuer }: { db: Db; issuer: string }) {
  return async function startOf(clientId: string): Promise<StartPage | undefined> {
    const row = await db.application.findFirst({ where: { clientId, enabled: true } });
    const url = row && startUrl(clientId, registrationOf(row), issuer);
    return url ? { name: row.name, url } : undefined;
  };
}

function samlStart(entityId: string, { idp_initiated, start_url }: ServiceProviderSettings): string | undefined {
  if (start_url) return start_url;
  return idp_initiated ? `/saml/sso/start?${new URLSearchParams({ sp: entityId })}` : undefined;
}

function oidcStart({ initiate_login_uri, client_uri }: OidcMetadata, issuer: string): string | undefined {
  if (!initiate_login_uri) return client_uri;
  const url = new URL(initiate_login_uri);
  url.searchParams.set('iss', issuer);
  return url.href;
}
