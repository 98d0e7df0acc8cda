// Builds the SAML identity provider: its routes, the response mode of the engine, its jobs, and what logout needs of it.

import type { Applications } from '../../applications/applications.ts';
import type { Context } from '../../base/http/context.ts';
import type { Cookies } from '../../base/http/cookies.ts';
import type { BrandLook } from '../../base/http/pages/brand-look.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Logger } from '../../base/platform/logger.ts';
import type { Metrics } from '../../base/platform/metrics.ts';
import type { Vault } from '../../base/platform/vault.ts';
import type { Db } from '../../base/storage/database.ts';
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import type { Sql } from '../../base/storage/statements.ts';
import type { Audit } from '../../core/audit/audit.ts';
import type { RepeatedEntries } from '../../core/audit/repeated-entries.ts';
import type { Keyring } from '../../core/keys/keyring.ts';
import type { Outbox } from '../../core/mail/outbox.ts';
import type { Rejections } from '../../core/rejections/rejections.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { offeredLanguages } from '../../core/settings/value-schemas.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';
import { samlRateLimit } from './messages/rate-limit.ts';
import { createSeenMessages } from './messages/seen-messages.ts';
import type { FetchMetadata } from './metadata/fetch.ts';
import { presentationOf } from './metadata/presentation.ts';
import {
  createCertificateNotice,
  createMetadataRefresh,
  type MetadataRefreshDependencies,
  samlJobs,
} from './metadata/refresh.ts';
import { createServiceProviders } from './metadata/service-providers.ts';
import { createSigningIdentity } from './metadata/signing-identity.ts';
import { createWaitingMetadata } from './metadata/waiting-metadata.ts';
import { createSessionParticipants } from './slo/session-participants.ts';
import { createAcceptRequest } from './sso/accept-request.ts';
import { createAssertionPreviews } from './sso/assertion-previews.ts';
import { createAuthorizationParameterChecks } from './sso/authorization-parameter-checks.ts';
import { createPendingAuthnRequests } from './sso/pending-authn-requests.ts';
import { createRequestBrowser } from './sso/request-browser.ts';
import { createRequestedSubjects } from './sso/requested-subject.ts';
import { createResponseMode } from './sso/response-mode.ts';
import { createSamlResponses } from './sso/responses.ts';
import { samlRoutes } from './sso/routes.ts';
import { createStoredNameIds } from './sso/stored-name-ids.ts';
import { loadSamlSchemas } from './xml/schema.ts';

export interface SamlDependencies {
  /** Public base URL, the OIDC issuer. */
  base: string;
  brand: { current(): BrandLook | undefined };
  db: Db;
  sql: Sql;
  now: Clock;
  logger: Logger;
  vault: Vault;
  protectedRows: ProtectedRows;
  cookies: Cookies;
  metrics: Metrics;
  accounts: Accounts;
  applications: Applications;
  audit: Audit;
  keyring: Keyring;
  outbox: Outbox;
  rateLimits: RateLimits;
  rejections: Rejections;
  repeatedEntries: RepeatedEntries;
  settings: Settings;
  /** Throws with a sentence for the administrator. */
  fetchMetadata: FetchMetadata;
  notifyAdministrators: MetadataRefreshDependencies['notifyAdministrators'];
}

export type Saml = ReturnType<typeof createSaml>;

export function createSaml(dependencies: SamlDependencies) {
  const { base, db, now, vault, audit, applications, protectedRows } = dependencies;
  const services = createSamlServices(dependencies);
  const { entityId, validateXml, skewSeconds, signer, metadata, rateLimit, browser, acceptRequest } = services;
  const { serviceProviders, pendingAuthnRequests, seenMessages, sessionParticipants, parameterChecks } = services;

  return {
    presentation: services.presentation,
    /** Changed metadata that waits for an administrator. */
    waitingMetadata: createWaitingMetadata({ db, now, audit, applications, protectedRows }),
    routes: samlRoutes({
      base,
      metadata,
      serviceProviders,
      pendingAuthnRequests,
      acceptRequest,
      rateLimit,
      browser,
      now,
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
function createSamlServices(dependencies: SamlDependencies) {
  const { base, brand, db, sql, now, protectedRows, cookies, keyring, rejections, repeatedEntries, settings } =
    dependencies;
  const entityId = `${base}/saml/metadata`;
  const { protocol: validateXml } = loadSamlSchemas();
  const skewSeconds = () => settings.latest().clock_skew_seconds;
  const requireSignedRequests = () => settings.latest().saml_signed_requests;
  const browser = createRequestBrowser({ cookies });

  const presentation = () => presentationOf(brand.current(), offeredLanguages(settings.latest()));
  const { signer, metadata } = createSigningIdentity({
    base,
    entityId,
    keyring,
    requireSignedRequests,
    presentation,
  });
  const serviceProviders = createServiceProviders({ db, sql, protectedRows, requireSignedRequests });
  const seenMessages = createSeenMessages({ sql, now });
  const pendingAuthnRequests = createPendingAuthnRequests({ db, sql, now, protectedRows });
  const nameIds = createStoredNameIds({ db, sql, now, protectedRows });
  const sessionParticipants = createSessionParticipants({ db, sql, now });
  const requestedSubjects = createRequestedSubjects({
    issuer: entityId,
    accounts: dependencies.accounts,
    nameIds,
    sessionParticipants,
  });
  const responses = createSamlResponses({ issuer: entityId, now, signer, nameIds });
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
      base,
      now,
      skewSeconds,
      validateXml,
      serviceProviders,
      seenMessages,
      responses,
      requestedSubjects,
      repeatedEntries,
      rejections,
    }),
  };
}

/** What the OpenID Connect engine calls. */
function engineHooks(
  { accounts, audit, metrics, now, rejections, repeatedEntries, settings, vault }: SamlDependencies,
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
  return {
    respond: createResponseMode({
      serviceProviders,
      pendingAuthnRequests,
      parameterChecks,
      responses,
      requestedSubjects,
      sessionParticipants,
      accounts,
      audit,
      repeatedEntries,
      rejections,
      metrics,
      now,
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
function metadataJobs(dependencies: SamlDependencies, { serviceProviders }: SamlServices) {
  const { db, sql, now, logger, audit, applications, keyring, outbox, fetchMetadata, notifyAdministrators } =
    dependencies;
  return samlJobs({
    refreshMetadata: createMetadataRefresh({
      db,
      sql,
      applications,
      audit,
      logger,
      now,
      fetchMetadata,
      notifyAdministrators,
      protectedRows: dependencies.protectedRows,
    }),
    notifyOfCertificates: createCertificateNotice({ db, sql, now, keyring, applications, serviceProviders, outbox }),
  });
}

/** Binds the encrypted Response of a test sign-in to its request. */
const testResponseContext = (id: string): string => `saml test:${id}`;
