// Puts account recovery together: the password reset and the unlocking of an account, both by a mailed link.

import type { Cookies } from '../../base/http/cookies.ts';
import type { Csrf } from '../../base/http/csrf.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Db } from '../../base/storage/database.ts';
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
import type { MailedLinks } from '../mailed-links/create-mailed-links.ts';
import { createPasswordReset } from './password-reset.ts';
import { passwordResetRoutes } from './password-reset-routes.ts';
import { createUnlock } from './unlock.ts';
import { unlockRoutes } from './unlock-routes.ts';

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
