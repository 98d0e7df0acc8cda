// Puts account recovery together: the password reset and the unlocking of an account, both by a mailed link.

import Router from '@koa/router';
import type { Extras, State } from '../../base/http/context.ts';
import type { Cookies } from '../../base/http/cookies.ts';
import type { Csrf } from '../../base/http/csrf.ts';
import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Db } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import type { Audit } from '../../core/audit/audit.ts';
import type { Outbox } from '../../core/mail/outbox.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { OtherSignIns } from '../../federation/other-sign-ins.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import type { Credentials } from '../../people/credentials/credentials.ts';
import type { AccountFactors } from '../../people/mfa/account-factors.ts';
import type { FirstEnrolmentRule } from '../../people/mfa/first-enrolment-rule.ts';
import type { KnownBrowsers } from '../../people/mfa/known-browsers.ts';
import type { Lockout } from '../../people/rate-limits/lockout.ts';
import type { MailLimits } from '../../people/rate-limits/mail-limits.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';
import { addConfirmRoutes } from '../mailed-links/confirm-routes.ts';
import type { MailedLinks } from '../mailed-links/create-mailed-links.ts';
import { addNewPasswordRoutes } from '../mailed-links/new-password-routes.ts';
import { addRequestRoutes, type RequestRoutesDependencies } from '../mailed-links/request-routes.ts';
import { createPasswordReset, type PasswordReset } from './password-reset.ts';
import { createUnlock, type Unlock } from './unlock.ts';

export interface RecoveryDependencies {
  db: Db;
  now: Clock;
  accounts: Accounts;
  audit: Audit;
  cookies: Cookies;
  credentials: Credentials;
  csrf: Csrf;
  factors: AccountFactors;
  firstEnrolment: FirstEnrolmentRule;
  knownBrowsers: KnownBrowsers;
  lockout: Lockout;
  mailedLinks: MailedLinks;
  mailLimits: MailLimits;
  otherSignIns: OtherSignIns;
  outbox: Outbox;
  hasMailServer: boolean;
  rateLimits: RateLimits;
  settings: Settings;
}

export function createRecovery(dependencies: RecoveryDependencies) {
  const { db, now, accounts, audit, cookies, credentials, csrf, factors, firstEnrolment, knownBrowsers, lockout } =
    dependencies;
  const { mailedLinks, mailLimits, otherSignIns, outbox, rateLimits, settings } = dependencies;
  const { accountLinks, returnToSignIn, setPasswordByLink } = mailedLinks;
  const checkCsrf = csrf.check;
  const minutes = () => settings.latest().reset_token_minutes;
  const passwordReset = createPasswordReset({
    db,
    now,
    audit,
    accountLinks,
    accounts,
    outbox,
    setPasswordByLink,
    mailLimits,
    minutes,
    otherSignIns,
    passwordResetByMail: firstEnrolment.passwordResetByMail,
    hasPassword: async (accountId) => (await credentials.status(accountId)) !== undefined,
  });
  const unlock = createUnlock({ db, audit, accountLinks, accounts, outbox, mailLimits, lockout });
  const { hasSecondFactor } = factors;
  const requests = { cookies, rateLimits, returnToSignIn, checkCsrf, hasMailServer: dependencies.hasMailServer };
  return {
    passwordReset,
    unlock,
    routers: [
      passwordResetRoutes({ passwordReset, hasSecondFactor, minutes, ...requests }),
      unlockRoutes({ unlock, knownBrowsers, ...requests }),
    ],
  };
}

// /forgot-password and /reset-password: request a link by mail, and choose a new password with it.

interface PasswordResetRoutesDependencies extends RequestRoutesDependencies {
  rateLimits: RateLimits;
  passwordReset: PasswordReset;
  hasSecondFactor(accountId: string): Promise<boolean>;
  /** How many minutes a link works. */
  minutes(): number;
}

function passwordResetRoutes(dependencies: PasswordResetRoutesDependencies): Router<State, Extras> {
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

// /unlock: request a link by mail that ends a lockout, and use it. From then on the browser is a known one, so failed
// sign-ins elsewhere do not lock its owner out again.

interface UnlockRoutesDependencies extends RequestRoutesDependencies {
  rateLimits: RateLimits;
  unlock: Unlock;
  knownBrowsers: KnownBrowsers;
}

function unlockRoutes(dependencies: UnlockRoutesDependencies): Router<State, Extras> {
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
