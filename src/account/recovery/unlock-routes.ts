// /unlock: request a link by mail that ends a lockout, and use it. From then on the browser is a known one, so failed
// sign-ins elsewhere do not lock its owner out again.

import Router from '@koa/router';
import type { Extras, State } from '../../base/http/context.ts';
import { limits } from '../../base/limits.ts';
import { t } from '../../base/texts/text.ts';
import type { KnownBrowsers } from '../../people/mfa/known-browsers.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';
import { addConfirmRoutes } from '../mailed-links/confirm-routes.ts';
import { addRequestRoutes, type RequestRoutesDependencies } from '../mailed-links/request-routes.ts';
import type { Unlock } from './unlock.ts';

export interface UnlockRoutesDependencies extends RequestRoutesDependencies {
  rateLimits: RateLimits;
  unlock: Unlock;
  knownBrowsers: KnownBrowsers;
}

export function unlockRoutes(dependencies: UnlockRoutesDependencies): Router<State, Extras> {
  const { unlock, knownBrowsers, cookies, returnToSignIn } = dependencies;
  const router = new Router<State, Extras>();

  addRequestRoutes(router, dependencies, {
    path: '/unlock/ask',
    sentPath: '/unlock/sent',
    texts: {
      title: t('unlock.title'),
      lead: t('unlock.lead'),
    },
    request: unlock.request,
    sent: () => ({
      lead: t('unlock.sent', { minutes: limits.unlockLink.minutes }),
      hint: t('unlock.sent-hint'),
      other: { href: '/forgot-password', label: t('unlock.forgot') },
    }),
  });

  addConfirmRoutes(router, dependencies, {
    path: '/unlock',
    next: { href: '/unlock/ask', label: t('mailed-link.new') },
    find: unlock.find,
    describe: ({ username }) => ({
      title: t('unlock.question'),
      lead: t('unlock.question-lead'),
      value: username,
      button: t('unlock.submit'),
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
      title: t('unlock.done'),
      lead: t('unlock.done-lead'),
      next: returnToSignIn.next(ctx),
      other: { href: '/forgot-password', label: t('unlock.forgot') },
    }),
  });

  return router;
}
