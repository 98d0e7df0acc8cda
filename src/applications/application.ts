// An application as the rest of the code sees it, and as it lies in the table: one shape, two protocols.
import type { Access, OidcMetadata } from './oidc-client.ts';
import type { ServiceProviderSettings } from './service-provider.ts';

export type ApplicationSource = 'local' | 'file' | 'dynamic';

type Common = {
  id: string;
  /** OIDC client_id, or SAML entity ID. */
  clientId: string;
  name: string;
  enabled: boolean;
  consent: 'explicit' | 'implicit';
  access: Access;
  source: ApplicationSource;
  createdAt: Date;
  updatedAt: Date;
};
export type OidcApplication = Common & { protocol: 'oidc'; metadata: OidcMetadata };
export type SamlApplication = Common & { protocol: 'saml'; metadata: ServiceProviderSettings };
export type Application = OidcApplication | SamlApplication;

/** What Prisma selects with `withRoles`. */
export const withRoles = { roles: { select: { role: { select: { name: true } } } } } as const;

type Row = {
  id: string;
  clientId: string;
  protocol: string;
  name: string;
  enabled: boolean;
  consent: string;
  access: string;
  metadata: string;
  source: string;
  createdAt: Date;
  updatedAt: Date;
  roles: { role: { name: string } }[];
};

/** The application of a row. Metadata was checked when it was written, so it is not checked again. */
export function fromRow(row: Row): Application {
  const { id, clientId, name, enabled, createdAt, updatedAt } = row;
  const roles = row.roles.map(({ role }) => role.name).sort();
  return {
    id,
    clientId,
    protocol: row.protocol as Application['protocol'],
    name,
    enabled,
    consent: row.consent === 'implicit' ? 'implicit' : 'explicit',
    access: row.access === 'roles' ? { roles } : 'everyone',
    source: row.source as ApplicationSource,
    metadata: JSON.parse(row.metadata),
    createdAt,
    updatedAt,
  } as Application;
}
