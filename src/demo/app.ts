// What the start page, the configuration file and main know of a demo application, whatever its protocol.
import type { Site } from './web.ts';

export interface DemoApp {
  name: string;
  protocol: 'OpenID Connect' | 'SAML 2.0';
  /** One sentence for the start page. */
  description: string;
  origin: string;
  /** Its entry in gatehouse.yaml. */
  declaration: { section: 'clients' | 'service_providers'; entry: Record<string, unknown> };
  /** Starts serving it, once Gatehouse is there. */
  start(issuer: string): Promise<Site>;
}

/** The person who signs in to them. */
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
