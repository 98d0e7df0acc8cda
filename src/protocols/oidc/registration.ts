// Clients that register themselves (RFC 7591) and manage their registration (RFC 7592): what the engine lets them set, how they are stored as
// applications, and when they go. An open registration is one without an initial access token.

import type { Application, ApplicationSource, OidcApplication } from '../../applications/application.ts';
import type { ApplicationServices } from '../../applications/application-services.ts';
import { fieldsWith } from '../../applications/fields/application-field.ts';
import {
  grantTypes,
  idJagGrant,
  needsSecretValue,
  type OidcClientInput,
  oidcClient,
  oidcMetadata,
  tokenExchangeGrant,
  usesSecret,
} from '../../applications/fields/oidc-client.ts';
import { oidcRules } from '../../applications/oidc-rules.ts';
import { agentsWithApi } from '../../applications/resources.ts';
import { unlistedAlgFaults } from '../../applications/rules/signing-algorithms.ts';
import { applicationTypeOf } from '../../applications/uris.ts';
import { isLoopback } from '../../base/config/addresses.ts';
import type { Context } from '../../base/http/context.ts';
import { AppError, forbidden, invalidInput, notFound, tooManyRequests } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import type { Logger } from '../../base/platform/logger.ts';
import { randomId, randomToken } from '../../base/platform/random.ts';
import { nameUpTo } from '../../base/schemas/line-schema.ts';
import { check, fault, faultLine } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import type { People } from '../../people/people.ts';
import { engineScope, engineScopes } from './claims/scopes.ts';
import { asciiText } from './engine/app-context.ts';
import { type Client, type Configuration, errors, type KoaContextWithOIDC, type Provider } from './engine/library.ts';
import { profileMetadata } from './engine/profile-checks.ts';

/** An initial access token with this policy registers confidential clients without PKCE (store/registration-tokens.ts). */
export const WITHOUT_PKCE = 'without-pkce';
/** The policy of an open registration. */
const OPEN = 'open';
/** In place of the initial access token of an open registration, in this process alone. */
const OPEN_TOKEN = randomToken();
/** How the client_id of an open registration begins: such clients are counted, and go when nobody consents. */
const OPEN_CLIENT = 'open-';
const OPEN_CLIENTS = { source: 'dynamic', clientId: { startsWith: OPEN_CLIENT } };
/** The fields that an open registration may set. */
const OPEN_FIELDS = new Set(
  (
    'client_id client_id_issued_at client_secret client_secret_expires_at client_name application_type redirect_uris grant_types response_types ' +
    'token_endpoint_auth_method token_endpoint_auth_signing_alg jwks jwks_uri dpop_bound_access_tokens'
  ).split(' '),
);

/** The scopes of OpenID Connect for clients that nobody registered. */
export const OF_UNREGISTERED = ['openid', 'offline_access'];
/** The lifetimes of their tokens. */
export const AGENT_LIFETIMES = {
  access_token_minutes: limits.clientDocument.accessTokenMinutes,
  refresh_token_days: limits.clientDocument.refreshTokenDays,
};
const claimedName = nameUpTo(100);
/** Characters of the hosts in a name: with the name that the client claims, as long as the name of an application may be. */
const MAX_HOSTS = 150;

/** How a client that registers itself changes applications: it has no rights that it could give. */
const BY_CLIENT = { source: 'dynamic', by: { grantedRights: [] } } as const;
const DAY_MS = 24 * 3600 * 1000;

type Registration = NonNullable<NonNullable<Configuration['features']>['registration']>;
type Metadata = Record<string, unknown>;

// What the engine lets clients set (oidc-provider's `features.registration` and `extraClientMetadata`).

export const registrationPolicies: Registration['policies'] = {
  // Applied below, after the defaults of the metadata.
  [WITHOUT_PKCE]: () => undefined,
  /**
   * A client that registered itself acts for people who consent. It learns only who they are, and gets the scopes that APIs allow agents. It is
   * not on the app list, has no picture, and the only address of it that this server calls is `jwks_uri`.
   */
  [OPEN](_ctx, metadata) {
    for (const field of Object.keys(metadata)) if (!OPEN_FIELDS.has(field)) delete metadata[field];
    const { client_name: name, grant_types: grants, redirect_uris: uris } = metadata;
    const mayRefresh = Array.isArray(grants) && grants.includes('refresh_token');
    metadata.grant_types = mayRefresh ? ['authorization_code', 'refresh_token'] : ['authorization_code'];
    metadata.scope = mayRefresh ? OF_UNREGISTERED.join(' ') : 'openid';
    if (Array.isArray(uris) && uris.every(isText)) metadata.application_type ??= applicationTypeOf(uris);
    const place = hostsOf(uris);
    // A client that changes its registration sends the name that it was answered.
    const isShown = isText(name) && name.startsWith(`${place} (`);
    metadata.client_name = shownName(place, isShown ? claimedNameOf({ name }) : name);
  },
};

/** The name of a client that nobody registered: where it is, and then what it says it is. */
export function shownName(place: string, claimed: unknown): string {
  const { success, data } = claimedName.safeParse(claimed);
  return success ? `${place} (${data})` : place;
}

/** What such a client says it is. */
export const claimedNameOf = ({ name }: { name: string }): string | undefined => /^[^(]* \((.*)\)$/.exec(name)?.[1];

/** The hosts that the answers go to; the schemes of apps without one. The ports of this computer are any. */
function hostsOf(redirectUris: unknown): string {
  const uris = Array.isArray(redirectUris) ? redirectUris.filter((uri) => isText(uri) && URL.canParse(uri)) : [];
  const hosts = uris.map((uri) => {
    const { host, hostname, protocol } = new URL(uri);
    return (isLoopback(hostname) ? hostname : host) || protocol;
  });
  return [...new Set(hosts)].join(', ').slice(0, MAX_HOSTS) || '?';
}

/** Whether no administrator has a part in the registration: the client has a metadata document, or registered itself without a token. */
export const isUnregistered = ({ source, clientId }: { source: ApplicationSource; clientId: string }): boolean =>
  source === 'document' || (source === 'dynamic' && clientId.startsWith(OPEN_CLIENT));

/** oidc-provider's `features.registration.idFactory`. */
export const newClientId: Registration['idFactory'] = ({ oidc }) => {
  const { InitialAccessToken: token } = oidc.entities as { InitialAccessToken?: { policies?: string[] } };
  return `${token?.policies?.includes(OPEN) ? OPEN_CLIENT : ''}${randomId()}`;
};

/** Lets a registration without a token pass where an API is open to clients that register themselves; counted and bounded. Throws AppError. */
export function createOpenRegistration(services: Core & People & ApplicationServices) {
  const { applications, db, now, settings, rateLimits } = services;
  const { total, retrySeconds } = limits.openRegistration;
  return async function admit(ctx: Context): Promise<void> {
    if (ctx.get('Authorization') !== '' || !(await agentsWithApi(settings.latest(), db)).selfRegistered) return;
    const { address } = ctx.state.request;
    const { allowed, retryAfterSeconds } = await rateLimits.consume('client-registration:address', { address });
    if (!allowed) throw tooManyRequests(retryAfterSeconds);
    if ((await db.application.count({ where: OPEN_CLIENTS })) >= total) {
      // So that they cannot be used up without an account: the last ones may still be waiting for the consent.
      const [oldest] = await withoutConsent(services, { before: now(), most: 1 });
      if (!oldest) throw tooManyRequests(retrySeconds, { message: t('app-error.too-many-registered') });
      await applications.remove(oldest.id, BY_CLIENT).catch(ignoreMissing);
    }
    ctx.req.headers.authorization = `Bearer ${OPEN_TOKEN}`;
  };
}

/** Clients from before that nobody registered, which nobody consents to and no administrator changed; the oldest first. */
export async function withoutConsent(
  { applications, db }: Core & ApplicationServices,
  {
    before,
    most,
    of = OPEN_CLIENTS,
  }: { before: Date; most: number; of?: { source: string; clientId: { startsWith: string } } },
): Promise<Application[]> {
  const rows = await db.asStored.application.findMany({
    where: { ...of, createdAt: { lte: before }, consents: { none: {} } },
    select: { clientId: true },
    orderBy: { createdAt: 'asc' },
    take: Math.max(most, limits.openRegistration.total),
  });
  const found: Application[] = [];
  for (const { clientId } of rows) {
    if (found.length === most) break;
    const application = await applications.find(clientId);
    if (application && managesItself(application)) found.push(application);
  }
  return found;
}

/** Another request was first. */
export function ignoreMissing(error: unknown): void {
  if (!(error instanceof AppError) || error.status !== 404) throw error;
}

// Patch: InitialAccessToken.find. Whether a registration needs an initial access token is one option for the life of the engine; here it
// follows the settings and the APIs.

export function acceptOpenRegistration({ InitialAccessToken }: Provider): void {
  const model = InitialAccessToken as unknown as {
    find(value: string): Promise<unknown>;
    new (options: { policies: string[] }): object;
  };
  const { find } = model;
  model.find = async (value) =>
    value === OPEN_TOKEN ? new model({ policies: [OPEN] }) : find.call(InitialAccessToken, value);
}

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
      completeRegistration(ctx, metadata as Metadata);
      rejectUnlistedAlgs(ctx, metadata as Metadata, signingAlgorithms());
    },
  };
}

/** Grants that this server explains why it has not (RFC 9700 2.1.2, 2.4). */
const REJECTED_GRANTS = ['implicit', 'password'];

/**
 * RFC 7591 2: the server may replace what a client asks for. Scopes of APIs and grants of other servers are left out, and a public client that
 * names no type gets the one that its redirect URIs need.
 */
function completeRegistration({ oidc: { body } }: KoaContextWithOIDC, metadata: Metadata): void {
  Object.assign(metadata, missingType(body));
  const { scope, grant_types: grants, token_endpoint_auth_method: method } = metadata;
  if (Array.isArray(grants) && grants.every(isText)) {
    const isUsable = (one: string) => !(method === 'none' && (one === idJagGrant || one === tokenExchangeGrant));
    const isKnown = (one: string) => grantTypes.some((grant) => grant === one) || REJECTED_GRANTS.includes(one);
    const known = grants.filter((one) => isKnown(one) && isUsable(one));
    if (known.length > 0) metadata.grant_types = known;
  }
  if (!isText(scope) || scope.split(' ').every((one) => engineScopes.includes(one))) return;
  const mayStay = Array.isArray(metadata.grant_types) && metadata.grant_types.includes('refresh_token');
  metadata.scope = [...new Set([...engineScope(scope).split(' '), ...(mayStay ? ['offline_access'] : [])])].join(' ');
}

const isText = (one: unknown): one is string => typeof one === 'string';

/** The type of a public client that names none: one on a device may return to any port (RFC 8252 7.3). */
function missingType(sent: unknown): { application_type?: 'web' | 'native' } {
  const { application_type, redirect_uris: uris, token_endpoint_auth_method: method } = (sent ?? {}) as Metadata;
  const isGuessed = application_type === undefined && method === 'none' && Array.isArray(uris) && uris.every(isText);
  return isGuessed ? { application_type: applicationTypeOf(uris) } : {};
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
export function createRegistrationFaults(provider: () => Provider) {
  return async (clientId: string): Promise<string | undefined> => {
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
  const input = { ...missingType(sent), ...Object.fromEntries(own), client_id: 'new' };
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

export type DynamicRegistration = ReturnType<typeof createDynamicRegistration>;

/** A consent to such a client lasts as long as its refresh tokens; undefined for others, whose consent has no end. */
export function consentedSince(
  application: { source: ApplicationSource; clientId: string; metadata: { refresh_token_days?: number | undefined } },
  { now, settings }: Core,
): Date | undefined {
  if (!isUnregistered(application)) return undefined;
  const { refresh_token_days: most } = settings.latest();
  return new Date(now().getTime() - DAY_MS * Math.min(most, application.metadata.refresh_token_days ?? most));
}

/** What the engine's adapter for clients writes. The engine has checked the metadata. */
export function createDynamicRegistration({ applications }: ApplicationServices) {
  return {
    /** Stores a client that registered itself (RFC 7591). */
    async register(clientId: string, metadata: Metadata): Promise<void> {
      const { client_name, client_secret } = metadata;
      const input = {
        ...pick(metadata, registrableFields),
        // An administrator grants rights at an API; a client cannot register for them.
        resources: [],
        profile: metadata.profile,
        // The engine's client has it only by its initial access token (registration.ts).
        require_pkce: metadata.require_pkce,
        ...(clientId.startsWith(OPEN_CLIENT) && AGENT_LIFETIMES),
        client_name,
        client_secret,
        client_id: clientId,
      } as Partial<OidcClientInput>;
      await applications.createOidc(input, BY_CLIENT);
    },

    /** Replaces a client that registered itself (RFC 7592). */
    async update(clientId: string, metadata: Metadata): Promise<void> {
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
      await applications.update('oidc', before.id, input, BY_CLIENT);
    },

    async unregister(clientId: string): Promise<void> {
      const application = await applications.find(clientId);
      if (!application) return;
      assertManagesItself(application);
      await applications.remove(application.id, BY_CLIENT);
    },
  };
}

/** Clients that nobody registered go when they were not used for so long, or nobody consented to them, unless an administrator gave them more. */
export function unusedClientsJob(services: Core & ApplicationServices): ScheduledJob {
  const { applications, db, now } = services;
  const { unusedDays, unconsentedDays, everySeconds, batch } = limits.openRegistration;

  async function isUsed({ id, clientId }: Application, since: Date): Promise<boolean> {
    const inTime = BigInt(Math.floor(now().getTime() / 1000));
    const used = await Promise.all([
      db.auditEvent.findFirst({ where: { clientId, at: { gt: since } }, select: { id: true } }),
      db.oidcArtifact.findFirst({
        where: { clientId, model: 'RefreshToken', expiresAt: { gt: inTime } },
        select: { id: true },
      }),
      db.asStored.clientSecret.findFirst({
        where: { applicationId: id, use: { lastUsedAt: { gt: since } } },
        select: { id: true },
      }),
    ]);
    return used.some(Boolean);
  }

  return {
    name: 'unused-clients',
    everySeconds,
    async run(signal) {
      const since = new Date(now().getTime() - unusedDays * DAY_MS);
      const where = { source: { in: ['dynamic', 'document'] }, updatedAt: { lt: since } };
      const rows = await db.asStored.application.findMany({ where, select: { clientId: true }, take: batch });
      for (const { clientId } of rows) {
        if (signal.aborted) return;
        const found = await applications.find(clientId);
        if (!found || !managesItself(found) || (await isUsed(found, since))) continue;
        await applications.remove(found.id, { source: found.source });
      }
      const weekBefore = new Date(now().getTime() - unconsentedDays * DAY_MS);
      for (const { id } of await withoutConsent(services, { before: weekBefore, most: batch })) {
        if (signal.aborted) return;
        await applications.remove(id, BY_CLIENT).catch(ignoreMissing);
      }
    },
  };
}

/** An application to which an administrator gave more than a client can register is changed by administrators only. */
function assertManagesItself(application: Application): void {
  if (application.source === 'dynamic' && managesItself(application)) return;
  throw forbidden('forbidden', { message: 'this application is managed by an administrator' });
}

function managesItself({ consent, metadata }: Application): boolean {
  const hasApis = 'resources' in metadata && (metadata.resources ?? []).length > 0;
  return consent === 'explicit' && !hasApis;
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
