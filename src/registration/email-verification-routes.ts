// /verify-email: a mailed link and a button that verify an email address, or change to it.

import Router from '@koa/router';
import type { Extras, State } from '../http/context.ts';
import { addConfirmRoutes, type ConfirmRoutesDependencies } from '../mailed-links/confirm-routes.ts';
import { t } from '../texts/text.ts';
import type { EmailVerification } from './email-verification.ts';

export interface EmailVerificationRoutesDependencies extends ConfirmRoutesDependencies {
  emailVerification: EmailVerification;
}

const next = { href: '/account', label: t('verify-email.go-to-account') };

export function emailVerificationRoutes(dependencies: EmailVerificationRoutesDependencies): Router<State, Extras> {
  const { emailVerification } = dependencies;
  const router = new Router<State, Extras>();

  addConfirmRoutes(router, dependencies, {
    path: '/verify-email',
    next,
    find: emailVerification.find,
    describe: ({ email, isChange }) => ({
      title: isChange ? t('verify-email.use') : t('verify-email.confirm'),
      lead: isChange ? t('verify-email.use-lead') : t('verify-email.confirm-lead'),
      value: email,
      button: isChange ? t('verify-email.use-submit') : t('verify-email.confirm-submit'),
    }),
    confirm: async (ctx, token) =>
      (await emailVerification.confirm(token, { request: ctx.state.request })) !== 'invalid',
    doneMessage: () => ({ title: t('verify-email.done'), lead: t('verify-email.done-lead'), next }),
  });

  return router;
}
