// The composition root of administration: console, admin API, diagnostics, test bench and access evaluation.
import type { RequestListener } from 'node:http';
import { createAdmin } from '../admin/create-admin.ts';
import { createAdminApi } from '../admin/create-admin-api.ts';
import { createConsole } from '../admin/create-console.ts';
import { createAuthzen } from '../authzen/create-authzen.ts';
import { createDiagnostics } from '../diagnostics/create-diagnostics.ts';
import { createWarnings } from '../diagnostics/warnings.ts';
import { createInternalRequest } from '../http/internal-request.ts';
import { packageVersion } from '../platform/package.ts';
import type { Services } from '../services.ts';
import { createTestBench } from '../test-bench/create-test-bench.ts';
import type { HttpServices } from './http-services.ts';
import type { Protocols } from './protocols.ts';
import type { UserPages } from './user-pages.ts';

export interface AdministrationDependencies {
  services: Services;
  http: HttpServices;
  protocols: Protocols;
  userPages: UserPages;
  /** Wakes the delivery of mail. */
  wakeMailDelivery(): void;
  /** The whole application, for requests of the server to itself. */
  handler(): RequestListener;
}

/** Returns the routers in the order in which they run. */
export function createAdministration({ services, http, protocols, userPages, ...needs }: AdministrationDependencies) {
  const { accounts, applications, audit, config, consents, credentials, db, endSession, fetchMetadata, keyring } =
    services;
  const { lockout, mfa, notifyOwner, now, outbox, permissions, configFile, fileReader, rateLimits, rejections, roles } =
    services;
  const { sessions, settings, sql, vault } = services;
  const { issuer } = config;
  const { claimsPreview, apiTokens: tokens, accountOf } = protocols.oidc;
  const { invitations } = userPages.registration;
  const { passwordReset } = userPages.recovery;

  const admin = createAdmin({
    protectedRows: services.protectedRows,
    db,
    sql,
    now,
    accounts,
    applications,
    issuer,
    connections: services.connections,
    connectionDocuments: services.connectionDocuments,
    domainChecks: services.domainChecks,
    audit,
    credentials,
    endSession,
    fetchMetadata,
    waitingMetadata: protocols.saml.waitingMetadata,
    invitations,
    keyring,
    lockout,
    wakeMailDelivery: needs.wakeMailDelivery,
    mfa,
    outbox,
    configFile,
    fileReader,
    passwordReset,
    roles,
    sessions,
    settings,
    notifyOwner,
  });
  const console = createConsole({
    admin,
    issuer,
    db,
    now,
    vault,
    accounts,
    audit,
    keyring,
    page: userPages.account.page,
    tries: userPages.federation.tries,
    warnings: createWarnings({
      ...{ db, now, audit, accounts, lockout, keyring, settings, config },
      firstFactor: mfa.firstFactor,
      connectionWarnings: services.connectionWarnings,
    }),
  });
  const { frame, names } = console;
  const diagnostics = createDiagnostics({
    issuer,
    db,
    accounts,
    applications,
    audit,
    lockout,
    rejections,
    claimsPreview,
    frame,
    names,
    applicationAdmin: admin.applications,
    userAdmin: admin.users,
  });
  const testBench = createTestBench({
    issuer,
    db,
    now,
    vault,
    cookies: http.cookies,
    settings,
    keyring,
    rateLimits,
    frame,
    applications,
    claimsPreview,
    applicationAdmin: admin.applications,
    saml: protocols.saml.tests,
    internalRequest: createInternalRequest({ handler: needs.handler, host: config.issuerUrl.host }),
  });
  const api = createAdminApi({
    endpoints: [...admin.endpoints, ...diagnostics.endpoints],
    issuer,
    version: packageVersion(),
    db,
    now,
    vault,
    accounts,
    authority: admin.authority,
    rateLimits,
    tokens,
    strongestProof: services.signInPolicy.strongestProof,
    staffAcr: services.signInPolicy.staffAcr,
  });
  const authzen = createAuthzen({
    ...{ issuer, accounts, applications, audit, permissions, rateLimits, tokens, accountOf },
    hasUsed: consents.hasUsed,
  });
  const routers = [console, diagnostics, testBench, api].flatMap((part) => part.routers);
  return { routers: [...routers, authzen.router] };
}
