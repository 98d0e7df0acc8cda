// The scopes that the engine knows: those for claims about users. All others belong to APIs.
import { claimsByScope } from '../../accounts/claims.ts';

export const engineScopes: readonly string[] = ['offline_access', ...Object.keys(claimsByScope)];

/**
 * The part of a client's registered `scope` that the engine gets: it rejects a client with a scope that it does not know,
 * and the scopes of an API are checked when the API is requested (resource-servers.ts). Without any it is `openid`, because
 * an empty scope would allow all of them.
 */
export function engineScope(scope: string): string {
  const known = scope.split(' ').filter((one) => engineScopes.includes(one));
  return known.join(' ') || 'openid';
}
