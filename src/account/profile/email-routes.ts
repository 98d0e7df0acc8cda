// /account/email: change the email address, which takes effect when the link mailed to the new address is opened; and
// verify the current one. The response does not reveal whether another account has the new address.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { tooManyRequests } from '../../base/http/errors.ts';
import { parseForm } from '../../base/http/input.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { AccountPageHelpers } from '../account-page-helpers.ts';
import type { EmailRequest, EmailVerification } from '../registration/email-verification.ts';

export interface EmailRoutesDependencies {
  page: AccountPageHelpers;
  emailVerification: EmailVerification;
  hasMailServer: boolean;
}

const PATH = '/account/email';
const form = z.object({ email: z.string().max(254) });

const PROBLEMS: Partial<Record<EmailRequest['outcome'], PageText>> = {
  'not-an-address': t('registration.invalid-email'),
  unchanged: t('email.unchanged'),
};

export function emailRoutes({
  page,
  emailVerification,
  hasMailServer,
}: EmailRoutesDependencies): Router<State, Extras> {
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: PATH });

  router.get('/', signedIn.requireSignIn, signedIn.recentAuthentication, (ctx) => show(ctx));

  router.post('/', signedIn.requireSignIn, signedIn.recentAuthentication, checkChange, async (ctx) => {
    const { email } = await parseForm(ctx, form);
    const result = await emailVerification.requestEmailChange(signedIn.userOf(ctx).account, email, page.actorOf(ctx));
    const problem = PROBLEMS[result.outcome];
    if (problem) return show(ctx, { typed: email, problem });
    answer(ctx, result, t('email.sent', { email: email.trim() }));
  });

  router.post('/verify', signedIn.requireSignIn, checkChange, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const result = await emailVerification.requestVerification(account, page.actorOf(ctx));
    answer(ctx, result, t('email.verification-sent', { email: account.email ?? '' }));
  });

  function answer(ctx: Context, result: EmailRequest, sentence: PageText): void {
    if (result.outcome === 'wait')
      throw tooManyRequests(result.retryAfterSeconds, {
        next: { href: '/account', label: t('verify-email.go-to-account') },
      });
    if (result.outcome !== 'sent') page.redirectWithNotice(ctx, '/account', t('email.already-confirmed'), 'plain');
    else if (hasMailServer) page.redirectWithNotice(ctx, '/account', sentence, 'plain');
    else page.redirectWithNotice(ctx, '/account', t('email.no-server'), 'warn');
  }

  function show(ctx: Context, { typed = '', problem }: { typed?: string; problem?: PageText } = {}): void {
    const { account } = signedIn.userOf(ctx);
    const isManagedByFile = account.source === 'file';
    ctx.render('account/email', { account, isManagedByFile, typed, problem }, problem ? 400 : 200);
  }

  return router;
}
