// /unlock: request a link by mail that ends a lockout, and use it. From then on the browser is a known one, so failed
// sign-ins elsewhere do not lock its owner out again.
import Router from '@koa/router';
import type { Extras, State } from '../http/context.ts';
import { limits } from '../limits.ts';
import { addConfirmRoutes } from '../mailed-links/confirm-routes.ts';
import { addRequestRoutes, type RequestRoutesDependencies } from '../mailed-links/request-routes.ts';
import type { KnownBrowsers } from '../mfa/known-browsers.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import type { Unlock } from './unlock.ts';

export interface UnlockRoutesDependencies extends RequestRoutesDependencies {
  rateLimits: RateLimits;
  unlock: Unlock;
  knownBrowsers: Pick<KnownBrowsers, 'remember'>;
}

export function unlockRoutes(dependencies: UnlockRoutesDependencies): Router<State, Extras> {
  const { unlock, knownBrowsers, cookies, returnToSignIn } = dependencies;
  const router = new Router<State, Extras>();

  addRequestRoutes(router, dependencies, {
    path: '/unlock/ask',
    sentPath: '/unlock/sent',
    texts: {
      title: 'Unlock your account',
      lead: 'After too many failed sign-ins there is a pause. We send a link to your e-mail address that ends it.',
    },
    request: unlock.request,
    sent: () => ({
      lead: `If there is an account of that name and it is paused, a link is on its way to its e-mail address. It works for ${limits.unlockLink.minutes} minutes.`,
      hint: 'Without a pause no mail is sent: just sign in.',
      other: { href: '/forgot-password', label: 'I forgot my password' },
    }),
  });

  addConfirmRoutes(router, dependencies, {
    path: '/unlock',
    next: { href: '/unlock/ask', label: 'Ask for a new link' },
    find: unlock.find,
    describe: ({ username }) => ({
      title: 'Unlock your account?',
      lead: 'You can sign in again at once, in this browser also when the failed sign-ins go on.',
      value: username,
      button: 'Unlock my account',
    }),
    async confirm(ctx, token) {
      const { request } = ctx.state;
      const account = await unlock.confirm(token, request);
      if (!account) return false;
      const { cookie } = await knownBrowsers.remember(cookies.get(ctx, 'knownBrowser'), account.id, { request });
      cookies.set(ctx, 'knownBrowser', cookie);
      return true;
    },
    doneMessage: (ctx) => ({
      title: 'Your account is unlocked',
      lead: 'Sign in with your password, here or in your application.',
      next: returnToSignIn.next(ctx),
      other: { href: '/forgot-password', label: 'I forgot my password' },
    }),
  });

  return router;
}
