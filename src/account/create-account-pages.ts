// Puts the pages of a signed-in user together: the portal (/dashboard) and the account pages (/account).

import type { ApplicationServices } from '../applications/application-services.ts';
import type { Context } from '../base/http/context.ts';
import type { Http } from '../base/http/http.ts';
import type { PageText } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import type { Links } from '../federation/links.ts';
import type { People } from '../people/people.ts';
import type { LogoutBrowser } from '../protocols/logout/logout-run.ts';
import type { SessionServices } from '../protocols/session-services.ts';
import type { RecoveryCodesPages } from '../sign-in/second-factor/recovery-codes-page.ts';
import { createAccountPageHelpers } from './account-page-helpers.ts';
import { activityRoutes } from './activity-routes.ts';
import { connectionRoutes } from './connection-routes.ts';
import { createFactorRecoveryCodes } from './factors/recovery-codes.ts';
import { factorRoutes, passkeyRoutes, phoneRoutes } from './factors/routes.ts';
import { overviewRoutes } from './overview-routes.ts';
import { passwordRoutes, strengthRoutes } from './password/routes.ts';
import { createSingleFactorPasswordRule } from './password/single-factor-rule.ts';
import { createPortal } from './portal/applications.ts';
import { consentRoutes, portalRoutes } from './portal/routes.ts';
import { emailRoutes, emailVerificationRoutes, profilePhoneRoutes, profileRoutes } from './profile/routes.ts';
import type { EmailVerification } from './registration/email-verification.ts';
import type { RpSessions } from './rp/sessions.ts';
import type { SignedIn } from './rp/signed-in.ts';
import { browserRoutes, sessionRoutes } from './session-routes.ts';

export interface AccountPagesDependencies {
  brandName: () => string | undefined;
  emailVerification: EmailVerification;
  /** Identities at upstream identity providers. */
  links: Links;
  rpSessions: RpSessions;
  signedIn: SignedIn;
  /** The browser of a request, for a logout that goes through it. */
  logoutBrowserOf: (ctx: Context) => LogoutBrowser;
  /** The name of a SAML application in the language of the page. */
  titleOf: (row: { id: string; clientId: string; name: string; updatedAt: Date; metadata: string }) => PageText;
  recoveryCodesPages: RecoveryCodesPages;
}

export function createAccountPages(
  dependencies: Core & Http & People & ApplicationServices & SessionServices & AccountPagesDependencies,
) {
  const { emailVerification, mfa, rpSessions } = dependencies;
  const { signedIn, logoutBrowserOf, titleOf } = dependencies;
  const { recoveryCodes } = mfa;
  const page = createAccountPageHelpers({ ...dependencies, signedIn });
  const factorRecoveryCodes = createFactorRecoveryCodes({
    page,
    recoveryCodes,
    recoveryCodesPages: dependencies.recoveryCodesPages,
  });
  const singleFactorPasswordRule = createSingleFactorPasswordRule({ ...dependencies, page });
  const portal = createPortal({ ...dependencies, titleOf });
  return {
    page,
    routers: [
      portalRoutes({ ...dependencies, page, portal }),
      overviewRoutes({ ...dependencies, page }),
      profilePhoneRoutes({ ...dependencies, page }),
      profileRoutes({ ...dependencies, page }),
      passwordRoutes({ ...dependencies, page, links: dependencies.links }),
      strengthRoutes(dependencies),
      emailRoutes({ ...dependencies, page, emailVerification }),
      emailVerificationRoutes({ ...dependencies, emailVerification, signedIn }),
      factorRoutes({ ...dependencies, page, rpSessions, factorRecoveryCodes, singleFactorPasswordRule }),
      passkeyRoutes({ ...dependencies, page, factorRecoveryCodes, singleFactorPasswordRule }),
      phoneRoutes({ ...dependencies, page, factorRecoveryCodes }),
      connectionRoutes({ page, links: dependencies.links }),
      browserRoutes({ ...dependencies, page }),
      activityRoutes({ ...dependencies, page, brandName: dependencies.brandName }),
      consentRoutes({ ...dependencies, page }),
      sessionRoutes({ ...dependencies, page, logoutBrowserOf, titleOf }),
    ],
  };
}
