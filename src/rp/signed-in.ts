// Pages of a signed-in person: who it is, and whether they have proven it lately.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Context, Middleware } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { unauthorized } from '../http/errors.ts';
import { limits } from '../limits.ts';
import { acrLevel, MFA_ACR } from '../mfa/acr.ts';
import type { Clock } from '../platform/clock.ts';
import type { RpSession, RpSessions } from './sessions.ts';

export interface Person {
  account: Account;
  session: RpSession;
}

export interface SignedIn {
  /** In front of a page: sends whoever is not signed in to /login, and brings them back. */
  required: Middleware;
  /** Behind `required`: the strongest proof that the account has, given in the last minutes. */
  recentProof: Middleware;
  /** The same for a form whose page is at its own address: the proof leads back there. */
  recentProofHere: Middleware;
  /** Behind `required`: the second factor of this sign-in, where the account has one; however long ago. */
  secondFactor: Middleware;
  of(ctx: Context): Person;
}

export interface SignedInNeeds {
  cookies: Cookies;
  rpSessions: RpSessions;
  accounts: Pick<Accounts, 'find'>;
  /** The strongest acr that this account can reach. */
  strongestAcr(account: Account): Promise<string>;
  /** The session is in use. */
  seen(ssoUid: string): Promise<void>;
  now: Clock;
}

export function createSignedIn({ cookies, rpSessions, accounts, strongestAcr, seen, now }: SignedInNeeds): SignedIn {
  const people = new WeakMap<object, Person>();
  const isRead = (ctx: Context) => ctx.method === 'GET' || ctx.method === 'HEAD';

  function send(ctx: Context, parameters: Record<string, string>): void {
    ctx.status = 303;
    ctx.redirect(`/login?${new URLSearchParams(parameters)}`);
  }

  function of(ctx: Context): Person {
    const person = people.get(ctx.req);
    if (!person) throw unauthorized('unauthenticated');
    return person;
  }

  /** @param pageOf where the form of a refused POST is */
  const proof =
    (pageOf: (ctx: Context) => string): Middleware =>
    async (ctx, next) => {
      const { account, session } = of(ctx);
      const strongest = await strongestAcr(account);
      const isRecent = (now().getTime() - session.authTime.getTime()) / 1000 <= limits.recentProof.seconds;
      // A recovery code is what is left to somebody who lost the strongest factor, and now wants to replace it.
      const isStrong = acrLevel(session.acr) >= acrLevel(strongest) || session.amr.includes('recovery');
      if (isRecent && isStrong) return next();
      const back = isRead(ctx) ? ctx.url : pageOf(ctx);
      const asked = { return_to: back, acr_values: strongest, login_hint: account.username };
      // What was proven a moment ago is not asked again, only what is missing.
      const again = isRecent ? asked : { ...asked, prompt: 'login' };
      if (isRead(ctx)) return send(ctx, again);
      throw unauthorized('proof_needed', {
        next: { href: `/login?${new URLSearchParams(again)}`, label: 'Confirm that it is you' },
      });
    };

  return {
    of,

    async required(ctx, next) {
      const session = await rpSessions.find(cookies.get(ctx, 'rpSession'));
      const account = session && (await accounts.find(session.userId));
      if (session && account?.isActive) {
        people.set(ctx.req, { account, session });
        await seen(session.ssoUid);
        return next();
      }
      if (!isRead(ctx)) throw unauthorized('unauthenticated', { next: { href: '/login', label: 'Sign in' } });
      send(ctx, { return_to: ctx.url });
    },

    recentProof: proof(() => '/account'),
    recentProofHere: proof((ctx) => ctx.path),

    async secondFactor(ctx, next) {
      const { account, session } = of(ctx);
      const strongest = await strongestAcr(account);
      const wanted = acrLevel(strongest) > acrLevel(MFA_ACR) ? MFA_ACR : strongest;
      if (acrLevel(session.acr) >= acrLevel(wanted) || session.amr.includes('recovery')) return next();
      const asked = { return_to: isRead(ctx) ? ctx.url : ctx.path, acr_values: wanted, login_hint: account.username };
      if (isRead(ctx)) return send(ctx, asked);
      throw unauthorized('proof_needed', {
        next: { href: `/login?${new URLSearchParams(asked)}`, label: 'Confirm that it is you' },
      });
    },
  };
}
