// Clients that register themselves (RFC 7591), stored as applications.
import type { Applications } from '../../applications/applications.ts';
import { type OidcClientInput, oidcMetadata } from '../../applications/fields/oidc-client.ts';
import type { ClientSourceDependencies } from './clients.ts';

export type DynamicRegistration = Pick<ClientSourceDependencies, 'register' | 'unregister'>;

export interface DynamicRegistrationDependencies {
  applications: Pick<Applications, 'createOidc' | 'find' | 'remove'>;
}

// A client that registers itself has no rights that it could give.
const change = { source: 'dynamic', by: { holds: [] } } as const;

/** What the engine's adapter for clients writes. The engine has checked the metadata. */
export function createDynamicRegistration({ applications }: DynamicRegistrationDependencies): DynamicRegistration {
  return {
    async register(clientId, metadata) {
      const { client_name, client_secret } = metadata;
      const input = {
        ...knownFields(metadata),
        // An administrator grants rights at an API; a client cannot register for them.
        resources: [],
        client_name,
        client_secret,
        client_id: clientId,
      } as Partial<OidcClientInput>;
      await applications.createOidc(input, change);
    },

    async unregister(clientId) {
      const application = await applications.find(clientId);
      if (application) await applications.remove(application.id, change);
    },
  };
}

/** The metadata fields of an application; the others belong to the engine. */
function knownFields(metadata: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(oidcMetadata.shape).filter((name) => metadata[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, metadata[name]]));
}
