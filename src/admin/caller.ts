// Who calls the admin API: a bearer token of this very server (RFC 6750), and what it may do. A person's token may do what
// the person may, no more than its scopes name; an application's own token what its scopes name. Read anew at each call.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { By } from '../audit/audit.ts';
import { bearerOf } from '../http/authorization.ts';
import type { Context } from '../http/context.ts';
import { type AppError, forbidden, tooManyRequests, unauthorized } from '../http/errors.ts';
import type { OwnTokens } from '../oidc/own-tokens.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import { addressKey } from '../rate-limits/sign-in-guard.ts';
import type { Authority } from '../rbac/authority.ts';
import { EVERYTHING_SCOPE, type OwnPermission, ownPermissions } from '../rbac/built-in.ts';

export interface Caller {
  /** client_id of the application that calls. */
  app: string;
  /** The person it calls for; absent when it calls by itself. */
  account?: Account;
  rights: 'everything' | readonly string[];
  /** For the functions that it has called. */
  by: By;
}

export interface Callers {
  /** Throws 401 without a good token, 429 when there are too many calls. */
  identify(ctx: Context): Promise<Caller>;
}

export interface CallersNeeds {
  tokens: Pick<OwnTokens, 'find'>;
  accounts: Pick<Accounts, 'find'>;
  authority: Pick<Authority, 'rightsOf'>;
  rateLimits: Pick<RateLimits, 'consume' | 'peek'>;
  /** What the tokens must be made for. */
  audience: string;
}

export function createCallers({ tokens, accounts, authority, rateLimits, audience }: CallersNeeds): Callers {
  async function refused(ctx: Context, error: AppError): Promise<never> {
    await rateLimits.consume('api:address', addressKey(ctx.state.request.address));
    throw error;
  }

  return {
    async identify(ctx) {
      const { request } = ctx.state;
      const failures = await rateLimits.peek('api:address', addressKey(request.address));
      if (!failures.allowed) throw tooManyRequests(failures.retryAfterSeconds);
      const value = bearerOf(ctx);
      if (value === undefined) return refused(ctx, unauthorized('unauthenticated', challenge(audience)));
      const token = await tokens.find(value);
      if (token?.audience !== audience)
        return refused(ctx, unauthorized('invalid_token', challenge(audience, 'invalid_token')));
      const { clientId: app, accountId, scopes } = token;
      const account = accountId === undefined ? undefined : await accounts.find(accountId);
      if (accountId !== undefined && !account?.isActive)
        return refused(ctx, unauthorized('invalid_token', challenge(audience, 'invalid_token')));
      const counted = await rateLimits.consume('api:caller', account ? `${app} ${account.id}` : app);
      if (!counted.allowed) throw tooManyRequests(counted.retryAfterSeconds, { message: 'There were too many calls.' });
      const rights = rightsOf(scopes, account && (await authority.rightsOf(account.id)));
      const by: By = { actorApp: app, holds: rights, request, ...(account && { actorId: account.id }) };
      return { app, rights, by, ...(account && { account }) };
    },
  };
}

/** Throws 403 when the caller lacks one of the permissions. */
export function assertMay({ rights }: Pick<Caller, 'rights'>, needed: readonly OwnPermission[]): void {
  if (rights === 'everything') return;
  const missing = needed.filter((permission) => !rights.includes(permission));
  if (missing.length === 0) return;
  throw forbidden('forbidden', {
    advice: `It needs ${missing.join(' and ')}.`,
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${missing.join(' ')}"` },
  });
}

/** @param person what the person behind the token may do; absent for an application by itself. */
export function rightsOf(
  scopes: readonly string[],
  person: 'everything' | readonly string[] | undefined,
): 'everything' | string[] {
  if (scopes.includes(EVERYTHING_SCOPE))
    return person === undefined || person === 'everything' ? 'everything' : [...person];
  const named = ownPermissions.filter((permission) => scopes.includes(permission));
  return person === undefined || person === 'everything' ? named : named.filter((one) => person.includes(one));
}

function challenge(realm: string, error?: string) {
  return { headers: { 'WWW-Authenticate': `Bearer realm="${realm}"${error ? `, error="${error}"` : ''}` } };
}
