// /forgot-password and /reset-password: request a link by mail, and choose a new password with it.
import Router from '@koa/router';
import type { Extras, State } from '../http/context.ts';
import { addNewPasswordRoutes } from '../mailed-links/new-password-routes.ts';
import { addRequestRoutes, type RequestRoutesDependencies } from '../mailed-links/request-routes.ts';
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
      lead: 'Tell us who you are, and we send a link to your e-mail address. With it you choose a new password.',
    },
    request: passwordReset.request,
    sent: () => ({
      lead: `If there is an account of that name, a link is on its way to its e-mail address. It works for ${minutes()} minutes.`,
      hint: 'Nothing there after a few minutes? Look into the spam folder, or try again with the exact name.',
      other: { href: '/forgot-password', label: 'Try again' },
    }),
  });

  addNewPasswordRoutes(router, dependencies, {
    path: '/reset-password',
    find: passwordReset.find,
    setPassword: passwordReset.redeem,
    hasSecondFactor,
    doneMessage: (ctx) => ({
      title: 'Your password was changed',
      lead: 'You were signed out everywhere. Sign in with the new password, here or in your application.',
      hint: 'Then review your passkeys, second factors and signed-in devices, in case another person has added one.',
      next: returnToSignIn.next(ctx),
      other: { href: '/account', label: 'Look through my account' },
    }),
  });

  return router;
}
