// The account of a request or token, for the engine, with the claims that the application receives; the additional claims of access tokens;
// and who may introspect a token. There is no account if it is disabled or the application's access rule does not allow it; the next refresh
// then removes grant and tokens.

import { accessDecision, brokenNetworkRule, isInNetworks } from '../../../applications/access-decision.ts';
import { claimSources } from '../../../applications/fields/claim-settings.ts';
import { type AccountInGroup, inGroup } from '../../../applications/groups-to-choose.ts';
import { limits } from '../../../base/limits.ts';
import type { Audit } from '../../../core/audit/audit.ts';
import type { BrokenRule } from '../../../core/rejections/rules.ts';
import type { Account } from '../../../people/accounts/account.ts';
import {
  claimsByScope,
  claimsFor,
  customClaims,
  GROUPS_OVERAGE,
  taggableName,
} from '../../../people/accounts/claims.ts';
import { type RequestedLanguages, taggableClaims, valuesInLanguages } from '../../../people/accounts/tagged-values.ts';
import { withVisibleRoles } from '../../../people/accounts/visible-roles.ts';
import { ownResources } from '../../../people/rbac/built-in.ts';
import { appContext } from '../engine/app-context.ts';
import {
  type Client,
  type Account as EngineAccount,
  engineSeconds,
  errors,
  type FindAccount,
  type KoaContextWithOIDC,
} from '../engine/library.ts';
import type { OidcServices } from '../oidc-services.ts';
import { APPLICATION_CLAIMS, type ApplicationClaims, LOCALIZED_CLAIMS } from '../patches/provider/client-claims.ts';
import { consentedSince } from '../registration.ts';
import type { ClientApplication } from '../store/clients.ts';
import { chosenGroupOf } from './chosen-group.ts';
import { sectorOfClient } from './pairwise-subjects.ts';
import { type ClosedApi, unreachableApi } from './resource-servers.ts';
import { requestedLanguages } from './scopes.ts';

/** The models that are redeemed once for each authorization. */
const FIRST_USE = new Set(['AuthorizationCode', 'DeviceCode']);

type Token = NonNullable<Parameters<FindAccount>[2]>;

const UNREGISTERED = { allowed: false, reason: 'application_unregistered' };

/** oidc-provider's `findAccount`. */
export function createFindAccount(dependencies: OidcServices): FindAccount {
  const { accounts, clients, config, consents, db, sessions, audit, checkDirectories, noteSeen, settings } =
    dependencies;
  return async function findAccount(ctx, id, token) {
    const isTokenRequest = ctx.oidc.route === 'token';
    const isRefresh = token?.kind === 'RefreshToken' && isTokenRequest;
    const isSession = !token && ctx.oidc.route === 'authorization';
    if ((isRefresh || isSession) && !(await checkDirectories(id))) return undefined;
    const found = await accounts.find(id);
    if (!found?.isActive) return undefined;
    if (!token || isTokenRequest) noteSeen(found);
    const clientId = token?.clientId ?? ctx.oidc.client?.clientId;
    const application = clientId === undefined ? undefined : await clients.applicationOf(clientId);
    if (token?.kind === 'RefreshToken' && isTooOld(ctx, token, application)) return undefined;
    // A client that nobody registered gets new refresh tokens without a consent page while the consent lasts: they end with it.
    const since = isRefresh && application && consentedSince(application, dependencies);
    if (since && (await consents.hasEnded(id, application.id, since))) return undefined;
    const account = await inChosenGroup(ctx, found, { token, application });
    if (!account) return undefined;
    // Only with a token: an authorization request gets a page instead (engine/interaction-policy.ts).
    if (token?.clientId && !(await mayHoldToken(ctx, account, { token, application }))) return undefined;
    return engineAccount(account, application, token);
  };

  /** Whether the rotation of a refresh token has lasted as long as the setting, or the application, lets it now. */
  function isTooOld(ctx: KoaContextWithOIDC, token: Token, application: ClientApplication | undefined): boolean {
    const { refresh_token_days: most } = settings.latest();
    const days = Math.min(most, application?.metadata.refresh_token_days ?? most);
    if (startOf(token) + days * 24 * 3600 > engineSeconds()) return false;
    const { clientId } = token;
    appContext(ctx).state.log().info({ clientId }, 'the refresh token has reached refresh_token_days');
    return true;
  }

  /**
   * The account as a member of the group of the sign-in, if it was for one. If it has left the group, or the group does not open the
   * application any more: undefined, or the error of a token request.
   */
  async function inChosenGroup(
    ctx: KoaContextWithOIDC,
    account: Account,
    { token, application }: { token: Token | undefined; application: ClientApplication | undefined },
  ): Promise<AccountInGroup | undefined> {
    const chosen = chosenGroupOf(token);
    if (chosen === undefined) return account;
    const mayOpen = (one: Account) => !application || accessDecision(application, one).allowed;
    const member = await inGroup(account, chosen, db);
    if (member && mayOpen(member)) return member;
    // The user may not open it in any group: `mayHoldToken` rejects the account, and ends the grant.
    if (!mayOpen(account)) return member ?? account;
    if (ctx.oidc.route !== 'token') return undefined;
    if (token?.kind === 'RefreshToken') await token.destroy();
    throw groupEnded(account);
  }

  /** Whether the account may hold this token now: by the rules of the application, and of the APIs that it is for. */
  async function mayHoldToken(
    ctx: KoaContextWithOIDC,
    account: AccountInGroup,
    { token, application }: { token: Token; application: ClientApplication | undefined },
  ): Promise<boolean> {
    const isTokenRequest = ctx.oidc.route === 'token';
    // A token that an API asks about, or uses, comes from another address than its user.
    const address = isTokenRequest ? appContext(ctx).state.request.address : undefined;
    const { allowed, reason } = application ? accessDecision(application, account, address) : UNREGISTERED;
    if (application && reason === 'other_network') throw otherNetwork(application, address);
    if (!allowed) {
      if (isTokenRequest) await revokeAccess(account.id, token.clientId ?? '', reason, appContext(ctx).state.request);
      return false;
    }
    const apis = apisOf(ctx, token);
    if (account.group && apis.some((api) => Object.hasOwn(ownResources(config.issuer), api))) throw ownApiInGroup();
    const closed = await unreachableApi(dependencies, apis, account);
    if (closed && isTokenRequest) throw unreachableTarget(closed);
    if (closed) return false;
    if (application && FIRST_USE.has(token.kind)) await consents.recordUse(account.id, application.id);
    return true;
  }

  async function revokeAccess(
    accountId: string,
    clientId: string,
    access: string,
    request: Parameters<Audit['record']>[0]['request'],
  ) {
    await sessions.removeGrants(accountId, clientId);
    await audit.record({
      type: 'token.revoked',
      outcome: 'success',
      reason: 'access_lost',
      subjectId: accountId,
      clientId,
      data: { access },
      ...(request && { request }),
    });
  }
}

/** The error of a token request from outside of the application's networks. It ends no grant: the next one may come from inside. */
export function otherNetwork(application: ClientApplication, address: string | undefined) {
  const brokenRule: BrokenRule = { rule: 'network', ...brokenNetworkRule(application, address) };
  return Object.assign(new errors.InvalidGrant('the application may not be used from this network'), {
    error_description: 'the application may not be used from this network',
    brokenRule,
  });
}

/** The error of a token request for a group that the user is no longer in, or that does not open the application any more. */
function groupEnded({ username }: Account) {
  const description = 'the group of the sign-in does not open the application to the user now';
  const brokenRule: BrokenRule = {
    rule: 'group',
    received: `${username} is not in it`,
    expected: 'the group of the sign-in',
  };
  return Object.assign(new errors.InvalidGrant(description), { error_description: description, brokenRule });
}

/** The rights in Gatehouse itself are those of the user, not of one group. */
const ownApiInGroup = () => new errors.InvalidTarget('a sign-in for one group gets no token for this resource');

/** The APIs that a token is for, or is requested for. They are known before a refresh token is used, so that an error leaves it unused. */
function apisOf({ oidc: { params, requestParamScopes, route } }: KoaContextWithOIDC, token: TokenOfApi): string[] {
  if (route !== 'token') return [token.aud ?? []].flat();
  // As the engine resolves it: a refresh may leave `openid` out (RFC 6749 6).
  const scopes = params?.scope === undefined ? token.scopes : requestParamScopes;
  const isForUser = scopes?.has('openid') === true;
  return [params?.resource ?? (isForUser ? [] : (token.resource ?? []))].flat().map(String);
}

interface TokenOfApi {
  aud?: string | string[];
  resource?: string | string[];
  scopes?: ReadonlySet<string>;
}

/** The error of a token request for an API that is closed to the user. It ends no grant, which may be for more than this API. */
function unreachableTarget({ api: _api, ...brokenRule }: ClosedApi) {
  const description = 'the user may not reach this resource';
  return Object.assign(new errors.InvalidTarget(description), { error_description: description, brokenRule });
}

/** When the first refresh token of this rotation was issued, in epoch seconds; absent from oidc-provider's types. */
function startOf(token: object): number {
  const { iiat = engineSeconds() } = token as { iiat?: number };
  return iiat;
}

/** The account of this server that belongs to the engine's account object, for one group if the token is. */
export function accountOf(found: EngineAccount): AccountInGroup {
  return found.record as AccountInGroup;
}

/** The account as the engine has it, with the claims for a token, or for userinfo. */
function engineAccount(
  account: AccountInGroup,
  application: ClientApplication | undefined,
  token: Token | undefined,
): EngineAccount {
  return {
    accountId: account.id,
    record: account,
    claims: async (use, _scope, asked = {}, rejected = []) => {
      const claims = claimsOf(account, application, use, requestedLanguages(token, use));
      // The parameter `claims` names only `groups`: without the scope, the engine would drop the claim that stands for too many of them.
      const asksGroups = 'groups' in asked && !rejected.includes('groups');
      if (asksGroups && GROUPS_OVERAGE in claims)
        claims[APPLICATION_CLAIMS].push({ claims: { [GROUPS_OVERAGE]: true } });
      return { ...claims, sub: account.id };
    },
  };
}

/** Every claim that scopes can request, and the application's own claims, each with its scope if it has one. */
export function claimsOf(
  account: AccountInGroup,
  application: ClientApplication | undefined,
  use: string,
  languages?: RequestedLanguages,
) {
  const { claims: declared, ...view } = application?.metadata ?? {};
  const { attributes } = account;
  const visible = withVisibleRoles(account, view, use === 'userinfo' ? undefined : limits.groups.inToken);

  const ofApplication: ApplicationClaims[] = [];
  for (const { claim, field, scope } of claimSources(declared)) {
    const base = taggableName(field);
    const localized = languages && base !== undefined ? valuesInLanguages(claim, { attributes, base }, languages) : {};
    ofApplication.push({ scope, claims: { ...customClaims(visible, { [claim]: field }), ...localized } });
  }
  if (account.group) ofApplication.push({ claims: { group: account.group } });

  const localizedClaims: Record<string, Record<string, unknown>> = {};
  if (languages)
    for (const claim of taggableClaims)
      localizedClaims[claim] = valuesInLanguages(claim, { attributes, base: claim }, languages);
  return { ...claimsFor(visible), [LOCALIZED_CLAIMS]: localizedClaims, [APPLICATION_CLAIMS]: ofApplication };
}

// Claims of access tokens beside the standard ones of the engine. Each names the sign-in behind it (acr, amr, auth_time;
// RFC 9068 2.2.1 and RFC 9470 6), for introspection where the token is opaque. JWT access tokens also hold roles and permissions
// (RFC 9068 2.2.3): those that are visible to the application, when the user has granted the scopes `roles` and `permissions`.

interface IssuedToken {
  kind: string;
  accountId?: string;
  resourceServer?: { accessTokenFormat?: string };
  /** Of a token that follows from another one: its claims. */
  issuedClaims?: Record<string, unknown>;
}

/** Claims of JWT access tokens that have a scope of their name. */
export const BY_SCOPE = ['roles', 'permissions', 'groups'] as const;

/** oidc-provider's `extraTokenClaims`. Rejects a client that gets a token for itself from outside of its networks. */
export function createExtraTokenClaims({ clients }: OidcServices) {
  return async (ctx: KoaContextWithOIDC, issued: unknown) => {
    const { client } = ctx.oidc;
    if ((issued as IssuedToken).kind !== 'ClientCredentials' || !client)
      return claimsOfUser(ctx, issued as IssuedToken);
    const application = await clients.applicationOf(client.clientId);
    const { address } = appContext(ctx).state.request;
    if (application && !isInNetworks(application, address)) throw otherNetwork(application, address);
    return undefined;
  };
}

async function claimsOfUser(
  { oidc }: KoaContextWithOIDC,
  token: IssuedToken,
): Promise<Record<string, unknown> | undefined> {
  if (token.issuedClaims) return token.issuedClaims;
  const { Grant: grant, AuthorizationCode, RefreshToken, DeviceCode } = oidc.entities;
  const source = AuthorizationCode ?? RefreshToken ?? DeviceCode;
  if (token.kind !== 'AccessToken' || !grant || !source) return undefined;
  const { acr, amr, authTime } = source;
  const signIn = { ...(acr && { acr }), ...(amr && { amr }), ...(authTime && { auth_time: authTime }) };
  if (token.resourceServer?.accessTokenFormat !== 'jwt') return signIn;
  const allowed = grant.getOIDCScopeFiltered(source.scopes).split(' ');
  const wanted = BY_SCOPE.filter((scope) => allowed.includes(scope));
  const group = oidc.account && accountOf(oidc.account).group;
  if (group) Object.assign(signIn, { group });
  if (wanted.length === 0 || !oidc.account) return signIn;
  const claims = await oidc.account.claims('access_token', wanted.join(' '), {}, []);
  const byScope = wanted.flatMap((scope) => claimsByScope[scope]).map((claim) => [claim, claims[claim]] as const);
  return { ...signIn, ...Object.fromEntries(byScope.filter(([, value]) => value !== undefined)) };
}

// Which clients may introspect a token (RFC 7662 2.2 and 4): its own client, and confidential clients as the APIs that
// receive it. A pairwise client receives only the subjects of its own sector (OIDC Core 8), also for another application's
// token.

interface IntrospectedToken {
  kind: string;
  clientId?: string;
  accountId?: string;
  /** Additional members of the response, signed or not. The engine's own members replace them, except `sub`. */
  extra?: Record<string, unknown> | undefined;
  scopes?: ReadonlySet<string>;
}

/** oidc-provider's `features.introspection.allowedPolicy`; a client that it does not allow gets `active: false`. */
export function createIntrospectionPolicy({ subjects }: OidcServices, findAccount: FindAccount) {
  return async function mayIntrospect(
    ctx: KoaContextWithOIDC,
    client: Client,
    token: IntrospectedToken,
  ): Promise<boolean> {
    if (token.clientId !== client.clientId) {
      // A public client proves only that it has the token. A refresh token may only be introspected by its own client.
      if (client.clientAuthMethod === 'none' || token.kind === 'RefreshToken') return false;
      // The tokens of a disabled client are invalid, and would cause an error in the engine.
      if (!token.clientId || !(await ctx.oidc.provider.Client.find(token.clientId))) return false;
    }
    const { accountId } = token;
    if (accountId === undefined) return true;
    const found = await findAccount(ctx, accountId, token as never);
    if (!found) return false;
    // The engine adds its own members in one object literal behind `extra`, which takes V8 ten times as long (16 µs) unless `extra` is empty.
    Object.assign(ctx.body as object, token.kind === 'AccessToken' ? await currentClaims(token, found) : token.extra);
    const sector = sectorOfClient(client);
    token.extra = sector === undefined ? undefined : { sub: subjects.of(sector, accountId) };
    return true;
  };
}

/**
 * The additional members with the roles, permissions and groups of this moment, as the application of the token receives them: an API that
 * asks wants to know what the user may do now. A JWT says which of them it was issued with.
 */
async function currentClaims({ extra: issued = {}, scopes }: IntrospectedToken, account: EngineAccount) {
  const { group } = accountOf(account);
  const extra = { ...issued, ...(group && { group }) };
  const wanted = BY_SCOPE.filter((scope) => scopes?.has(scope) || claimsByScope[scope].some((claim) => claim in extra));
  if (wanted.length === 0) return extra;
  const names = new Set<string>(wanted.flatMap((scope): readonly string[] => claimsByScope[scope]));
  const current = await account.claims('introspection', wanted.join(' '), {}, []);
  return {
    ...Object.fromEntries(Object.entries(extra).filter(([name]) => !names.has(name))),
    ...Object.fromEntries(Object.entries(current).filter(([name]) => names.has(name))),
  };
}
