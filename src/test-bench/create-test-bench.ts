// Builds the test bench: test sign-ins to any application, and the built-in test application and test service provider.

import type { ApplicationAdmin } from '../admin/applications/actions.ts';
import type { Frame } from '../admin/console/frame.ts';
import type { Applications } from '../applications/applications.ts';
import type { Cookies } from '../base/http/cookies.ts';
import type { InternalRequest } from '../base/http/internal-request.ts';
import type { Clock } from '../base/platform/clock.ts';
import type { Vault } from '../base/platform/vault.ts';
import type { Db } from '../base/storage/database.ts';
import type { Keyring } from '../core/keys/keyring.ts';
import { type Settings, stableSecret } from '../core/settings/settings.ts';
import type { RateLimits } from '../people/rate-limits/rate-limits.ts';
import type { ClaimsPreviews } from '../protocols/oidc/claims/claims-preview.ts';
import { createTestTickets } from '../protocols/oidc/store/test-tickets.ts';
import { samlRateLimit } from '../protocols/saml/messages/received.ts';
import { readCertificate } from '../protocols/saml/xml/certificates.ts';
import { TEST_HOME } from './page-parts.ts';
import { createSamlTestSignIn, type SamlTestSignInDependencies } from './saml-test-sign-in.ts';
import { createTestApp } from './test-app-routes.ts';
import { testRegistrationRoutes } from './test-registrations.ts';
import { testSignInRoutes } from './test-sign-in-routes.ts';
import { createTestSp, type TestSp } from './test-sp.ts';
import { newTestSpCredential } from './test-sp-credential.ts';
import { createTestSpRoutes } from './test-sp-routes.ts';

export interface TestBenchDependencies {
  issuer: string;
  db: Db;
  now: Clock;
  vault: Vault;
  cookies: Cookies;
  settings: Settings;
  keyring: Keyring;
  rateLimits: RateLimits;
  frame: Frame;
  applications: Applications;
  applicationAdmin: ApplicationAdmin;
  claimsPreview: ClaimsPreviews;
  /** Calls an endpoint of this server without the network. */
  internalRequest: InternalRequest;
  saml: Omit<SamlTestSignInDependencies, 'issuer'>;
}

/** The routers of /admin/test, the more specific paths first. */
export function createTestBench(dependencies: TestBenchDependencies) {
  const { issuer, now, vault, cookies, rateLimits, frame, applications, applicationAdmin } = dependencies;
  const { claimsPreview, internalRequest, saml } = dependencies;
  const tickets = createTestTickets({ cookies, vault, now });
  const sp = builtInServiceProvider(dependencies);
  const testSp = createTestSpRoutes({ frame, issuer, vault, tickets, sp, throttled: samlRateLimit({ rateLimits }) });
  const testApp = createTestApp({ frame, issuer, vault, tickets, internalRequest });
  const samlTestSignIn = createSamlTestSignIn({ issuer, ...saml });
  return {
    routers: [
      testRegistrationRoutes({
        frame,
        issuer,
        applications: applicationAdmin,
        findApplication: applications.find,
        testSp: sp,
      }),
      testApp.router,
      testSp.router,
      // Last: its `:id` would match the paths of the others.
      testSignInRoutes({
        frame,
        issuer,
        applications: applicationAdmin,
        findApplication: applications.find,
        tickets,
        claimsPreview,
        testApp,
        testSp,
        samlTestSignIn,
      }),
    ],
  };
}

/** Its key is made when it is first needed, and shared by all instances of this server. */
function builtInServiceProvider({ issuer, db, now, vault, settings, keyring }: TestBenchDependencies): TestSp {
  return createTestSp({
    issuer,
    entityId: `${issuer}${TEST_HOME}/sp`,
    now,
    skewSeconds: () => settings.latest().clock_skew_seconds,
    publishedKeys: () =>
      keyring.samlCertificates().map(({ certificatePem }) => readCertificate(certificatePem).publicKey),
    async credential() {
      const make = () => newTestSpCredential(new URL(issuer).hostname, now());
      return (await stableSecret({ db, vault }, 'test-service-provider', make)).toString();
    },
  });
}
