// Puts the pages of a signed-in user together: the portal (/dashboard) and the account pages (/account).

import type { Consents } from '../applications/consents/consents.ts';
import type { Cookies } from '../base/http/cookies.ts';
import type { Csrf } from '../base/http/csrf.ts';
import type { Clock } from '../base/platform/clock.ts';
import type { Vault } from '../base/platform/vault.ts';
import type { Db } from '../base/storage/database.ts';
import type { ProtectedRows } from '../base/storage/protected-rows.ts';
import type { Audit } from '../core/audit/audit.ts';
import type { NotifyOwner } from '../core/mail/notify-owner.ts';
import type { Links } from '../federation/links.ts';
import type { Accounts } from '../people/accounts/accounts.ts';
import type { Credentials } from '../people/credentials/credentials.ts';
import type { StrengthMeter } from '../people/credentials/strength.ts';
import type { Mfa } from '../people/mfa/create-mfa.ts';
import type { CodeDelivery } from '../people/mfa/factors/code-delivery.ts';
import type { RateLimits } from '../people/rate-limits/rate-limits.ts';
import type { EndSession } from '../protocols/logout/end-session.ts';
import type { Sessions } from '../protocols/oidc/store/sessions/sessions.ts';
import type { RecoveryCodesPages } from '../sign-in/second-factor/recovery-codes-page.ts';
import { createAccountPageHelpers } from './account-page-helpers.ts';
import { type ActivityRoutesDependencies, activityRoutes } from './activity-routes.ts';
import { connectionRoutes } from './connection-routes.ts';
import { createFactorRecoveryCodes } from './factors/recovery-codes.ts';
import { factorRoutes, passkeyRoutes, phoneRoutes } from './factors/routes.ts';
import { overviewRoutes } from './overview-routes.ts';
import { passwordRoutes, strengthRoutes } from './password/routes.ts';
import { createSingleFactorPasswordRule } from './password/single-factor-rule.ts';
import { createPortal, type PortalDependencies } from './portal/applications.ts';
import { consentRoutes, portalRoutes } from './portal/routes.ts';
import { emailRoutes, emailVerificationRoutes, profilePhoneRoutes, profileRoutes } from './profile/routes.ts';
import type { EmailVerification } from './registration/email-verification.ts';
import type { RpSessions } from './rp/sessions.ts';
import type { SignedIn } from './rp/signed-in.ts';
import { browserRoutes, type SessionRoutesDependencies, sessionRoutes } from './session-routes.ts';

export interface AccountPagesDependencies {
  db: Db;
  vault: Vault;
  now: Clock;
  issuer: string;
  accounts: Accounts;
  audit: Audit;
  brandName: ActivityRoutesDependencies['brandName'];
  codeDelivery: CodeDelivery;
  consents: Consents;
  cookies: Cookies;
  credentials: Credentials;
  csrf: Csrf;
  emailVerification: EmailVerification;
  /** Without one, mail becomes files that nobody receives. */
  hasMailServer: boolean;
  /** Identities at upstream identity providers. */
  links: Links;
  endSession: EndSession;
  mfa: Mfa;
  protectedRows: ProtectedRows;
  rateLimits: RateLimits;
  rpSessions: RpSessions;
  /** Names of this server that must not be part of a password. */
  serviceNames(): readonly string[];
  sessions: Sessions;
  signedIn: SignedIn;
  strengthMeter: StrengthMeter;
  notifyOwner: NotifyOwner;
  /** The browser of a request, for a logout that goes through it. */
  logoutBrowserOf: SessionRoutesDependencies['logoutBrowserOf'];
  /** The name of a SAML application in the language of the page. */
  titleOf: PortalDependencies['titleOf'];
  pictures: PortalDependencies['pictures'];
  recoveryCodesPages: RecoveryCodesPages;
}

export function createAccountPages(dependencies: AccountPagesDependencies) {
  const { db, vault, now, issuer, accounts, audit, codeDelivery, consents, cookies, credentials, csrf } = dependencies;
  const { emailVerification, endSession, mfa, protectedRows, rateLimits, rpSessions, serviceNames, sessions } =
    dependencies;
  const { signedIn, strengthMeter, notifyOwner, logoutBrowserOf, titleOf, pictures } = dependencies;
  const { factors, firstEnrolment, knownBrowsers, passkeys, phones, recoveryCodes, totp } = mfa;
  const checkCsrf = csrf.check;
  const page = createAccountPageHelpers({
    signedIn,
    checkCsrf,
    rateLimits,
    cookies,
    notifyOwner,
    factors,
    firstEnrolment,
  });
  const factorRecoveryCodes = createFactorRecoveryCodes({
    page,
    recoveryCodes,
    recoveryCodesPages: dependencies.recoveryCodesPages,
  });
  const singleFactorPasswordRule = createSingleFactorPasswordRule({ page, credentials, factors });
  const portal = createPortal({ db, audit, now, issuer, pictures, protectedRows, titleOf });
  return {
    page,
    routers: [
      portalRoutes({ page, portal, sessions, factors, credentials }),
      overviewRoutes({ page, credentials, factors }),
      profilePhoneRoutes({ page, accounts, phones, codeDelivery, rateLimits }),
      profileRoutes({ page, accounts, codeDelivery }),
      passwordRoutes({ page, credentials, factors, knownBrowsers, endSession, links: dependencies.links }),
      strengthRoutes({ strengthMeter, serviceNames, rateLimits, checkCsrf }),
      emailRoutes({ page, emailVerification, hasMailServer: dependencies.hasMailServer }),
      emailVerificationRoutes({ emailVerification, signedIn, cookies, rateLimits, checkCsrf }),
      factorRoutes({
        page,
        factors,
        totp,
        passkeys,
        codeDelivery,
        rateLimits,
        rpSessions,
        factorRecoveryCodes,
        singleFactorPasswordRule,
      }),
      passkeyRoutes({ page, now, vault, passkeys, factorRecoveryCodes, singleFactorPasswordRule }),
      phoneRoutes({ page, accounts, phones, codeDelivery, rateLimits, factorRecoveryCodes }),
      connectionRoutes({ page, links: dependencies.links }),
      browserRoutes({ page, cookies, knownBrowsers, audit }),
      activityRoutes({ db, page, audit, brandName: dependencies.brandName }),
      consentRoutes({ db, page, sessions, consents, audit }),
      sessionRoutes({ page, db, sessions, endSession, logoutBrowserOf, titleOf }),
    ],
  };
}
