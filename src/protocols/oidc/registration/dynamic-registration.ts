// Clients that register themselves (RFC 7591) and manage their registration (RFC 7592), stored as applications.

import type { Application, OidcApplication } from '../../../applications/application.ts';
import type { ApplicationServices } from '../../../applications/application-services.ts';
import {
  needsSecretValue,
  type OidcClientInput,
  oidcMetadata,
  usesSecret,
} from '../../../applications/fields/oidc-client.ts';
import { forbidden, invalidInput, notFound } from '../../../base/http/errors.ts';
import { fault } from '../../../base/texts/faults.ts';
import { engineScopes } from '../claims/scopes.ts';
import { registrableFields } from './client-metadata.ts';

export type DynamicRegistration = {
  /** Stores a client that registered itself (RFC 7591). */
  register(clientId: string, metadata: Record<string, unknown>): Promise<void>;
  /** Replaces a client that registered itself (RFC 7592). */
  update(clientId: string, metadata: Record<string, unknown>): Promise<void>;
  unregister(clientId: string): Promise<void>;
};

// A client that registers itself has no rights that it could give.
const change = { source: 'dynamic', by: { grantedRights: [] } } as const;

/** What the engine's adapter for clients writes. The engine has checked the metadata. */
export function createDynamicRegistration({ applications }: ApplicationServices): DynamicRegistration {
  return {
    async register(clientId, metadata) {
      const { client_name, client_secret } = metadata;
      const input = {
        ...pick(metadata, registrableFields),
        // An administrator grants rights at an API; a client cannot register for them.
        resources: [],
        profile: metadata.profile,
        // The engine's client has it only by its initial access token (client-metadata.ts).
        require_pkce: metadata.require_pkce,
        client_name,
        client_secret,
        client_id: clientId,
      } as Partial<OidcClientInput>;
      await applications.createOidc(input, change);
    },

    async update(clientId, metadata) {
      const before = await applications.find(clientId);
      if (before?.protocol !== 'oidc') throw notFound();
      assertManagesItself(before);
      const own = pick(metadata, registrableFields) as Partial<OidcClientInput>;
      const method = { token_endpoint_auth_method: own.token_endpoint_auth_method ?? 'client_secret_basic' };
      const isNeeded = usesSecret(method);
      const { client_secret: secret } = metadata;
      if (secret === undefined && isNeeded && needsSecretValue({ ...own, ...method } as OidcApplication['metadata'])) {
        throw invalidInput([fault(['client_secret'], 'secret-again')]);
      }
      const { enabled, consent, access } = before;
      const byAdministrator = Object.keys(oidcMetadata.shape).filter((name) => !registrableFields.includes(name));
      const input = {
        ...pick(before.metadata, byAdministrator),
        ...own,
        // A client can take a security profile, and never leave it.
        profile: before.metadata.profile ?? metadata.profile,
        // As it was, unless a profile fixes it.
        require_pkce: metadata.require_pkce,
        ...scopeOf(before, own.scope),
        enabled,
        consent,
        access,
        client_id: clientId,
        client_name: metadata.client_name,
        ...(isNeeded && { client_secret: secret }),
      } as OidcClientInput;
      await applications.updateOidc(before.id, input, change);
    },

    async unregister(clientId) {
      const application = await applications.find(clientId);
      if (!application) return;
      assertManagesItself(application);
      await applications.remove(application.id, change);
    },
  };
}

/** An application to which an administrator gave more than a client can register is changed by administrators only. */
function assertManagesItself({ consent, metadata, source }: Application): void {
  const hasApis = 'resources' in metadata && (metadata.resources ?? []).length > 0;
  if (source === 'dynamic' && consent === 'explicit' && !hasApis) return;
  throw forbidden('forbidden', { message: 'this application is managed by an administrator' });
}

/** The scopes of OpenID Connect that the client names, and those of APIs that it has: an administrator sets these. */
function scopeOf({ metadata }: OidcApplication, named: string | undefined): { scope?: string } {
  const ofApis = (metadata.scope ?? '').split(' ').filter((one) => one !== '' && !engineScopes.includes(one));
  if (named === undefined && ofApis.length === 0) return {};
  return { scope: [named ?? engineScopes.join(' '), ...ofApis].join(' ') };
}

function pick(metadata: object, names: readonly string[]): Record<string, unknown> {
  const entries = Object.entries(metadata).filter(([name, value]) => names.includes(name) && value !== undefined);
  return Object.fromEntries(entries);
}
