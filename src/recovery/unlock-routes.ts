// /unlock: request a link by mail that ends a lockout, and use it. From then on the browser is a known one, so failed
// sign-ins elsewhere do not lock its owner out again.
import Router from '@koa/router';
import type { Extras, State } from '../http/context.ts';
import { limits } from '../limits.ts';
import { addConfirmRoutes } from '../mailed-links/confirm-routes.ts';
import { addRequestRoutes, type RequestRoutesDependencies } from '../mailed-links/request-routes.ts';
import type { KnownBrowsers } from '../mfa/known-browsers.ts';
import { plural } from '../platform/plural.ts';
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
      lead: 'Too many failed sign-ins paused your account. We’ll email you a link to unlock it.',
    },
    request: unlock.request,
    sent: () => ({
      lead: `If that account exists and is paused, we emailed it a link. The link is valid for ${plural(limits.unlockLink.minutes, 'minute')}.`,
      hint: 'No email? The account may not be paused. Try to sign in.',
      other: { href: '/forgot-password', label: 'I forgot my password' },
    }),
  });

  addConfirmRoutes(router, dependencies, {
    path: '/unlock',
    next: { href: '/unlock/ask', label: 'Request a new link' },
    find: unlock.find,
    describe: ({ username }) => ({
      title: 'Unlock your account?',
      lead: 'You can then sign in again right away. This browser stays unlocked even if more sign-ins fail elsewhere.',
      value: username,
      button: 'Unlock account',
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
      title: 'Account unlocked',
      lead: 'Sign in with your password.',
      next: returnToSignIn.next(ctx),
      other: { href: '/forgot-password', label: 'I forgot my password' },
    }),
  });

  return router;
}
