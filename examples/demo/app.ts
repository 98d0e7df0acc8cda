// The interface of a demo application of either protocol.
import type { LogoutSteps } from './logout-steps.ts';
import type { Site } from './web.ts';

export interface DemoApp {
  name: string;
  protocol: 'OpenID Connect' | 'SAML 2.0';
  /** One sentence for the start page. */
  description: string;
  origin: string;
  /** Its entry in gatehouse.yaml. */
  declaration: { section: 'clients' | 'service_providers'; entry: Record<string, unknown> };
  /** Starts serving it, after Gatehouse is ready. */
  start(issuer: string, logoutReporting: LogoutReporting): Promise<Site>;
}

/** Where an application reports the steps of a logout, and the URL of the page that lists them. */
export interface LogoutReporting {
  steps: LogoutSteps;
  pageUrl: string;
}

/** The demo user. */
export const demoUser = {
  username: 'demo',
  email: 'demo@example.com',
  email_verified: true,
  name: 'Dana Demo',
  given_name: 'Dana',
  family_name: 'Demo',
  password: 'quiet harbor lantern forty',
  roles: ['editor'],
} as const;

/** The administrator of the demo. */
export const demoAdmin = {
  username: 'ada',
  email: 'ada@example.com',
  email_verified: true,
  name: 'Ada Admin',
  given_name: 'Ada',
  family_name: 'Admin',
  password: 'bright copper window nine',
  roles: ['admin'],
} as const;
