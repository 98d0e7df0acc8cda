// /verify-email: a mailed link and a button that verify an e-mail address, or change to it.
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
      title: isChange ? 'Use this address?' : 'Confirm your address',
      lead: isChange
        ? 'It becomes the e-mail address of your account, in place of the old one.'
        : 'Then we know that mail to it reaches you.',
      value: email,
      button: isChange ? 'Use this address' : 'Confirm this address',
    }),
    confirm: async (ctx, token) =>
      (await emailVerification.confirm(token, { request: ctx.state.request })) !== 'invalid',
    doneMessage: () => ({ title: 'Your address is confirmed', lead: 'You can close this page.', next }),
  });

  return router;
}
