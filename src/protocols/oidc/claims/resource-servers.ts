// APIs as resources (RFC 8707): a client that requests one gets a JWT access token (RFC 9068) for it alone.

import { type AccessSubject, accessDecision, accessDecisionRule } from '../../../applications/access-decision.ts';
import type { AccountInGroup } from '../../../applications/groups-to-choose.ts';
import {
  findResource,
  forRegisteredClients,
  scopesForAgent,
  type TokenTarget,
} from '../../../applications/resources.ts';
import { profileAlgs } from '../../../applications/security-profile.ts';
import { includesResource } from '../../../applications/uris.ts';
import type { Core } from '../../../core/core.ts';
import type { BrokenRule } from '../../../core/rejections/rules.ts';
import type { Account } from '../../../people/accounts/account.ts';
import type { People } from '../../../people/people.ts';
import { ownResources, SSF_SCOPES, ssfApi } from '../../../people/rbac/built-in.ts';
import { errors, type KoaContextWithOIDC, type ResourceServer } from '../engine/library.ts';
import type { ClientApplication, ClientSource } from '../store/clients.ts';

interface FoundApi extends Omit<TokenTarget, 'signingAlg'> {
  /** It is one of this server. */
  isOwn: boolean;
  token: { accessTokenFormat: 'jwt' | 'opaque'; jwt: { sign: { alg: string } } | undefined };
}

const OPAQUE = { accessTokenFormat: 'opaque', jwt: undefined } as const;
/** An API of this server: the rights of the user decide what the token can do there. */
const OWN = { ...forRegisteredClients, access: 'everyone', isOwn: true, token: OPAQUE } satisfies Partial<FoundApi>;

export function createResourceServers(services: Core & People & { clients: ClientSource }) {
  const { accounts, clients, config, db, settings } = services;
  /** The APIs of this server itself: identifier -> scopes. */
  const serverApis: Record<string, readonly string[]> = ownResources(config.issuer);
  return { resourceServer, defaultResource, registeredScopes };

  /** Receivers of shared signals request their scopes alone: SSF 1.0 knows no `resource`. */
  function defaultResource({ oidc }: KoaContextWithOIDC): string | undefined {
    const { grant_type: type, scope } = oidc.params ?? {};
    const isForSignals = String(scope ?? '')
      .split(' ')
      .some((one) => (SSF_SCOPES as readonly string[]).includes(one));
    return type === 'client_credentials' && isForSignals ? ssfApi(config.issuer) : undefined;
  }

  /** oidc-provider's `features.resourceIndicators.getResourceServerInfo`. Throws invalid_target (RFC 8707 2). */
  async function resourceServer(
    { oidc }: KoaContextWithOIDC,
    identifier: string,
    { clientId }: { clientId: string },
  ): Promise<ResourceServer> {
    const [api, application] = await Promise.all([findApi(identifier), clients.applicationOf(clientId)]);
    if (!api) throw new errors.InvalidTarget('this resource is not registered here');
    const allowed = application && scopesOf(api, application);
    if (!allowed) throw new errors.InvalidTarget('the client may not ask for this resource');
    const alg = api.token.jwt?.sign.alg;
    if (application?.metadata.profile && alg !== undefined && !profileAlgs.includes(alg))
      throw new errors.InvalidTarget(`the resource signs with ${alg}, which the profile of the client forbids`);
    // find-account.ts rejects this earlier and names the broken rule; here no token is issued, whatever was checked before.
    const holder = oidc.route === 'token' ? (oidc.account?.record as AccountInGroup | undefined) : undefined;
    if (holder && !mayReach(api, holder)) throw new errors.InvalidTarget('the user may not reach this resource');
    if (holder?.group && api.isOwn)
      throw new errors.InvalidTarget('a sign-in for one group may not reach this resource');
    const { access_token_minutes: most } = settings.latest();
    return {
      scope: withoutMissingPermissions(oidc.route, await userOf(oidc), allowed, api.scopePermissions).join(' '),
      audience: api.identifier,
      accessTokenTTL: 60 * Math.min(most, application?.metadata.access_token_minutes ?? most),
      ...api.token,
    } as ResourceServer;
  }

  /** The scopes of the API that the client may request, for any user. */
  async function registeredScopes(identifier: string, clientId: string): Promise<string[]> {
    const [api, application] = await Promise.all([findApi(identifier), clients.applicationOf(clientId)]);
    return (api && application && scopesOf(api, application)) ?? [];
  }

  /**
   * The scopes of the API that the client may request. Closed by default: both the API and each of its scopes must be in the client's
   * registration, or the API must be open to clients that nobody registered; those of this server never are.
   */
  function scopesOf(api: FoundApi, application: ClientApplication): string[] | undefined {
    const { resources, scope = '' } = application.metadata;
    const named = scope.split(' ');
    const registered = includesResource(resources, api.identifier)
      ? api.scopes.filter((one) => named.includes(one))
      : undefined;
    const asAgent = api.isOwn ? undefined : scopesForAgent(api, application, settings.latest());
    return registered && asAgent ? [...new Set([...registered, ...asAgent])] : (registered ?? asAgent);
  }

  /** An API of this server, or a registered one. */
  async function findApi(identifier: string): Promise<FoundApi | undefined> {
    const own = Object.hasOwn(serverApis, identifier) ? serverApis[identifier] : undefined;
    if (own) return { ...OWN, identifier, scopes: [...own] };
    const found = await findResource(identifier, db);
    if (!found) return undefined;
    const { signingAlg: alg } = found;
    return { ...found, isOwn: false, token: alg ? { accessTokenFormat: 'jwt', jwt: { sign: { alg } } } : OPAQUE };
  }

  /** The active user of the request, or of the session before the engine has loaded the account. */
  async function userOf({ account, session }: KoaContextWithOIDC['oidc']): Promise<Account | undefined> {
    // Of a token for one group, the account has the permissions of that group (find-account.ts).
    const record = account?.record as Account | undefined;
    const user = record ?? (session?.accountId === undefined ? undefined : await accounts.find(session.accountId));
    return user?.isActive ? user : undefined;
  }
}

/** The access rule of an API that a user may not reach. */
export type ClosedApi = BrokenRule & { api: string };

/**
 * The rule of the first of these APIs that the user may not reach, by its access rule. Before an authorization the user gets the page
 * of applications (engine/interaction-policy.ts), the client access_denied; at the token endpoint it gets invalid_target (RFC 8707 2.2).
 */
export async function unreachableApi(
  core: Core,
  identifiers: readonly string[],
  user: AccessSubject & { username: string },
): Promise<ClosedApi | undefined> {
  for (const identifier of identifiers) {
    const api = await findResource(identifier, core.db);
    if (api && !mayReach(api, user)) {
      const { received, expected } = accessDecisionRule(protectedBy(api), user);
      return { rule: 'api_access', received, expected, api: identifier };
    }
  }
  return undefined;
}

/** Whether the access rule of the API allows the user. */
export const mayReach = (api: Pick<TokenTarget, 'access'>, user: AccessSubject): boolean =>
  accessDecision(protectedBy(api), user).allowed;

/** An API has no rule but this one. */
const protectedBy = ({ access }: Pick<TokenTarget, 'access'>) => ({ enabled: true, access, metadata: {} });

/**
 * The scopes that the user may have: one that is tied to a permission needs it now, at the authorization and again at
 * each refresh. A client that acts for itself gets none of these. Before the sign-in every scope stays; the engine asks
 * again after it.
 */
function withoutMissingPermissions(
  route: string,
  user: Account | undefined,
  scopes: readonly string[],
  tied: Record<string, string>,
): readonly string[] {
  if (user === undefined && route !== 'token') return scopes;
  return permittedScopes(scopes, tied, user?.permissions ?? []);
}

/** The scopes that need no permission, or one that is held. */
export function permittedScopes(
  scopes: readonly string[],
  tied: Readonly<Record<string, string>>,
  held: readonly string[],
): string[] {
  return scopes.filter((scope) => !Object.hasOwn(tied, scope) || held.includes(tied[scope] ?? ''));
}
