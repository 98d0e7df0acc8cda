// What the grants share that give a token for a person without a page: token exchange and identity assertions.

import { canonicalResource } from '../../applications/uris.ts';
import { limits } from '../../base/limits.ts';
import { defined } from '../../base/platform/defined.ts';
import { createThrottle } from '../../base/platform/throttle.ts';
import type { Core } from '../../core/core.ts';
import type { BrokenRule } from '../../core/rejections/rules.ts';
import { appContext, asciiText } from './engine/app-context.ts';
import {
  type Account,
  engineSeconds,
  errors,
  grantHelpers,
  type Provider,
  type TokenEndpointGrantContext,
} from './engine/library.ts';

export type Params = Record<string, unknown>;
export type GrantContext = TokenEndpointGrantContext<Params>;

/** The one API of a parameter that may be repeated, in any spelling. Throws invalid_target. */
export function singleResource(values: readonly unknown[]): string {
  const [value, ...others] = new Set(values.map((one) => (typeof one === 'string' ? canonicalResource(one) : one)));
  if (typeof value !== 'string' || others.length > 0)
    throw new errors.InvalidTarget('resource must name one API that the token is for');
  return value;
}

/** The requested scopes; without any, these. */
export const requestedScopes = ({ oidc }: GrantContext, others: Iterable<string>): string[] => [
  ...(oidc.params.scope === undefined ? others : oidc.requestParamScopes),
];

/**
 * Finds the person at this client and API, with the permissions, roles and groups of now, and makes both those of the request: `issueForApi`
 * issues for them. Throws invalid_grant, or invalid_target for an API that is closed to the person.
 *
 * @param claims what the token says beside its scopes: the group that it is for
 */
export async function findForApi(
  provider: Provider,
  ctx: GrantContext,
  api: string,
  { accountId, claims = {} }: { accountId: string; claims?: object | undefined },
): Promise<Account> {
  const { client, params } = ctx.oidc;
  params.resource = api;
  const asked = { kind: 'AccessToken', clientId: client.clientId, claims } as never;
  const account = await grantHelpers.findAccount(provider, ctx, accountId, asked);
  if (!account) throw invalidGrant('the person may not use this application');
  ctx.oidc.entity('Account', account);
  return account;
}

interface DelegatedToken {
  accountId: string;
  claims?: object | undefined;
  /** It ends no later, in epoch seconds. */
  until?: number;
  /** Its claims beside the standard ones of the engine; undefined members are left out. */
  issuedClaims: Params;
  issuedTokenType?: string;
  /** The scopes of the token: some of these, which the client and the person may have of the API. */
  scopeOf(allowed: ReadonlySet<string>): string[];
  /** Makes the grant that it is issued under, or returns its id. Called when nothing else can reject the request. */
  grantId(scope: string, seconds: number): string | Promise<string>;
}

/** Answers with an access token for the API of `findForApi`, bound to the key of a DPoP proof. */
export async function issueForApi(
  provider: Provider,
  ctx: GrantContext,
  {
    accountId,
    claims,
    until = Number.POSITIVE_INFINITY,
    issuedClaims,
    issuedTokenType,
    scopeOf,
    grantId,
  }: DelegatedToken,
): Promise<void> {
  const { client } = ctx.oidc;
  const dPoP = await grantHelpers.validateDpop(provider, ctx);
  grantHelpers.checkDpopRequired(provider, ctx, dPoP);
  const [api] = await grantHelpers.resolveRequestedResources(provider, ctx);
  // An API of this server, or a website behind a proxy: an API calls it as itself, not for a person.
  if (api?.accessTokenFormat !== 'jwt') throw new errors.InvalidTarget('no such token is issued for this resource');
  const scope = scopeOf(api.scopes).join(' ');
  if (scope === '') throw new errors.InvalidScope('there is no scope that this client may have for the API', '');
  if (dPoP) await grantHelpers.checkDpopReplay(provider, ctx, dPoP, client.clientId);

  const token = new provider.AccessToken({ accountId, client, gty: ctx.oidc.params.grant_type, claims } as never);
  token.resourceServer = api;
  const exp = Math.min(engineSeconds() + token.expiration, until);
  const expiresIn = Math.max(1, exp - engineSeconds());
  const issued = { scope, expiresIn, exp, issuedClaims: defined(issuedClaims) };
  Object.assign(token, issued, { grantId: await grantId(scope, expiresIn) });
  if (dPoP) token.setThumbprint('jkt', dPoP.thumbprint);
  ctx.oidc.entity('AccessToken', token);
  ctx.body = grantHelpers.buildTokenResponse(provider, {
    accessToken: await token.save(),
    issuedTokenType,
    expiresIn,
    scope,
    tokenType: token.tokenType,
  });
}

/** Audits exchanges: one entry within an hour for the same person, client and `data`. */
export function createExchangeRecorder({ audit, now }: Core) {
  const isDue = createThrottle(now, limits.applicationUsage.seconds);
  return async (ctx: GrantContext, data: { api: string } & Record<string, unknown>) => {
    const { client, account } = ctx.oidc;
    const subjectId = account?.accountId ?? '';
    if (!isDue(JSON.stringify([subjectId, client.clientId, data]))) return;
    const { scope } = ctx.body as { scope?: string };
    const { request } = appContext(ctx).state;
    await audit.record({
      type: 'token.exchanged',
      outcome: 'success',
      subjectId,
      clientId: client.clientId,
      data: { ...data, scope: scope ?? '' },
      request,
    });
  };
}

/** The engine keeps what it says about an invalid_grant to itself; here the client learns it. */
export const invalidGrant = (description: string, brokenRule?: BrokenRule) =>
  Object.assign(new errors.InvalidGrant(description), {
    error_description: asciiText(description),
    ...(brokenRule && { brokenRule }),
  });

/** RFC 8693 2.2.2: a subject_token that is invalid, or not acceptable, is an invalid_request. */
export const invalidRequest = (description: string) => new errors.InvalidRequest(description);
