// /forgot-password and /reset-password: request a link by mail, and choose a new password with it.

import Router from '@koa/router';
import type { Extras, State } from '../../base/http/context.ts';
import { t } from '../../base/texts/text.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';
import { addNewPasswordRoutes } from '../mailed-links/new-password-routes.ts';
import { addRequestRoutes, type RequestRoutesDependencies } from '../mailed-links/request-routes.ts';
import type { PasswordReset } from './password-reset.ts';

export interface PasswordResetRoutesDependencies extends RequestRoutesDependencies {
  rateLimits: RateLimits;
  passwordReset: PasswordReset;
  hasSecondFactor(accountId: string): Promise<boolean>;
  /** How many minutes a link works. */
  minutes(): number;
}

export function passwordResetRoutes(dependencies: PasswordResetRoutesDependencies): Router<State, Extras> {
  const { passwordReset, hasSecondFactor, minutes, returnToSignIn } = dependencies;
  const router = new Router<State, Extras>();

  addRequestRoutes(router, dependencies, {
    path: '/forgot-password',
    sentPath: '/forgot-password/sent',
    texts: {
      title: t('reset.title'),
      lead: t('reset.lead'),
    },
    request: passwordReset.request,
    sent: () => ({
      lead: t('reset.sent', { minutes: minutes() }),
      hint: t('reset.sent-hint'),
      other: { href: '/forgot-password', label: t('reset.other') },
    }),
  });

  addNewPasswordRoutes(router, dependencies, {
    path: '/reset-password',
    find: passwordReset.find,
    setPassword: passwordReset.redeem,
    hasSecondFactor,
    doneMessage: (ctx) => ({
      title: t('reset.done'),
      lead: t('reset.done-lead'),
      hint: t('reset.done-hint'),
      next: returnToSignIn.next(ctx),
      other: { href: '/account', label: t('reset.review') },
    }),
  });

  return router;
}
