// Who calls the admin API: a bearer token that this server issued (RFC 6750) or an API key, and its rights. A user's token has the
// rights of the user that its scopes name, an application's own token those that its scopes name. Read at each call.

import { bearerOf } from '../../base/http/authorization-header.ts';
import type { Context } from '../../base/http/context.ts';
import { type AppError, forbidden, tooManyRequests, unauthorized } from '../../base/http/errors.ts';
import type { Actor, Proof } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import { inactiveReason } from '../../people/accounts/active.ts';
import { type ApiKey, looksLikeKey } from '../../people/api-keys/api-keys.ts';
import { administrationAcr, opensAdministration, proofOf, type StatedSignIn } from '../../people/mfa/step-up.ts';
import { adminApi, EVERYTHING_SCOPE, OWNERS_SCOPE, ownersApi, ownPermissions } from '../../people/rbac/built-in.ts';
import { meets, type Need, permissionsOf, sharedRights, withoutLimit } from '../../people/rbac/rights.ts';
import type { AdminServices } from '../admin-services.ts';
import { stepUpChallenge } from '../proof/sensitive-changes.ts';

export interface Caller {
  /** Tells callers apart: the application and the user it calls for, or the API key. */
  id: string;
  /** client_id of the application that calls; absent with an API key. */
  app?: string;
  apiKey?: { id: string; name: string };
  /** The user it calls for; absent when it calls without a user (client_credentials). */
  account?: Account;
  rights: 'everything' | readonly string[];
  /** The actor, for the audit. */
  by: Actor;
}

export type Callers = ReturnType<typeof createCallers>;

/** Authenticates callers, with rate limits by address (failures) and by caller. */
export function createCallers(services: AdminServices) {
  const { accounts, authority, config, directoryUsers, noteSeen, oidc, rateLimits } = services;
  const keyCallers = createKeyCallers(services);
  const audience = adminApi(config.issuer);

  async function reject(ctx: Context, error: AppError): Promise<never> {
    await rateLimits.consume('api:address', { address: ctx.state.request.address });
    throw error;
  }

  async function assertNotTooMany(name: string): Promise<void> {
    const counted = await rateLimits.consume('api:caller', name);
    if (!counted.allowed) throw tooManyRequests(counted.retryAfterSeconds, { message: 'There were too many calls.' });
  }

  const rejectInvalid = (ctx: Context, realm = audience) =>
    reject(ctx, unauthorized('invalid_token', challenge(realm, 'invalid_token')));

  /** The token of a request, before anything else is looked at. */
  async function bearerTokenOf(ctx: Context, realm: string): Promise<string> {
    const failures = await rateLimits.peek('api:address', { address: ctx.state.request.address });
    if (!failures.allowed) throw tooManyRequests(failures.retryAfterSeconds);
    return bearerOf(ctx) ?? reject(ctx, unauthorized('unauthenticated', challenge(realm)));
  }

  async function callerWithKey(ctx: Context, text: string): Promise<Caller> {
    const found = await keyCallers.find(ctx, text);
    if (!found) return rejectInvalid(ctx);
    const { key, account, rights, by } = found;
    const id = `API key ${key.id}`;
    await assertNotTooMany(id);
    return { id, apiKey: { id: key.id, name: key.name }, account, rights, by };
  }

  async function callerWithToken(ctx: Context, value: string): Promise<Caller> {
    const token = await oidc.apiTokens.find(value);
    if (token?.audience !== audience) return rejectInvalid(ctx);
    const { clientId: app, accountId, scopes, signIn } = token;
    if (accountId !== undefined && !(await directoryUsers.check(accountId))) return rejectInvalid(ctx);
    const account = accountId === undefined ? undefined : await accounts.find(accountId);
    if (accountId !== undefined && !account?.isActive) return rejectInvalid(ctx);
    if (account) noteSeen(account);
    const proof = account && (await proofAtRequiredLevel(services, account, signIn));
    await assertNotTooMany(account ? `${app} ${account.id}` : app);
    const rights = rightsOf(scopes, account && (await authority.rightsOfUser(account.id)));
    const by: Actor = {
      actorApp: app,
      grantedRights: rights,
      request: ctx.state.request,
      ...(account && { actorId: account.id }),
      ...(proof && { proof }),
    };
    return { id: `${app} ${account?.id ?? ''}`, app, rights, by, ...(account && { account }) };
  }

  return {
    /** Throws 401 without a valid token or below the required acr, 429 after too many calls. */
    async identify(ctx: Context): Promise<Caller> {
      const value = await bearerTokenOf(ctx, audience);
      return looksLikeKey(value) ? callerWithKey(ctx, value) : callerWithToken(ctx, value);
    },

    /**
     * A user, through an application that the user lets manage groups. The token gives no permission in Gatehouse, whatever the user has:
     * people/groups asks for the ownership. A change counts as one at the account page. Throws as `identify` does, and 403 without the scope.
     */
    async identifyOwner(ctx: Context): Promise<Caller> {
      const realm = ownersApi(config.issuer);
      const token = await oidc.apiTokens.find(await bearerTokenOf(ctx, realm));
      if (token?.audience !== realm || token.accountId === undefined) return rejectInvalid(ctx, realm);
      const account = (await directoryUsers.check(token.accountId)) ? await accounts.find(token.accountId) : undefined;
      if (!account?.isActive) return rejectInvalid(ctx, realm);
      noteSeen(account);
      const { clientId: app, scopes } = token;
      const id = `${app} ${account.id}`;
      await assertNotTooMany(id);
      if (!scopes.includes(OWNERS_SCOPE)) {
        const headers = { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${OWNERS_SCOPE}"` };
        throw forbidden('forbidden', { advice: `It needs the scope ${OWNERS_SCOPE}.`, headers });
      }
      if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
        const changes = await rateLimits.consume('own-changes:account', account.id);
        if (!changes.allowed) throw tooManyRequests(changes.retryAfterSeconds);
      }
      const by: Actor = { actorId: account.id, actorApp: app, grantedRights: [], request: ctx.state.request };
      return { id, app, account, rights: [], by };
    },
  };
}

/** Throws insufficient_user_authentication (RFC 9470) below the level that the console requires. */
async function proofAtRequiredLevel(
  { now, settings, signInPolicy }: AdminServices,
  account: Account,
  signIn: StatedSignIn,
): Promise<Proof> {
  const strongest = await signInPolicy.strongestProof(account);
  const levels = { strongest: strongest.acr, staff: signInPolicy.staffAcr(account) };
  if (opensAdministration(signIn, levels)) {
    return proofOf(signIn, strongest, { now: now(), minutes: settings.latest().recent_authentication_minutes });
  }
  throw unauthorized('proof_needed', {
    message: 'The sign-in behind this access token is too weak for administration.',
    advice: 'Sign in again with two-step verification.',
    headers: { 'WWW-Authenticate': stepUpChallenge({ acr: administrationAcr(levels) }) },
  });
}

/** Throws 403 when the caller lacks one of the needs. */
export function assertMay({ rights }: Caller, needs: readonly Need[]): void {
  const missing = needs.filter((need) => !meets(rights, need)).map(permissionsOf);
  if (missing.length === 0) return;
  const scope = missing.map(([first]) => first).join(' ');
  throw forbidden('forbidden', {
    advice: `It needs ${missing.map((anyOf) => anyOf.join(' or ')).join(' and ')}.`,
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  });
}

/**
 * The rights of a token: those that its scopes name and that the user has.
 * @param userRights those of the user behind the token; undefined for an application's own token
 */
export function rightsOf(
  scopes: readonly string[],
  userRights: 'everything' | readonly string[] | undefined,
): 'everything' | string[] {
  if (scopes.includes(EVERYTHING_SCOPE))
    return userRights === undefined || userRights === 'everything' ? 'everything' : [...userRights];
  const named = ownPermissions.filter((permission) => scopes.includes(permission));
  if (userRights === undefined || userRights === 'everything') return named;
  const isNamed = (right: string) => named.some((one) => one === withoutLimit(right));
  return userRights.filter(isNamed).sort();
}

function challenge(realm: string, error?: string) {
  return { headers: { 'WWW-Authenticate': `Bearer realm="${realm}"${error ? `, error="${error}"` : ''}` } };
}

// Calls of the admin API with an API key: the key acts for its owner, with the permissions that both have at this moment. Every fault
// gets the response to a wrong token; the log has the reason.

interface KeyCaller {
  key: ApiKey;
  account: Account;
  rights: string[];
  by: Actor;
}

function createKeyCallers(services: AdminServices) {
  const { apiKeys, recordKeyUse, accounts, authority, directoryUsers, noteSeen, repeatedEntries } = services;

  async function reject(ctx: Context, reason: string, key?: ApiKey): Promise<undefined> {
    ctx.state.log().info({ reason, keyId: key?.id }, 'API key rejected');
    if (!key) return undefined;
    const { id, name, ownerId } = key;
    const about = { subjectId: ownerId, request: ctx.state.request, data: { keyId: id, name } };
    await repeatedEntries.record({ ...about, type: 'api-key.used', outcome: 'failure', reason });
    return undefined;
  }

  return {
    /** The caller with this key; undefined when it is not valid now. */
    async find(ctx: Context, text: string): Promise<KeyCaller | undefined> {
      const { key, fault } = await apiKeys.present(text);
      if (!key || fault) return reject(ctx, fault ?? 'unknown', key);
      const account = (await directoryUsers.check(key.ownerId)) ? await accounts.find(key.ownerId) : undefined;
      if (!account?.isActive) return reject(ctx, account ? inactiveReason(account) : 'unknown_account', key);
      noteSeen(account);
      const rights = sharedRights(key.permissions, await authority.rightsOfUser(account.id));
      const by: Actor = {
        actorId: account.id,
        apiKey: { id: key.id, name: key.name },
        grantedRights: rights,
        request: ctx.state.request,
      };
      recordKeyUse(key, by);
      return { key, account, rights, by };
    },
  };
}
