// The scopes that are the engine's own: what an application may learn of a person. All others belong to an API.
import { claimsByScope } from '../accounts/claims.ts';

const own: readonly string[] = ['offline_access', ...Object.keys(claimsByScope)];

/**
 * What the engine is told of a client's registered `scope`: it takes no client with a scope that it does not know, and
 * those of an API are checked where the API is asked for (resources.ts). `openid` is the least, because none at all
 * would mean all of them.
 */
export function engineScope(scope: string): string {
  const known = scope.split(' ').filter((one) => own.includes(one));
  return known.join(' ') || 'openid';
}
