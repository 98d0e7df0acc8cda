// Builds the test bench: test sign-ins to any application, and the built-in test application and test service provider.
import { createTestTickets } from '../protocols/oidc/store/test-tickets.ts';
import type { TestBenchServices } from './services.ts';
import { testAppRoutes } from './test-app-routes.ts';
import { testRegistrationRoutes } from './test-registrations.ts';
import { testSignInRoutes } from './test-sign-in-routes.ts';
import { createTestSp } from './test-sp.ts';
import { testSpRoutes } from './test-sp-routes.ts';

/** The routers of /admin/test, the more specific paths first. */
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
