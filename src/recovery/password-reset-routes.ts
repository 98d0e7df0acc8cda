// /forgot-password and /reset-password: request a link by mail, and choose a new password with it.
import Router from '@koa/router';
import type { Extras, State } from '../http/context.ts';
import { addNewPasswordRoutes } from '../mailed-links/new-password-routes.ts';
import { addRequestRoutes, type RequestRoutesDependencies } from '../mailed-links/request-routes.ts';
import { plural } from '../platform/plural.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
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
      title: 'Forgot your password?',
      lead: 'We’ll email you a link to choose a new password.',
    },
    request: passwordReset.request,
    sent: () => ({
      lead: `If that account exists, we emailed it a link. The link is valid for ${plural(minutes(), 'minute')}.`,
      hint: 'No email after a few minutes? Check your spam folder, or try again with the exact username.',
      other: { href: '/forgot-password', label: 'Try another username' },
    }),
  });

  addNewPasswordRoutes(router, dependencies, {
    path: '/reset-password',
    find: passwordReset.find,
    setPassword: passwordReset.redeem,
    hasSecondFactor,
    doneMessage: (ctx) => ({
      title: 'Password changed',
      lead: 'You’re signed out everywhere. Sign in with your new password.',
      hint: 'Then review your passkeys, two-step verification, and sessions. Remove anything you don’t recognize.',
      next: returnToSignIn.next(ctx),
      other: { href: '/account', label: 'Review my account' },
    }),
  });

  return router;
}
