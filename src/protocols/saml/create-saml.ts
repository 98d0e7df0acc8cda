// Builds the SAML identity provider: its routes, the response mode of the engine, its jobs, and what logout needs of it.

import type { ApplicationServices } from '../../applications/application-services.ts';
import type { Context } from '../../base/http/context.ts';
import type { Http } from '../../base/http/http.ts';
import type { Core } from '../../core/core.ts';
import type { People } from '../../people/people.ts';
import type { FetchMetadata } from './metadata/fetch.ts';
import { createCertificateNotice, createMetadataRefresh, samlJobs } from './metadata/refresh.ts';
import { createWaitingMetadata } from './metadata/waiting-metadata.ts';
import { createAcceptRequest } from './sso/accept-request.ts';
import { createAssertionPreviews } from './sso/assertion-previews.ts';
import { createAuthorizationParameterChecks } from './sso/authorization-parameter-checks.ts';
import { createResponseMode, openTestResponse } from './sso/response-mode.ts';
import { samlRoutes } from './sso/routes.ts';
import { createSamlServices } from './sso/saml-services.ts';

export type Saml = ReturnType<typeof createSaml>;

export function createSaml(given: Core & Http & People & ApplicationServices & { fetchMetadata: FetchMetadata }) {
  const saml = createSamlServices(given);
  const services = { ...given, ...saml };
  const { serviceProviders, pendingAuthnRequests, browser } = saml;
  const parameterChecks = createAuthorizationParameterChecks(saml);
  return {
    services: saml,
    /** Changed metadata that waits for an administrator. */
    waitingMetadata: createWaitingMetadata(given),
    routes: samlRoutes({ ...services, acceptRequest: createAcceptRequest(services) }),
    /** The name of a service provider in the language of a page. */
    titleOf: serviceProviders.titleOf,
    titleOfEntity: async (id: string) => (await serviceProviders.find(id))?.title,
    /** What an application would receive about a user. */
    previews: createAssertionPreviews(saml),
    /** What a pending AuthnRequest requires of the sign-in. */
    requirements: parameterChecks.requirements,
    /** What the OpenID Connect engine calls. */
    engine: {
      respond: createResponseMode({ ...services, parameterChecks }),
      isPendingAuthnRequest: (ctx: unknown, params: Record<string, unknown> = {}) =>
        parameterChecks.isPendingAuthnRequest(ctx as Context, params),
      requirements: (ctx: unknown, params: Record<string, unknown> = {}) =>
        parameterChecks.requirements(ctx as Context, params),
      assertionConsumerUrls: serviceProviders.assertionConsumerUrls,
    },
    /** What test sign-ins of the console need (src/test-bench). */
    tests: {
      serviceProviders,
      pendingAuthnRequests,
      browser,
      openTestResponse: (sealed: string, id: string) => openTestResponse(given, sealed, id),
    },
    jobs: samlJobs({
      refreshMetadata: createMetadataRefresh(given),
      notifyOfCertificates: createCertificateNotice({ ...given, serviceProviders }),
    }),
  };
}
