// Pages for signed-in users: whose session it is, and whether the authentication is recent.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Context, Middleware } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { unauthorized } from '../http/errors.ts';
import { isPage } from '../http/pages/page-request.ts';
import { limits } from '../limits.ts';
import { acrLevel, MFA_ACR } from '../mfa/acr.ts';
import type { Clock } from '../platform/clock.ts';
import type { RpSession, RpSessions } from './sessions.ts';

export interface SignedInUser {
  account: Account;
  session: RpSession;
}

export interface SignedIn {
  /** In front of a page: redirects a user without a session to /login, which leads back. */
  requireSignIn: Middleware;
  /** Behind `requireSignIn`: the strongest authentication that the account can reach, in the last minutes. */
  recentAuthentication: Middleware;
  /** The same for a form whose page has the same path: the authentication leads back there. */
  recentAuthenticationHere: Middleware;
  /** Behind `requireSignIn`: the second factor, where the account has one or the settings demand it; it need not be recent. */
  secondFactor: Middleware;
  userOf(ctx: Context): SignedInUser;
}

export interface SignedInDependencies {
  cookies: Cookies;
  rpSessions: RpSessions;
  accounts: Pick<Accounts, 'find'>;
  /** The strongest acr that this account can reach. */
  strongestAcr(account: Account): Promise<string>;
  /** The acr that the settings demand of users with a right in Gatehouse; undefined for others. */
  staffAcr(account: Account): string | undefined;
  /** Records a request that the user made with the session. */
  recordActivity(ssoUid: string): Promise<void>;
  now: Clock;
}

export function createSignedIn(dependencies: SignedInDependencies): SignedIn {
  const { cookies, rpSessions, accounts, recordActivity } = dependencies;
  const users = new WeakMap<object, SignedInUser>();

  function userOf(ctx: Context): SignedInUser {
    const user = users.get(ctx.req);
    if (!user) throw unauthorized('unauthenticated');
    return user;
  }

  return {
    userOf,

    async requireSignIn(ctx, next) {
      const session = await rpSessions.find(cookies.get(ctx, 'rpSession'));
      const account = session && (await accounts.find(session.userId));
      if (session && account?.isActive) {
        users.set(ctx.req, { account, session });
        if (isPage(ctx)) await recordActivity(session.ssoUid);
        return next();
      }
      if (!isRead(ctx)) throw unauthorized('unauthenticated', { next: { href: '/login', label: 'Sign in' } });
      redirectToLogin(ctx, { return_to: ctx.url });
    },

    recentAuthentication: requireRecentAuthentication(dependencies, userOf, () => '/account'),
    recentAuthenticationHere: requireRecentAuthentication(dependencies, userOf, (ctx) => ctx.path),
    secondFactor: requireSecondFactor(dependencies, userOf),
  };
}

/** @param pageOf the page of the form of a rejected POST */
function requireRecentAuthentication(
  { strongestAcr, now }: SignedInDependencies,
  userOf: SignedIn['userOf'],
  pageOf: (ctx: Context) => string,
): Middleware {
  return async (ctx, next) => {
    const { account, session } = userOf(ctx);
    const strongest = await strongestAcr(account);
    const isRecent = (now().getTime() - session.authTime.getTime()) / 1000 <= limits.recentAuthentication.seconds;
    // A user who has lost the strongest factor signs in with a recovery code in order to replace it.
    const isStrong = acrLevel(session.acr) >= acrLevel(strongest) || session.amr.includes('recovery');
    if (isRecent && isStrong) return next();
    const back = isRead(ctx) ? ctx.url : pageOf(ctx);
    const stepUp = { return_to: back, acr_values: strongest, login_hint: account.username };
    // A recent authentication needs only the missing factor.
    demandProof(ctx, isRecent ? stepUp : { ...stepUp, prompt: 'login' });
  };
}

function requireSecondFactor({ strongestAcr, staffAcr }: SignedInDependencies, userOf: SignedIn['userOf']): Middleware {
  return async (ctx, next) => {
    const { account, session } = userOf(ctx);
    const strongest = await strongestAcr(account);
    const own = acrLevel(strongest) > acrLevel(MFA_ACR) ? MFA_ACR : strongest;
    const demanded = staffAcr(account) ?? own;
    const required = acrLevel(demanded) > acrLevel(own) ? demanded : own;
    if (acrLevel(session.acr) >= acrLevel(required)) return next();
    if (session.amr.includes('recovery')) {
      if (acrLevel(session.acr) >= acrLevel(demanded)) return next();
      // A recovery code replaces a lost factor on the account pages, and opens nothing that demands a passkey.
      throw unauthorized('proof_needed', {
        message: 'This page needs a passkey.',
        advice: 'A recovery code is not enough. Add a passkey, and sign in with it.',
        next: { href: '/account/factors', label: 'Second factors and passkeys' },
      });
    }
    const back = isRead(ctx) ? ctx.url : ctx.path;
    demandProof(ctx, { return_to: back, acr_values: required, login_hint: account.username });
  };
}

/** Redirects a page to the sign-in with these parameters. Rejects a form with a link to it: its input would be lost. */
function demandProof(ctx: Context, parameters: Record<string, string>): void {
  if (!isRead(ctx)) {
    const next = { href: loginUrl(parameters), label: 'Confirm that it is you' };
    throw unauthorized('proof_needed', { next });
  }
  redirectToLogin(ctx, parameters);
}

function redirectToLogin(ctx: Context, parameters: Record<string, string>): void {
  ctx.status = 303;
  ctx.redirect(loginUrl(parameters));
}

function loginUrl(parameters: Record<string, string>): string {
  return `/login?${new URLSearchParams(parameters)}`;
}

function isRead({ method }: Context): boolean {
  return method === 'GET' || method === 'HEAD';
}
