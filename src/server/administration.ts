// The composition root of administration: console, admin API, diagnostics, test bench and access evaluation.
import type { RequestListener } from 'node:http';
import type { Endpoint } from '../admin/api/endpoint.ts';
import { createApplicationPreviews } from '../admin/applications/preview.ts';
import { type Admin, createAdmin } from '../admin/create-admin.ts';
import { createAdminApi } from '../admin/create-admin-api.ts';
import { type Console, createConsole } from '../admin/create-console.ts';
import type { Config } from '../base/config.ts';
import type { Http } from '../base/http/http.ts';
import { createInternalRequest } from '../base/http/internal-request.ts';
import { packageVersion } from '../base/platform/package.ts';
import { t } from '../base/texts/text.ts';
import { createTestMail } from '../core/mail/test-mail.ts';
import { createDiagnostics } from '../diagnostics/create-diagnostics.ts';
import { createWarnings, lockedAccounts } from '../diagnostics/warnings.ts';
import { createAuthzen } from '../protocols/authzen/routes.ts';
import { createTestBench } from '../test-bench/create-test-bench.ts';
import type { Protocols } from './protocols.ts';
import type { Services } from './services.ts';
import type { UserPages } from './user-pages.ts';

export interface AdministrationDependencies {
  services: Services;
  http: Http;
  protocols: Protocols;
  userPages: UserPages;
  /** Wakes the delivery of mail. */
  wakeMailDelivery(): void;
  /** The whole application, for requests of the server to itself. */
  handler(): RequestListener;
}

/** Returns the routers in the order in which they run, and what runs before every route. */
export function createAdministration(dependencies: AdministrationDependencies) {
  const admin = adminActions(dependencies);
  const console = consoleOf(dependencies, admin);
  const diagnostics = diagnosticsOf(dependencies, { admin, console });
  const testBench = testBenchOf(dependencies, { admin, console });
  const api = adminApi(dependencies, { admin, endpoints: [...admin.endpoints, ...diagnostics.endpoints] });
  const authzen = accessEvaluation(dependencies);
  const routers = [console, diagnostics, testBench, api].flatMap((part) => part.routers);
  return { routers: [...routers, authzen.router], consoleErrors: console.frame.errors };
}

function adminActions({ services, protocols, userPages, wakeMailDelivery }: AdministrationDependencies): Admin {
  const {
    accounts,
    apiKeys,
    applications,
    audit,
    brand,
    texts,
    brandImages,
    config,
    configFile,
    connections,
    connectionDocuments,
  } = services;
  const { credentials, db, domainChecks, endSession, fetchMetadata, fileReader, keyring, lockout, mfa, notifyOwner } =
    services;
  const { mailLimits, now, outbox, roles, sessions, settings, sql, ssoIds } = services;
  return createAdmin({
    ...services,
    brandImages,
    db,
    sql,
    now,
    accounts,
    authority: services.authority,
    apiKeys,
    applications,
    resources: services.resources,
    issuer: config.issuer,
    connections,
    connectionDocuments,
    domainChecks,
    clientSecrets: services.clientSecrets,
    audit,
    credentials,
    endSession,
    fetchMetadata,
    pictures: services.pictures,
    waitingMetadata: protocols.saml.waitingMetadata,
    invitations: userPages.registration.invitations,
    keyring,
    lockout,
    wakeMailDelivery,
    mfa,
    mailLimits,
    testMail: createTestMail(services, { texts, brand: brand.current, readPicture: brandImages.read }),
    outbox,
    configFile,
    fileReader,
    passwordReset: userPages.recovery.passwordReset,
    roles,
    sessions,
    settings,
    signUpCodes: services.signUpCodes,
    ssoIds,
    notifyOwner,
  });
}

function consoleOf({ services, userPages, protocols }: AdministrationDependencies, admin: Admin): Console {
  const { accounts, audit, brand, brandImages, config, connectionWarnings, db, keyring, lockout, mfa, now } = services;
  const { settings, sql } = services;
  return createConsole({
    admin,
    brand,
    brandImages,
    pictures: services.pictures,
    issuer: config.issuer,
    preview: createApplicationPreviews({
      assertionPreviews: protocols.saml.previews,
      claimsPreview: protocols.oidc.claimsPreview,
      registrationFaultOf: protocols.oidc.registrationFaultOf,
    }),
    db,
    sql,
    now,
    storedPages: services.storedPages,
    accounts,
    audit,
    keyring,
    page: userPages.account.page,
    tries: userPages.federation.tries,
    config,
    system: systemFacts(config),
    factors: mfa.factors,
    lockedAccounts: () => lockedAccounts({ now, audit, accounts, lockout }),
    recentRejections: services.rejections.countRecent,
    warnings: createWarnings({
      db,
      now,
      audit,
      accounts,
      lockout,
      keyring,
      settings,
      config,
      firstEnrolment: mfa.firstEnrolment,
      connectionWarnings,
    }),
  });
}

function diagnosticsOf(
  { services, protocols, userPages }: AdministrationDependencies,
  { admin, console }: { admin: Admin; console: Console },
) {
  const { accounts, applications, audit, config, credentials, db, identities, lockout, mfa, now } = services;
  const { rateLimits, rejections, settings, signInPolicy, storageBudget } = services;
  return createDiagnostics({
    now,
    credentials,
    factors: mfa.factors,
    directory: services.directory,
    directoryBudget: services.directoryBudget,
    identities,
    rateLimits,
    storageBudget,
    signInPolicy,
    upstream: userPages.federation.signIns,
    deniedNetworks: () => settings.latest().denied_networks,
    roleAdmin: admin.roles,
    issuer: config.issuer,
    hasMailServer: config.smtpUrl !== undefined,
    db,
    accounts,
    applications,
    audit,
    lockout,
    rejections,
    claimsPreview: protocols.oidc.claimsPreview,
    registrationFaultOf: protocols.oidc.registrationFaultOf,
    assertionPreviews: protocols.saml.previews,
    frame: console.frame,
    names: console.names,
    applicationAdmin: admin.applications,
    userAdmin: admin.users,
    connectionAdmin: admin.connections,
    connections: services.connections,
  });
}

function testBenchOf(
  { services, http, protocols, handler }: AdministrationDependencies,
  { admin, console }: { admin: Admin; console: Console },
) {
  const { applications, config, db, keyring, now, rateLimits, settings, vault } = services;
  return createTestBench({
    issuer: config.issuer,
    db,
    now,
    vault,
    cookies: http.cookies,
    settings,
    keyring,
    rateLimits,
    frame: console.frame,
    applications,
    claimsPreview: protocols.oidc.claimsPreview,
    applicationAdmin: admin.applications,
    saml: protocols.saml.tests,
    internalRequest: createInternalRequest({ handler, host: config.issuerUrl.host }),
  });
}

function adminApi(
  { services, protocols }: AdministrationDependencies,
  { admin, endpoints }: { admin: Admin; endpoints: Endpoint[] },
) {
  const { accounts, apiKeys, config, db, directoryUsers, now, rateLimits, recordKeyUse } = services;
  const { repeatedEntries, signInPolicy, vault } = services;
  return createAdminApi({
    apiKeys,
    recordKeyUse,
    repeatedEntries,
    endpoints,
    issuer: config.issuer,
    version: packageVersion(),
    db,
    now,
    vault,
    accounts,
    authority: admin.authority,
    checkDirectories: directoryUsers.check,
    rateLimits,
    tokens: protocols.oidc.apiTokens,
    strongestProof: signInPolicy.strongestProof,
    staffAcr: signInPolicy.staffAcr,
  });
}

function accessEvaluation({ services, protocols }: AdministrationDependencies) {
  const { consents, directoryUsers } = services;
  const { apiTokens: tokens, accountOf } = protocols.oidc;
  return createAuthzen({
    ...services,
    tokens,
    accountOf,
    hasUsed: consents.hasUsed,
    checkDirectories: directoryUsers.check,
  });
}

/** What the environment says about this server, without secrets. */
function systemFacts(config: Config) {
  const { configFile, databaseKind, issuer, mailFrom, smtpUrl, trustProxy, workers } = config;
  return [
    { label: t('console.settings.system.version'), value: packageVersion() },
    {
      label: t('console.settings.system.address'),
      value: { text: issuer, copy: t('console.settings.system.address.copy') },
    },
    { label: t('console.settings.system.database'), value: databaseKind === 'sqlite' ? 'SQLite' : 'PostgreSQL' },
    {
      label: t('console.settings.system.mail-server'),
      value: smtpUrl ? new URL(smtpUrl).host : t('console.settings.system.no-mail-server'),
    },
    { label: t('console.settings.system.mail-sender'), value: mailFrom },
    {
      label: t('console.page.configuration-file'),
      value: configFile ? { text: configFile, code: true } : t('console.settings.system.no-file'),
    },
    { label: t('console.settings.system.proxies'), value: String(trustProxy) },
    { label: t('console.settings.system.processes'), value: String(workers) },
  ];
}
