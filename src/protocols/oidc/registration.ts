// The client fields that this server adds to the engine (oidc-provider's `extraClientMetadata`), and the additional rights of an initial
// access token (`features.registration.policies`).

import type { Application, OidcApplication } from '../../applications/application.ts';
import type { ApplicationServices } from '../../applications/application-services.ts';
import { fieldsWith } from '../../applications/fields/application-field.ts';
import {
  needsSecretValue,
  type OidcClientInput,
  oidcClient,
  oidcMetadata,
  usesSecret,
} from '../../applications/fields/oidc-client.ts';
import { oidcRules } from '../../applications/oidc-rules.ts';
import { unlistedAlgFaults } from '../../applications/rules/signing-algorithms.ts';
import { forbidden, invalidInput, notFound } from '../../base/http/errors.ts';
import type { Logger } from '../../base/platform/logger.ts';
import { check, fault, faultLine } from '../../base/texts/faults.ts';
import { engineScopes } from './claims/scopes.ts';
import { asciiText } from './engine/app-context.ts';
import { type Client, type Configuration, errors, type KoaContextWithOIDC, type Provider } from './engine/library.ts';
import { profileMetadata } from './engine/profile-checks.ts';

/** An initial access token with this policy registers confidential clients without PKCE (store/registration-tokens.ts). */
export const WITHOUT_PKCE = 'without-pkce';

type Registration = NonNullable<NonNullable<Configuration['features']>['registration']>;
type Metadata = Record<string, unknown>;

/** The engine requires an implementation of each policy; this one is applied below, after the defaults of the metadata. */
export const registrationPolicies: Registration['policies'] = { [WITHOUT_PKCE]: () => undefined };

/** The fields of the registration standards (RFC 7591 2, OpenID Connect); an administrator alone sets the others. */
export const registrableFields: readonly string[] = fieldsWith('isRegistrable', oidcMetadata.shape);

export function extraClientMetadata(signingAlgorithms: () => readonly string[]): Configuration['extraClientMetadata'] {
  return {
    // The profile comes last: it fixes `require_pkce`.
    properties: ['require_pkce', ...profileMetadata.properties],
    validator(ctx, key, value, metadata) {
      if (key !== 'require_pkce') return profileMetadata.validator(ctx, key, value, metadata);
      // Without a request, the client is loaded from the database.
      if (!ctx) return;
      setPkceRule(ctx, metadata as Metadata);
      rejectUnlistedAlgs(ctx, metadata as Metadata, signingAlgorithms());
    },
  };
}

/** OpenID Connect Dynamic Client Registration 2: only algorithms that discovery announces. */
function rejectUnlistedAlgs(ctx: KoaContextWithOIDC, metadata: Metadata, listed: readonly string[]): void {
  const { Client: before } = ctx.oidc.entities as { Client?: Client };
  const [found] = unlistedAlgFaults(metadata, listed, before?.metadata() as Metadata | undefined);
  if (found) throw new errors.InvalidClientMetadata(asciiText(faultLine(found)));
}

/** Ignores the value that a client sends: only an initial access token registers a client without PKCE, and an update changes nothing. */
function setPkceRule(ctx: KoaContextWithOIDC, metadata: Metadata): void {
  const { InitialAccessToken: token, Client: before } = ctx.oidc.entities as {
    InitialAccessToken?: { policies?: string[] };
    Client?: Client;
  };
  delete metadata.require_pkce;
  const isConfidential = metadata.token_endpoint_auth_method !== 'none';
  if (token?.policies?.includes(WITHOUT_PKCE) && isConfidential) metadata.require_pkce = false;
  const stored: unknown = before && Reflect.get(before, 'require_pkce');
  if (stored !== undefined) metadata.require_pkce = stored;
}

// Whether the engine accepts a stored client. It checks one at each first look-up, and reads its sector_identifier_uri (OpenID Connect
// Core 8.1): a row of an earlier version, or a document that can't be read, then rejects every request.

/** Why the engine rejects an enabled client, in its English words; undefined for one that it accepts, and for an unknown one. */
type RegistrationFaults = (clientId: string) => Promise<string | undefined>;

export function createRegistrationFaults(provider: () => Provider): RegistrationFaults {
  return async (clientId) => {
    try {
      await provider().Client.find(clientId);
      return undefined;
    } catch (error) {
      const reason = registrationFault(error);
      if (reason === undefined) throw error;
      return reason;
    }
  };
}

/** Reports a client that a logout skips, because the engine rejects its registration. */
export type ReportRejectedClient = (clientId: string, fault: string) => void;

export function reportRejectedClients(logger: Logger): ReportRejectedClient {
  return (clientId, fault) =>
    logger.warn(
      { clientId, detail: { fault } },
      'an application cannot be notified of a logout, as its registration is invalid',
    );
}

/** Looks a client up for a logout: undefined for one that the engine rejects, which is reported and stops no logout. */
export async function findUnlessRejected(
  find: () => Promise<Client | undefined>,
  report: (fault: string) => void,
): Promise<Client | undefined> {
  try {
    return await find();
  } catch (error) {
    const fault = registrationFault(error);
    if (fault === undefined) throw error;
    report(fault);
    return undefined;
  }
}

/** The faults of a registration that a client sent, each with its field and the remedy, in ASCII (RFC 7591 3.2.2); undefined without one. */
export function faultsOfRegistration(sent: unknown): string | undefined {
  const own = Object.entries(typeof sent === 'object' && sent !== null ? sent : {}).filter(
    ([field, value]) => (registrableFields.includes(field) || field === 'client_name') && value !== undefined,
  );
  const input = { ...Object.fromEntries(own), client_id: 'new' };
  const checked = check(oidcClient, input, oidcRules);
  if (checked.ok) return undefined;
  return asciiText(checked.faults.slice(0, 10).map(faultLine).join(' '));
}

/** What an error says about a registration; undefined for one about something else. */
export function registrationFault(error: unknown): string | undefined {
  if (!(error instanceof errors.InvalidClientMetadata)) return undefined;
  const { error_description: description, error_detail: detail } = error as {
    error_description?: string;
    error_detail?: string;
  };
  return [...new Set([description, detail])].filter(Boolean).join(': ');
}

// Clients that register themselves (RFC 7591) and manage their registration (RFC 7592), stored as applications.

type DynamicRegistration = {
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
        // The engine's client has it only by its initial access token (registration.ts).
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
      await applications.update('oidc', before.id, input, change);
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
