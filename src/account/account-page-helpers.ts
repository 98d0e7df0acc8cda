// Helpers of the account pages: the signed-in user, redirects with a notice, and mail about changes of the account.

import { type Context, type Middleware, seeOther } from '../base/http/context.ts';
import { tooManyRequests } from '../base/http/errors.ts';
import type { Http } from '../base/http/http.ts';
import { jsonWithTexts, readJsonWithTexts } from '../base/texts/stored-text.ts';
import { type PageLink, type PageText, t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import type { AccountChange } from '../core/mail/notify-owner.ts';
import type { Account } from '../people/accounts/account.ts';
import type { People } from '../people/people.ts';
import type { SignedIn } from './rp/signed-in.ts';

/** What a page says once after an action. */
export interface Notice {
  text: PageText;
  /** `good`: it is done. `plain`: it is under way. `warn`: nothing was done, or it needs more. `bad`: it failed. */
  tone: 'good' | 'plain' | 'warn' | 'bad';
  /** What to do instead. */
  link?: PageLink | undefined;
}

export type AccountPageHelpers = ReturnType<typeof createAccountPageHelpers>;

export function createAccountPageHelpers(services: Core & Http & People & { signedIn: SignedIn }) {
  const { signedIn, cookies, notifyOwner, rateLimits } = services;
  const { check: checkCsrf } = services.csrf;
  const { factors, firstEnrolment } = services.mfa;
  const actorOf = (ctx: Context) => ({ actorId: signedIn.userOf(ctx).account.id, request: ctx.state.request });
  const recent = [signedIn.requireSignIn, signedIn.requireRecentAuthentication] as const;
  /** As checkCsrf, for a form that changes the own account, which writes an audit entry: at most 60 of them an hour. */
  const checkChange: Middleware = (ctx, next) =>
    checkCsrf(ctx, async () => {
      const result = await rateLimits.consume('own-changes:account', signedIn.userOf(ctx).account.id);
      const toAccount = { href: '/account', label: t('verify-email.go-to-account') };
      if (!result.allowed) throw tooManyRequests(result.retryAfterSeconds, { next: toAccount });
      await next();
    });
  return {
    signedIn,
    checkCsrf,
    checkChange,
    /** In front of a page that demands a recent proof, and of its form. */
    recent,
    changes: [...recent, checkChange] as const,

    /** Mails a notice about a change of the account to its owner. */
    notifyOwner: (account: Account, change: AccountChange, ctx: Context): Promise<void> =>
      notifyOwner(account, change, ctx.state.request),
    /** The user as the actor of an audit event. */
    actorOf,

    /** Rejects the request when the user has no second factor and may not set one up yet. */
    mayEnrol: (async (ctx, next) => {
      const { account } = signedIn.userOf(ctx);
      if (!(await firstEnrolment.isAllowed(account, await factors.of(account.id)))) {
        await firstEnrolment.demandApproval(account, actorOf(ctx));
      }
      await next();
    }) satisfies Middleware,

    /** Redirects to a page, which shows this message once. */
    redirectWithNotice(
      ctx: Context,
      path: string,
      text?: PageText,
      tone: Notice['tone'] = 'good',
      link?: PageLink,
    ): void {
      if (text) cookies.set(ctx, 'notice', Buffer.from(jsonWithTexts({ text, tone, link })).toString('base64url'));
      seeOther(ctx, path);
    },

    /** The message of `redirectWithNotice`; returned once. */
    takeNotice(ctx: Context): Notice | undefined {
      const message = cookies.get(ctx, 'notice');
      if (!message) return undefined;
      cookies.clear(ctx, 'notice');
      return readJsonWithTexts(Buffer.from(message, 'base64url').toString()) as Notice;
    },
  };
}
