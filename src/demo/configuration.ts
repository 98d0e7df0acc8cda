// The gatehouse.yaml of the demo: its applications, one role, a user, an administrator, and the connection to Example Corp.
import { stringify } from 'yaml';
import { type DemoApp, demoAdmin, demoUser } from './app.ts';

/** The text of the file. */
export function demoConfiguration(apps: readonly DemoApp[], connection: Record<string, unknown>): string {
  const entries = (section: DemoApp['declaration']['section']) =>
    apps.flatMap(({ declaration }) => (declaration.section === section ? [declaration.entry] : []));
  return stringify({
    clients: entries('clients'),
    service_providers: entries('service_providers'),
    roles: [{ name: 'editor', description: 'Edits articles', permissions: ['articles:read', 'articles:write'] }],
    users: [demoUser, demoAdmin],
    // So that the console opens with a password alone. The default is `required`.
    settings: { admin_mfa: 'optional' },
    connections: [connection],
  });
}
