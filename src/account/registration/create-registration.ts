// Puts together how accounts get their owners: invitations, self-registration, and the verification of email
// addresses.

import type { Cookies } from '../../base/http/cookies.ts';
import type { Csrf } from '../../base/http/csrf.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Vault } from '../../base/platform/vault.ts';
import type { Db } from '../../base/storage/database.ts';
import type { Audit } from '../../core/audit/audit.ts';
import type { RepeatedEntries } from '../../core/audit/repeated-entries.ts';
import type { Outbox } from '../../core/mail/outbox.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { ExternalIdentities } from '../../federation/identities.ts';
import type { OtherSignIns } from '../../federation/other-sign-ins.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import type { Credentials } from '../../people/credentials/credentials.ts';
import type { AccountFactors } from '../../people/mfa/account-factors.ts';
import type { FirstEnrolmentRule } from '../../people/mfa/first-enrolment-rule.ts';
import type { MailLimits } from '../../people/rate-limits/mail-limits.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';
import type { SignUpCodes } from '../../people/sign-up-codes/sign-up-codes.ts';
import type { MailedLinks } from '../mailed-links/create-mailed-links.ts';
import { createEmailVerification } from './email-verification.ts';
import { createInvitations } from './invitation.ts';
import { invitationRoutes } from './invitation-routes.ts';
import { createSelfRegistration } from './self-registration.ts';
import { selfRegistrationRoutes } from './self-registration-routes.ts';

export interface RegistrationDependencies {
  db: Db;
  vault: Vault;
  now: Clock;
  accounts: Accounts;
  audit: Audit;
  cookies: Cookies;
  credentials: Credentials;
  csrf: Csrf;
  factors: AccountFactors;
  firstEnrolment: FirstEnrolmentRule;
  identities: ExternalIdentities;
  mailedLinks: MailedLinks;
  mailLimits: MailLimits;
  otherSignIns: OtherSignIns;
  outbox: Outbox;
  hasMailServer: boolean;
  rateLimits: RateLimits;
  repeatedEntries: RepeatedEntries;
  settings: Settings;
  signUpCodes: SignUpCodes;
}

export type Registration = ReturnType<typeof createRegistration>;

export function createRegistration(dependencies: RegistrationDependencies) {
  const { db, vault, now, accounts, audit, cookies, credentials, csrf } = dependencies;
  const { factors, identities, mailedLinks, mailLimits, outbox, rateLimits, settings } = dependencies;
  const { accountLinks, returnToSignIn, setPasswordByLink } = mailedLinks;
  const checkCsrf = csrf.check;
  const { passwordResetByMail } = dependencies.firstEnrolment;
  const invitations = createInvitations({
    db,
    audit,
    accountLinks,
    accounts,
    credentials,
    factors,
    identities,
    outbox,
    passwordResetByMail,
    setPasswordByLink,
  });
  const emailVerification = createEmailVerification({
    db,
    now,
    audit,
    accountLinks,
    accounts,
    outbox,
    rateLimits,
    mailLimits,
  });
  const selfRegistration = createSelfRegistration({
    db,
    vault,
    now,
    audit,
    accounts,
    credentials,
    outbox,
    mailLimits,
    isOpen: () => settings.latest().self_registration,
    domains: () => settings.latest().sign_up_domains,
    needsCode: () => settings.latest().sign_up_code_required,
    codes: dependencies.signUpCodes,
    repeatedEntries: dependencies.repeatedEntries,
  });
  return {
    invitations,
    emailVerification,
    selfRegistration,
    routers: [
      invitationRoutes({ invitations, otherSignIns: dependencies.otherSignIns, cookies, rateLimits, checkCsrf }),
      selfRegistrationRoutes({
        selfRegistration,
        cookies,
        rateLimits,
        returnToSignIn,
        checkCsrf,
        hasMailServer: dependencies.hasMailServer,
      }),
    ],
  };
}
