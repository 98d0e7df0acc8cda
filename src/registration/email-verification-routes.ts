// /verify-email: a mailed link and a button that verify an email address, or change to it.
import Router from '@koa/router';
import type { Extras, State } from '../http/context.ts';
import { addConfirmRoutes, type ConfirmRoutesDependencies } from '../mailed-links/confirm-routes.ts';
import type { EmailVerification } from './email-verification.ts';

export interface EmailVerificationRoutesDependencies extends ConfirmRoutesDependencies {
  emailVerification: EmailVerification;
}

const next = { href: '/account', label: 'Go to your account' };

export function emailVerificationRoutes(dependencies: EmailVerificationRoutesDependencies): Router<State, Extras> {
  const { emailVerification } = dependencies;
  const router = new Router<State, Extras>();

  addConfirmRoutes(router, dependencies, {
    path: '/verify-email',
    next,
    find: emailVerification.find,
    describe: ({ email, isChange }) => ({
      title: isChange ? 'Use this email address?' : 'Confirm your email address',
      lead: isChange ? 'This address replaces your current email address.' : 'This confirms that our emails reach you.',
      value: email,
      button: isChange ? 'Use email address' : 'Confirm email address',
    }),
    confirm: async (ctx, token) =>
      (await emailVerification.confirm(token, { request: ctx.state.request })) !== 'invalid',
    doneMessage: () => ({ title: 'Email address confirmed', lead: 'You can close this page.', next }),
  });

  return router;
}
