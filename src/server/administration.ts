// The composition root of administration: console, admin API, diagnostics, test bench and access evaluation.
import type { RequestListener } from 'node:http';
import { apiDocumentRoutes } from '../admin/api/documents.ts';
import { apiRouter } from '../admin/api/router.ts';
import { apiKeyRoutes } from '../admin/api-keys/console.ts';
import { applicationRoutes } from '../admin/applications/console.ts';
import { auditRoutes } from '../admin/audit/console.ts';
import { brandRoutes } from '../admin/branding/console.ts';
import { connectionRoutes } from '../admin/connections/console.ts';
import { type ConsoleServices, createConsoleServices } from '../admin/console-services.ts';
import { adminEndpoints, createAdminActions } from '../admin/create-admin.ts';
import { documentRoutes } from '../admin/documents/console.ts';
import { deliveryRoutes, eventStreamRoutes } from '../admin/event-streams/console.ts';
import { groupRoutes } from '../admin/groups/console.ts';
import { ownerEndpoints } from '../admin/groups/owner-api.ts';
import { keyRoutes } from '../admin/keys/console.ts';
import { mailRoutes, mailTemplateRoutes } from '../admin/mail/console.ts';
import { overviewRoutes } from '../admin/overview/console.ts';
import { confirmationRoutes } from '../admin/proof/console.ts';
import { apiRoutes } from '../admin/resources/console.ts';
import { roleRoutes } from '../admin/roles/console.ts';
import { scimRoutes } from '../admin/scim/console.ts';
import { searchRoutes } from '../admin/search/console.ts';
import { sessionRoutes } from '../admin/sessions/console.ts';
import { settingRoutes } from '../admin/settings/console.ts';
import { signUpCodeRoutes } from '../admin/sign-up-codes/console.ts';
import { suggestionRoutes } from '../admin/suggestions/console.ts';
import { userRoutes } from '../admin/users/console.ts';
import { importRoutes } from '../admin/users/console-import.ts';
import { createInternalRequest } from '../base/http/internal-request.ts';
import { accessCheckEndpoints, createAccessCheck } from '../diagnostics/access-check/access-check.ts';
import { accessCheckRoutes } from '../diagnostics/access-check/console.ts';
import { rejectionRoutes } from '../diagnostics/rejections/console.ts';
import { createRejectionAdmin, rejectionEndpoints } from '../diagnostics/rejections/explanation.ts';
import type { DiagnosticServices } from '../diagnostics/services.ts';
import { createAuthzen } from '../protocols/authzen/routes.ts';
import { createSsf } from '../protocols/event-streams/ssf-routes.ts';
import { createTestTickets } from '../protocols/oidc/store/test-tickets.ts';
import { createScim } from '../protocols/scim/routes.ts';
import type { TestBenchServices } from '../test-bench/services.ts';
import { testAppRoutes } from '../test-bench/test-app-routes.ts';
import { testRegistrationRoutes } from '../test-bench/test-registrations.ts';
import { testSignInRoutes } from '../test-bench/test-sign-in-routes.ts';
import { createTestSp } from '../test-bench/test-sp.ts';
import { testSpRoutes } from '../test-bench/test-sp-routes.ts';
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
  const ssf = createSsf({ ...services, tokens: oidc.apiTokens });
  return {
    routers: [
      ...createConsole(console),
      ...diagnostics.routers,
      ...createTestBench({ ...services, ...console, internalRequest }),
      apiRouter(services, endpoints),
      apiDocumentRoutes(endpoints, config.issuer),
      authzen.router,
      scim.router,
      ssf.router,
    ],
    jobs: [admin.imports.job, ...scim.jobs],
    consoleErrors: console.frame.errors,
  };
}

/** The pages of each noun under /admin, on the same actions that the admin API calls. */
export const createConsole = (services: ConsoleServices) => [
  // First: it hands requests to the others.
  confirmationRoutes(services),
  overviewRoutes(services),
  applicationRoutes(services),
  apiRoutes(services),
  connectionRoutes(services),
  scimRoutes(services),
  userRoutes(services),
  importRoutes(services),
  roleRoutes(services),
  groupRoutes(services),
  suggestionRoutes(services),
  searchRoutes(services),
  documentRoutes(services),
  sessionRoutes(services),
  auditRoutes(services),
  eventStreamRoutes(services),
  deliveryRoutes(services),
  apiKeyRoutes(services),
  keyRoutes(services),
  mailRoutes(services),
  mailTemplateRoutes(services),
  ...brandRoutes(services),
  settingRoutes(services),
  signUpCodeRoutes(services),
];

/** Why a request was rejected, whether a user may open an application, and what it would receive: for API and console. */
export function createDiagnostics(services: DiagnosticServices) {
  const accessCheck = createAccessCheck(services);
  const rejections = createRejectionAdmin(services);
  return {
    endpoints: [...rejectionEndpoints(rejections), ...accessCheckEndpoints(accessCheck)],
    routers: [rejectionRoutes({ ...services, rejections }), accessCheckRoutes({ ...services, accessCheck })],
  };
}

/** Test sign-ins to any application, and the built-in test application and service provider; the more specific paths first. */
export function createTestBench(given: Omit<TestBenchServices, 'testSp' | 'tickets'>) {
  const services = { ...given, tickets: createTestTickets(given), testSp: createTestSp(given) };
  return [
    testRegistrationRoutes(services),
    testAppRoutes(services),
    testSpRoutes(services),
    // Last: its `:id` would match the paths of the others.
    testSignInRoutes(services),
  ];
}
