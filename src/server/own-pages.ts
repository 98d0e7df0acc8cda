// Puts our own pages together: their sign-in, the account page and what is below it.
import type { Cookies } from '../http/cookies.ts';
import type { Csrf } from '../http/csrf.ts';
import type { Engine } from '../oidc/provider.ts';
import { createOwnClient } from '../rp/own-client.ts';
import { rpRoutes } from '../rp/routes.ts';
import { createRpSessions } from '../rp/sessions.ts';
import { createSignedIn } from '../rp/signed-in.ts';
import { browserRoutes } from '../self-service/browser-routes.ts';
import { consentRoutes } from '../self-service/consent-routes.ts';
import { dashboardRoutes } from '../self-service/dashboard-routes.ts';
import { emailRoutes } from '../self-service/email-routes.ts';
import { factorRoutes } from '../self-service/factor-routes.ts';
import { createLauncher } from '../self-service/launcher.ts';
import { createLongPassword } from '../self-service/long-password.ts';
import { createNewFactor } from '../self-service/new-factor.ts';
import { createOwnPage } from '../self-service/page.ts';
import { passkeyRoutes } from '../self-service/passkey-routes.ts';
import { passwordRoutes } from '../self-service/password-routes.ts';
import { phoneRoutes } from '../self-service/phone-routes.ts';
import { accountRoutes } from '../self-service/routes.ts';
import { sessionRoutes } from '../self-service/session-routes.ts';
import { strengthRoutes } from '../self-service/strength-routes.ts';
import type { EmailProof } from '../self-service/verify-email.ts';
import type { Services } from '../services.ts';
import { walkers } from './sign-out.ts';

export interface OwnPagesParts {
  services: Services;
  engine: Engine;
  cookies: Cookies;
  csrf: Csrf;
  emailProof: EmailProof;
}

export function assembleOwnPages({ services, engine, cookies, csrf, emailProof }: OwnPagesParts) {
  const { accounts, config, credentials, db, endSession, mfa, now, rateLimits, sentCodes, sessions, vault } = services;
  const { protect } = csrf;
  const ownClient = createOwnClient({ provider: engine.current });
  const rpSessions = createRpSessions({ db, now, sessions });
  const signedIn = createSignedIn({
    cookies,
    rpSessions,
    accounts,
    now,
    strongestAcr: services.signInPolicy.strongestAcr,
    seen: sessions.seen,
  });
  const page = createOwnPage({
    signedIn,
    protect,
    cookies,
    tell: services.tell,
  });
  const newFactor = createNewFactor({ page, ...mfa, host: config.issuerUrl.host, now });
  const longPassword = createLongPassword({ page, credentials, factors: mfa.factors });
  return {
    signedIn,
    page,
    routers: [
      rpRoutes({ base: config.issuer, cookies, ownClient, rpSessions, protect }),
      dashboardRoutes({
        page,
        launcher: createLauncher({ ...services, issuer: config.issuer }),
        sessions,
        factors: mfa.factors,
        credentials,
      }),
      accountRoutes({ page, accounts, credentials, factors: mfa.factors }),
      passwordRoutes({
        page,
        credentials,
        factors: mfa.factors,
        knownBrowsers: mfa.knownBrowsers,
        sessions,
        endSession,
      }),
      strengthRoutes({ meter: services.meter, serviceNames: services.serviceNames, rateLimits, protect }),
      emailRoutes({ page, emailProof }),
      factorRoutes({ page, ...mfa, sentCodes, rateLimits, rpSessions, newFactor, longPassword }),
      passkeyRoutes({ page, now, vault, passkeys: mfa.passkeys, newFactor, longPassword }),
      phoneRoutes({ page, phones: mfa.phones, sentCodes, rateLimits, newFactor }),
      browserRoutes({ page, cookies, knownBrowsers: mfa.knownBrowsers, audit: services.audit }),
      consentRoutes({ page, sessions, consents: services.consents, audit: services.audit }),
      sessionRoutes({
        page,
        db,
        sessions,
        endSession,
        walkerOf: walkers({ cookies }),
      }),
    ],
  };
}
