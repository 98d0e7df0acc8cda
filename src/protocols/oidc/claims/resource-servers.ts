// APIs as resources (RFC 8707): a client that requests one gets a JWT access token (RFC 9068) for it alone.

import { type Resource, resourceOf } from '../../../applications/resources.ts';
import { profileAlgs } from '../../../applications/security-profile.ts';
import { isStorable } from '../../../base/storage/storable-text.ts';
import type { Core } from '../../../core/core.ts';
import type { People } from '../../../people/people.ts';
import { errors, type KoaContextWithOIDC, type ResourceServer } from '../engine/library.ts';
import type { ClientSource } from '../store/clients.ts';

export function createResourceServers(
  dependencies: Core &
    People & {
      clients: ClientSource;
      /** The setting `access_token_minutes`. */
      accessTokenMinutes(): number;
      /** The APIs of this server itself: identifier -> scopes. */
      serverApis: Record<string, readonly string[]>;
    },
) {
  const { accounts, clients, accessTokenMinutes, serverApis } = dependencies;
  return { resourceServer, registeredScopes };

  /** oidc-provider's `features.resourceIndicators.getResourceServerInfo`. Throws invalid_target (RFC 8707 2). */
  async function resourceServer(
    { oidc }: KoaContextWithOIDC,
    identifier: string,
    { clientId }: { clientId: string },
  ): Promise<ResourceServer> {
    const [api, application] = await Promise.all([findApi(identifier), clients.applicationOf(clientId)]);
    if (!api) throw new errors.InvalidTarget('this resource is not registered here');
    // Closed by default: both the API and each of its scopes must be in the client's registration.
    const { resources = [], scope = '' } = application?.metadata ?? {};
    if (!resources.includes(identifier)) throw new errors.InvalidTarget('the client may not ask for this resource');
    const alg = api.token.jwt?.sign.alg;
    if (application?.metadata.profile && alg !== undefined && !profileAlgs.includes(alg))
      throw new errors.InvalidTarget(`the resource signs with ${alg}, which the profile of the client forbids`);
    const allowed = scopesInBoth(api, scope);
    return {
      scope: (await withoutMissingPermissions(oidc, allowed, api.scopePermissions)).join(' '),
      audience: identifier,
      accessTokenTTL:
        60 * Math.min(accessTokenMinutes(), application?.metadata.access_token_minutes ?? accessTokenMinutes()),
      ...api.token,
    } as ResourceServer;
  }

  /** The scopes of the API that the client may request, for any user. */
  async function registeredScopes(identifier: string, clientId: string): Promise<string[]> {
    const [api, application] = await Promise.all([findApi(identifier), clients.applicationOf(clientId)]);
    return api ? scopesInBoth(api, application?.metadata.scope) : [];
  }

  /** An API of this server, or a registered one. */
  async function findApi(identifier: string) {
    const own = Object.hasOwn(serverApis, identifier) ? serverApis[identifier] : undefined;
    if (own) return { scopes: own, scopePermissions: {}, token: { accessTokenFormat: 'opaque', jwt: undefined } };
    const found = await registeredApi(dependencies, identifier);
    if (!found) return undefined;
    const { scopes, scopePermissions, signingAlg } = found;
    return { scopes, scopePermissions, token: { accessTokenFormat: 'jwt', jwt: { sign: { alg: signingAlg } } } };
  }

  /**
   * The scopes that the user may have: one that is tied to a permission needs it now, at the authorization and again at
   * each refresh. A client that acts for itself gets none of these. Before the sign-in every scope stays; the engine asks
   * again after it.
   */
  async function withoutMissingPermissions(
    { account, session, route }: KoaContextWithOIDC['oidc'],
    scopes: readonly string[],
    tied: Record<string, string>,
  ): Promise<readonly string[]> {
    if (!scopes.some((scope) => Object.hasOwn(tied, scope))) return scopes;
    const accountId = account?.accountId ?? session?.accountId;
    if (accountId === undefined && route !== 'token') return scopes;
    const user = accountId === undefined ? undefined : await accounts.find(accountId);
    const held = user?.isActive ? user.permissions : [];
    return permittedScopes(scopes, tied, held);
  }
}

function scopesInBoth(api: { scopes: readonly string[] }, registered = ''): string[] {
  const named = registered.split(' ');
  return api.scopes.filter((one) => named.includes(one));
}

/** The registered API with this identifier; undefined also for one that another program wrote. */
export async function registeredApi({ db }: Core, identifier: string): Promise<Resource | undefined> {
  const row = isStorable(identifier) ? await db.resource.findUnique({ where: { identifier } }) : null;
  return row ? resourceOf(row) : undefined;
}

/** The scopes that need no permission, or one that is held. */
export function permittedScopes(
  scopes: readonly string[],
  tied: Readonly<Record<string, string>>,
  held: readonly string[],
): string[] {
  return scopes.filter((scope) => !Object.hasOwn(tied, scope) || held.includes(tied[scope] ?? ''));
}
