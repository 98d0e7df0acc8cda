// Puts account recovery together: the password reset and the unlocking of an account, both by a mailed link.
import type { Accounts } from '../accounts/accounts.ts';
import type { Audit } from '../audit/audit.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { OtherSignIns } from '../federation/other-sign-ins.ts';
import type { Cookies } from '../http/cookies.ts';
import type { Csrf } from '../http/csrf.ts';
import type { Outbox } from '../mail/outbox.ts';
import type { MailedLinks } from '../mailed-links/create-mailed-links.ts';
import type { AccountFactors } from '../mfa/account-factors.ts';
import type { FirstEnrolmentRule } from '../mfa/first-enrolment-rule.ts';
import type { KnownBrowsers } from '../mfa/known-browsers.ts';
import type { Clock } from '../platform/clock.ts';
import type { Lockout } from '../rate-limits/lockout.ts';
import type { MailLimits } from '../rate-limits/mail-limits.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import type { Settings } from '../settings/settings.ts';
import type { Db } from '../storage/database.ts';
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
