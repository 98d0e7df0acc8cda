// Creates what the parts of the SAML identity provider share: its identity, the service providers, and what is stored of their requests.

import type { ApplicationServices } from '../../../applications/application-services.ts';
import type { Http } from '../../../base/http/http.ts';
import type { Core } from '../../../core/core.ts';
import { offeredLanguages } from '../../../core/settings/value-schemas.ts';
import type { People } from '../../../people/people.ts';
import { createSeenMessages, samlRateLimit } from '../messages/received.ts';
import { createSigningIdentity, presentationOf } from '../metadata/presentation.ts';
import { createServiceProviders } from '../metadata/service-providers.ts';
import { createSessionParticipants } from '../slo/session-participants.ts';
import { loadSamlSchemas } from '../xml/schema.ts';
import { createPendingAuthnRequests, createRequestBrowser } from './pending-authn-requests.ts';
import { createRequestedSubjects } from './requested-subject.ts';
import { createSamlResponses } from './responses.ts';
import { createStoredNameIds } from './stored-name-ids.ts';

export type SamlServices = ReturnType<typeof createSamlServices>;

export function createSamlServices(services: Core & Http & People & ApplicationServices) {
  const { brand, settings, config } = services;
  const entityId = `${config.issuer}/saml/metadata`;
  const presentation = () => presentationOf(brand.current(), offeredLanguages(settings.latest()));
  const { signer, metadata } = createSigningIdentity({ ...services, entityId, presentation });
  const nameIds = createStoredNameIds(services);
  const sessionParticipants = createSessionParticipants(services);
  return {
    /** Entity ID of this identity provider. */
    entityId,
    /** The name and the languages of the settings. */
    presentation,
    signer,
    /** The document at /saml/metadata. */
    metadata,
    validateXml: loadSamlSchemas().protocol,
    skewSeconds: () => settings.latest().clock_skew_seconds,
    rateLimit: samlRateLimit(services),
    browser: createRequestBrowser(services),
    serviceProviders: createServiceProviders(services),
    seenMessages: createSeenMessages(services),
    pendingAuthnRequests: createPendingAuthnRequests(services),
    nameIds,
    sessionParticipants,
    requestedSubjects: createRequestedSubjects({ ...services, entityId, nameIds, sessionParticipants }),
    responses: createSamlResponses({ ...services, entityId, signer, nameIds }),
  };
}
