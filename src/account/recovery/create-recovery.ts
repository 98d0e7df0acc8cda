// Puts account recovery together: the password reset and the unlocking of an account, both by a mailed link.

import Router from '@koa/router';
import type { Base } from '../../base/base.ts';
import type { Extras, State } from '../../base/http/context.ts';
import type { Http } from '../../base/http/http.ts';
import { limits } from '../../base/limits.ts';
import { t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import type { FederationServices } from '../../federation/federation-services.ts';
import type { People } from '../../people/people.ts';
import { addConfirmRoutes } from '../mailed-links/confirm-routes.ts';
import type { MailedLinks } from '../mailed-links/create-mailed-links.ts';
import { addNewPasswordRoutes } from '../mailed-links/new-password-routes.ts';
import { addRequestRoutes } from '../mailed-links/request-routes.ts';
import type { ReturnToSignIn } from '../mailed-links/return-to-sign-in.ts';
import { createPasswordReset, type PasswordReset } from './password-reset.ts';
import { createUnlock, type Unlock } from './unlock.ts';

export function createRecovery(dependencies: Core & Http & People & FederationServices & { mailedLinks: MailedLinks }) {
  const {
    cookies,
    credentials,
    csrf,
    mfa: { factors, firstEnrolment },
  } = dependencies;
  const { mailedLinks, rateLimits, settings } = dependencies;
  const { accountLinks, returnToSignIn, setPasswordByLink } = mailedLinks;
  const checkCsrf = csrf.check;
  const minutes = () => settings.latest().reset_token_minutes;
  const passwordReset = createPasswordReset({
    ...dependencies,
    accountLinks,
    setPasswordByLink,
    minutes,
    passwordResetByMail: firstEnrolment.passwordResetByMail,
    hasPassword: async (accountId) => (await credentials.status(accountId)) !== undefined,
  });
  const unlock = createUnlock({ ...dependencies, accountLinks });
  const { hasSecondFactor } = factors;
  const requests = { cookies, rateLimits, returnToSignIn, checkCsrf, hasMailServer: dependencies.config.hasMailServer };
  return {
    passwordReset,
    unlock,
    routers: [
      passwordResetRoutes({ ...dependencies, passwordReset, hasSecondFactor, minutes, ...requests }),
      unlockRoutes({ ...dependencies, unlock, ...requests }),
    ],
  };
}

function passwordResetRoutes(
  dependencies: Base &
    Http &
    People & {
      passwordReset: PasswordReset;
      hasSecondFactor(accountId: string): Promise<boolean>;
      /** How many minutes a link works. */
      minutes(): number;
      returnToSignIn: ReturnToSignIn;
    },
): Router<State, Extras> {
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

function unlockRoutes(
  dependencies: Base & Http & People & { unlock: Unlock; returnToSignIn: ReturnToSignIn },
): Router<State, Extras> {
  const {
    unlock,
    cookies,
    returnToSignIn,
    mfa: { knownBrowsers },
  } = dependencies;
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
