// Builds the SAML identity provider: its routes, the response mode of the engine, its jobs, and what logout needs of it.

import type { ApplicationServices } from '../../applications/application-services.ts';
import type { Context } from '../../base/http/context.ts';
import type { Http } from '../../base/http/http.ts';
import type { Core } from '../../core/core.ts';
import { offeredLanguages } from '../../core/settings/value-schemas.ts';
import type { People } from '../../people/people.ts';
import { createSeenMessages, samlRateLimit } from './messages/received.ts';
import type { FetchMetadata } from './metadata/fetch.ts';
import { createSigningIdentity, presentationOf } from './metadata/presentation.ts';
import { createCertificateNotice, createMetadataRefresh, samlJobs } from './metadata/refresh.ts';
import { createServiceProviders } from './metadata/service-providers.ts';
import { createWaitingMetadata } from './metadata/waiting-metadata.ts';
import { createSessionParticipants } from './slo/session-participants.ts';
import { createAcceptRequest } from './sso/accept-request.ts';
import { createAssertionPreviews } from './sso/assertion-previews.ts';
import { createAuthorizationParameterChecks } from './sso/authorization-parameter-checks.ts';
import { createPendingAuthnRequests } from './sso/pending-authn-requests.ts';
import { createRequestedSubjects } from './sso/requested-subject.ts';
import { createResponseMode } from './sso/response-mode.ts';
import { createSamlResponses } from './sso/responses.ts';
import { createRequestBrowser, samlRoutes } from './sso/routes.ts';
import { createStoredNameIds } from './sso/stored-name-ids.ts';
import { loadSamlSchemas } from './xml/schema.ts';

export type Saml = ReturnType<typeof createSaml>;

export function createSaml(
  dependencies: Core &
    Http &
    People &
    ApplicationServices & {
      /** Throws with a sentence for the administrator. */
      fetchMetadata: FetchMetadata;
    },
) {
  const { vault } = dependencies;
  const services = createSamlServices(dependencies);
  const { entityId, validateXml, skewSeconds, signer, metadata, rateLimit, browser, acceptRequest } = services;
  const { serviceProviders, pendingAuthnRequests, seenMessages, sessionParticipants, parameterChecks } = services;

  return {
    presentation: services.presentation,
    /** Changed metadata that waits for an administrator. */
    waitingMetadata: createWaitingMetadata(dependencies),
    routes: samlRoutes({
      ...dependencies,
      metadata,
      serviceProviders,
      pendingAuthnRequests,
      acceptRequest,
      rateLimit,
      browser,
    }),
    /** The name of a service provider in the language of a page. */
    titleOf: serviceProviders.titleOf,
    titleOfEntity: async (id: string) => (await serviceProviders.find(id))?.title,
    /** What an application would receive about a user. */
    previews: services.previews,
    /** What a pending AuthnRequest requires of the sign-in. */
    requirements: parameterChecks.requirements,
    engine: engineHooks(dependencies, services),
    /** What single logout needs (src/protocols/logout). */
    slo: {
      entityId,
      validateXml,
      skewSeconds,
      signer,
      rateLimit,
      serviceProviders,
      seenMessages,
      sessionParticipants,
      nameIds: services.nameIds,
    },
    /** What test sign-ins of the console need (src/test-bench). */
    tests: {
      serviceProviders,
      pendingAuthnRequests,
      browser,
      openTestResponse: (sealed: string, id: string) => vault.open(sealed, testResponseContext(id)).toString(),
    },
    jobs: metadataJobs(dependencies, services),
  };
}

type SamlServices = ReturnType<typeof createSamlServices>;

/** What the routes, the engine, the logout and the jobs share. */
function createSamlServices(
  dependencies: Core &
    Http &
    People &
    ApplicationServices & {
      /** Throws with a sentence for the administrator. */
      fetchMetadata: FetchMetadata;
    },
) {
  const {
    brand,
    cookies,
    settings,
    config: { issuer: base },
  } = dependencies;
  const entityId = `${base}/saml/metadata`;
  const { protocol: validateXml } = loadSamlSchemas();
  const skewSeconds = () => settings.latest().clock_skew_seconds;
  const requireSignedRequests = () => settings.latest().saml_signed_requests;
  const browser = createRequestBrowser({ cookies });

  const presentation = () => presentationOf(brand.current(), offeredLanguages(settings.latest()));
  const { signer, metadata } = createSigningIdentity({
    ...dependencies,
    entityId,
    requireSignedRequests,
    presentation,
  });
  const serviceProviders = createServiceProviders({ ...dependencies, requireSignedRequests });
  const seenMessages = createSeenMessages(dependencies);
  const pendingAuthnRequests = createPendingAuthnRequests(dependencies);
  const nameIds = createStoredNameIds(dependencies);
  const sessionParticipants = createSessionParticipants(dependencies);
  const requestedSubjects = createRequestedSubjects({
    ...dependencies,
    issuer: entityId,
    nameIds,
    sessionParticipants,
  });
  const responses = createSamlResponses({ ...dependencies, issuer: entityId, signer, nameIds });
  return {
    entityId,
    validateXml,
    skewSeconds,
    presentation,
    signer,
    metadata,
    rateLimit: samlRateLimit(dependencies),
    browser,
    serviceProviders,
    seenMessages,
    pendingAuthnRequests,
    responses,
    previews: createAssertionPreviews({ issuer: entityId, nameIds }),
    sessionParticipants,
    requestedSubjects,
    nameIds,
    parameterChecks: createAuthorizationParameterChecks({
      serviceProviders,
      pendingAuthnRequests,
      requestedSubjects,
      browserOf: browser.of,
    }),
    acceptRequest: createAcceptRequest({
      ...dependencies,
      skewSeconds,
      validateXml,
      serviceProviders,
      seenMessages,
      responses,
      requestedSubjects,
    }),
  };
}

/** What the OpenID Connect engine calls. */
function engineHooks(
  services: Core & Http & People,
  {
    serviceProviders,
    pendingAuthnRequests,
    parameterChecks,
    requestedSubjects,
    responses,
    sessionParticipants,
    browser,
  }: SamlServices,
) {
  const { settings, vault } = services;

  return {
    respond: createResponseMode({
      ...services,
      serviceProviders,
      pendingAuthnRequests,
      parameterChecks,
      responses,
      requestedSubjects,
      sessionParticipants,
      sessionSeconds: () => settings.latest().session_hours * 3600,
      browserOf: browser.of,
      sealTestResponse: (xml, id) => vault.seal(xml, testResponseContext(id)),
    }),
    isPendingAuthnRequest: (ctx: unknown, params: Record<string, unknown> = {}) =>
      parameterChecks.isPendingAuthnRequest(ctx as Context, params),
    requirements: (ctx: unknown, params: Record<string, unknown> = {}) =>
      parameterChecks.requirements(ctx as Context, params),
    assertionConsumerUrls: serviceProviders.assertionConsumerUrls,
  };
}

/** Keep the registered metadata up to date, and announce certificates that expire. */
function metadataJobs(
  dependencies: Core &
    ApplicationServices & {
      /** Throws with a sentence for the administrator. */
      fetchMetadata: FetchMetadata;
    },
  { serviceProviders }: SamlServices,
) {
  const { fetchMetadata } = dependencies;
  return samlJobs({
    refreshMetadata: createMetadataRefresh({ ...dependencies, fetchMetadata }),
    notifyOfCertificates: createCertificateNotice({ ...dependencies, serviceProviders }),
  });
}

/** Binds the encrypted Response of a test sign-in to its request. */
const testResponseContext = (id: string): string => `saml test:${id}`;
