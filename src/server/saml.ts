// Puts the SAML identity provider together from the services.

import type { Context } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { createSamlAnswers } from '../logout/saml-answers.ts';
import { createSamlMessages } from '../logout/saml-messages.ts';
import { createSamlProbe } from '../logout/saml-probe.ts';
import { samlLogoutRoutes } from '../logout/saml-routes.ts';
import type { Metrics } from '../platform/metrics.ts';
import { randomToken } from '../platform/random.ts';
import { createAnswers } from '../saml/answers.ts';
import { createCertificateNotice } from '../saml/certificate-notice.ts';
import { createKeptRequests } from '../saml/kept-requests.ts';
import { identityProviderMetadata } from '../saml/metadata-idp.ts';
import { createMetadataRefresh } from '../saml/metadata-refresh.ts';
import { createOpenQuestions } from '../saml/open-question.ts';
import { createParticipants } from '../saml/participants.ts';
import { createResponseMode } from '../saml/response-mode.ts';
import { samlRoutes } from '../saml/routes.ts';
import { createServiceProviders } from '../saml/service-providers.ts';
import { createStoredNameIds } from '../saml/stored-name-ids.ts';
import { throttle } from '../saml/throttle.ts';
import { loadSamlSchemas } from '../saml/xml/schema.ts';
import { createSigner, type Signer } from '../saml/xml/sign.ts';
import type { Services } from '../services.ts';
import { walkers } from './sign-out.ts';

export interface SamlParts {
  services: Services;
  metrics: Metrics;
  cookies: Cookies;
}

/** What the answer to a test is sealed with. */
export const samlTestContext = (id: string): string => `saml test:${id}`;

export function assembleSaml({ services, metrics, cookies }: SamlParts) {
  const { accounts, audit, refusals, config, endSession, keyring, now, runs, settings } = services;
  const base = config.issuer;
  const issuer = `${base}/saml/metadata`;
  const { protocol: judge } = loadSamlSchemas();

  // Both follow the keys; made anew when they change, not for each message.
  let made: { kid: string; signer: Signer; metadata: string; wantSigned: boolean } | undefined;
  const wantSigned = () => settings.latest().saml_signed_requests;
  function current() {
    const credential = keyring.samlCredential();
    const published = keyring.samlCertificates();
    const kid = published.map((certificate) => `${certificate.state}:${certificate.kid}`).join(' ');
    if (made?.kid !== kid || made.wantSigned !== wantSigned()) {
      const metadata = identityProviderMetadata({
        entityId: issuer,
        ssoUrl: `${base}/saml/sso`,
        sloUrl: `${base}/saml/slo`,
        signingCertificates: published.map(({ certificatePem }) => certificatePem),
        wantAuthnRequestsSigned: wantSigned(),
        displayName: 'Gatehouse',
        url: base,
        cacheSeconds: 3600,
      });
      made = { kid, signer: createSigner(credential), metadata, wantSigned: wantSigned() };
    }
    return made;
  }

  const browser = {
    of: (ctx: Context) => cookies.get(ctx, 'samlRequest'),
    remember(ctx: Context) {
      const value = cookies.get(ctx, 'samlRequest') ?? randomToken();
      cookies.set(ctx, 'samlRequest', value);
      return value;
    },
  };
  const signer = () => current().signer;
  const skewSeconds = () => settings.latest().clock_skew_seconds;
  const store = { sql: services.sql, kind: services.kind };
  const serviceProviders = createServiceProviders({ ...store, wantSigned });
  const keptRequests = createKeptRequests({ ...store, now });
  const participants = createParticipants({ ...store, now });
  const answers = createAnswers({ issuer, now, signer, nameIds: createStoredNameIds({ ...store, now }) });
  const throttled = throttle(services);
  const common = { base, now, skewSeconds, judge, serviceProviders, keptRequests, audit, refusals, throttled };

  const calls = { now, skewSeconds, judge, fetch: services.outgoing as typeof fetch };
  const samlMessages = createSamlMessages({ ...calls, issuer, signer, serviceProviders });
  const questions = createOpenQuestions({ serviceProviders, keptRequests, browserOf: browser.of });

  return {
    wishes: questions.wishes,
    jobs: {
      refreshMetadata: createMetadataRefresh(services),
      notifyOfCertificates: createCertificateNotice({ ...services, serviceProviders }),
    },
    routes: samlRoutes({ ...common, metadata: () => current().metadata, answers, browser }),
    samlMessages,
    samlProbe: createSamlProbe({ ...calls, base, samlMessages }),
    serviceProviders,
    tests: { serviceProviders, keptRequests, browser },
    logoutRoutes: samlLogoutRoutes({
      ...common,
      issuer,
      participants,
      endSession,
      samlMessages,
      answers: createSamlAnswers({ ...common, runs }),
      walkerOf: walkers({ cookies }),
    }),
    engine: {
      respond: createResponseMode({
        serviceProviders,
        keptRequests,
        questions,
        answers,
        participants,
        accounts,
        audit,
        refusals,
        metrics,
        sessionSeconds: () => settings.latest().session_hours * 3600,
        browserOf: browser.of,
        seal: (xml, id) => services.vault.seal(xml, samlTestContext(id)),
      }),
      isAsked: (ctx: unknown, params: Record<string, unknown> = {}) => questions.isAsked(ctx as Context, params),
      wishes: (ctx: unknown, params: Record<string, unknown> = {}) => questions.wishes(ctx as Context, params),
      assertionConsumerUrls: serviceProviders.assertionConsumerUrls,
    },
  };
}
