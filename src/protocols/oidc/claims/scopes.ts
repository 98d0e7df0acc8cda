// The scopes that the engine knows: those for claims about users. All others belong to APIs.

import { ownScopes } from '../../../applications/fields/claim-settings.ts';
import type { OidcMetadata } from '../../../applications/fields/oidc-client.ts';
import { claimsByScope } from '../../../people/accounts/claims.ts';

export const engineScopes: readonly string[] = ['offline_access', ...Object.keys(claimsByScope)];

/** The scopes with which this client learns something about a user: those of OpenID Connect, and its own. */
export function userScopes(metadata: Pick<Partial<OidcMetadata>, 'claims' | 'scope'>): string[] {
  return [...Object.keys(claimsByScope), ...ownScopes(metadata)];
}

/**
 * The part of a client's registered `scope` that the engine gets: it rejects a client with a scope that it does not know,
 * and the scopes of an API are checked when the API is requested (resource-servers.ts). Without any it is `openid`, because
 * an empty scope would allow all of them.
 */
export function engineScope(scope: string): string {
  const known = scope.split(' ').filter((one) => engineScopes.includes(one));
  return known.join(' ') || 'openid';
}
