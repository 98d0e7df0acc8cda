// The composition root of administration: console, admin API, diagnostics, test bench and access evaluation.
import type { RequestListener } from 'node:http';
import { documentRoutes } from '../admin/api/documents.ts';
import { apiRouter } from '../admin/api/router.ts';
import { createConsoleServices } from '../admin/console-services.ts';
import { adminEndpoints, createAdminActions } from '../admin/create-admin.ts';
import { createConsole } from '../admin/create-console.ts';
import { ownerEndpoints } from '../admin/groups/owner-api.ts';
import { createInternalRequest } from '../base/http/internal-request.ts';
import { createDiagnostics } from '../diagnostics/create-diagnostics.ts';
import { createAuthzen } from '../protocols/authzen/routes.ts';
import { createScim } from '../protocols/scim/routes.ts';
import { createTestBench } from '../test-bench/create-test-bench.ts';
import type { Parts } from './protocols.ts';
import type { UserPages } from './user-pages.ts';

interface AdministrationParts extends Parts {
  userPages: UserPages;
  /** The whole application, for requests of the server to itself. */
  handler(): RequestListener;
}

/** Returns the routers in the order in which they run, and what runs before every route. */
export function createAdministration(parts: AdministrationParts) {
  const { services: own, http, protocols, userPages, handler } = parts;
  const services = { ...own, ...http, ...protocols, ...userPages };
  const { config, consents, directoryUsers, oidc } = services;
  const admin = createAdminActions(services);
  const console = createConsoleServices({ ...services, admin });
  const diagnostics = createDiagnostics({ ...services, ...console });
  const internalRequest = createInternalRequest({ handler, host: config.issuerUrl.host });
  const endpoints = [...adminEndpoints(admin), ...ownerEndpoints(services), ...diagnostics.endpoints];
  const authzen = createAuthzen({
    ...services,
    tokens: oidc.apiTokens,
    accountOf: oidc.accountOf,
    hasUsed: consents.hasUsed,
    checkDirectories: directoryUsers.check,
  });
  const scim = createScim({ ...services, tokens: oidc.apiTokens });
  return {
    routers: [
      ...createConsole(console),
      ...diagnostics.routers,
      ...createTestBench({ ...services, ...console, internalRequest }),
      apiRouter(services, endpoints),
      documentRoutes(endpoints, config.issuer),
      authzen.router,
      scim.router,
    ],
    jobs: [admin.imports.job, ...scim.jobs],
    consoleErrors: console.frame.errors,
  };
}
