// /verify-email: a mailed link and a button that verify an email address, or change to it. Only the user who asked for the mail can use it,
// signed in: its recipient may be another person, who would confirm the address of a stranger's account.

import Router from '@koa/router';
import type { Extras, State } from '../../base/http/context.ts';
import { badRequest } from '../../base/http/errors.ts';
import { t } from '../../base/texts/text.ts';
import { addConfirmRoutes, type ConfirmRoutesDependencies } from '../mailed-links/confirm-routes.ts';
import type { EmailVerification } from '../registration/email-verification.ts';
import type { SignedIn } from '../rp/signed-in.ts';

export interface EmailVerificationRoutesDependencies extends ConfirmRoutesDependencies {
  emailVerification: EmailVerification;
  signedIn: SignedIn;
}

const next = { href: '/account', label: t('verify-email.go-to-account') };

export function emailVerificationRoutes(dependencies: EmailVerificationRoutesDependencies): Router<State, Extras> {
  const { emailVerification, signedIn } = dependencies;
  const router = new Router<State, Extras>();

  addConfirmRoutes(router, dependencies, {
    path: '/verify-email',
    next,
    requireSignIn: signedIn.requireSignIn,
    async find(token, ctx) {
      const found = await emailVerification.find(token);
      if (!found || found.userId === signedIn.userOf(ctx).account.id) return found;
      throw badRequest('link_invalid', { message: t('verify-email.other-account'), next });
    },
    describe: ({ email, isChange }) => ({
      title: isChange ? t('verify-email.use') : t('verify-email.confirm'),
      lead: isChange ? t('verify-email.use-lead') : t('verify-email.confirm-lead'),
      value: email,
      button: isChange ? t('verify-email.use-submit') : t('verify-email.confirm-submit'),
    }),
    confirm: async (ctx, token) =>
      (await emailVerification.confirm(token, signedIn.userOf(ctx).account.id, { request: ctx.state.request })) !==
      'invalid',
    doneMessage: () => ({ title: t('verify-email.done'), lead: t('verify-email.done-lead'), next }),
  });

  return router;
}
