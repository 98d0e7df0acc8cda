// Registered applications as the engine's clients. A SAML service provider is a client whose response type is `none` and whose
// redirect URIs are its assertion consumer service URLs, and a website behind a proxy one whose codes this server redeems itself, so one
// engine serves all of them.

import { type ApplicationSource, accessOf, type Protocol, readMetadata } from '../../../applications/application.ts';
import type { Access, OidcMetadata } from '../../../applications/fields/oidc-client.ts';
import { clientOfWebsite, isOnHostOf, type ProxiedSettings } from '../../../applications/fields/proxied-application.ts';
import {
  type RuleFields,
  ruleFields,
  type SignInRules,
  signInRulesOf,
} from '../../../applications/rules/sign-in-rule.ts';
import { originOf } from '../../../applications/uris.ts';
import { AppError } from '../../../base/http/errors.ts';
import { safeEqual } from '../../../base/platform/random.ts';
import type { Vault } from '../../../base/platform/vault.ts';
import type { Db } from '../../../base/storage/database.ts';
import { hotStatements } from '../../../base/storage/statements.ts';
import { isStorable } from '../../../base/storage/storable-text.ts';
import { faultLine } from '../../../base/texts/faults.ts';
import type { Actor } from '../../../core/audit/audit.ts';
import type { Core } from '../../../core/core.ts';
import { engineScope } from '../claims/scopes.ts';
import { type ClientDocument, type ClientDocuments, isDocumentUrl } from '../client-documents.ts';
import { appContext } from '../engine/app-context.ts';
import { type Adapter, type AdapterPayload, errors, Provider } from '../engine/library.ts';
import type { DynamicRegistration } from '../registration.ts';

/** The application behind a client: what the engine's client metadata does not hold. */
export interface ClientApplication extends SignInRules {
  id: string;
  clientId: string;
  protocol: Protocol;
  name: string;
  consent: 'explicit' | 'implicit';
  /** dynamic: the application registered itself, and chose its name and links. */
  source: ApplicationSource;
  /** A disabled application is no client. */
  enabled: true;
  access: Access;
  /** How an OIDC client is registered; of others the fields in ruleFields. */
  metadata: Partial<OidcMetadata>;
  /** Of a website behind a proxy. */
  website?: ProxiedSettings;
  /** The secrets that are valid now, newest first. */
  secrets: ClientSecret[];
  /** The values of those that an HMAC needs. */
  secretValues: string[];
  /** One of them has an end. */
  secretsExpire: boolean;
}

/** A MAC where the secret is only compared, the value where an HMAC needs it. */
export type ClientSecret = { id: string } & ({ hash: string } | { value: string });

/** The secret of the application that has this value. */
export function matchingSecret(
  application: ClientApplication | undefined,
  actual: string,
  { macMatches }: Vault,
): ClientSecret | undefined {
  return application?.secrets.find((secret) =>
    'hash' in secret ? macMatches(actual, secret.hash, 'client-secret') : safeEqual(secret.value, actual),
  );
}

interface Row {
  id: string;
  clientId: string;
  protocol: Protocol;
  name: string;
  enabled: boolean | number;
  consent: 'explicit' | 'implicit';
  access: 'everyone' | 'roles';
  /** Role id, MAC and name with tabs between, one role a line; only of an application that is not open to everyone. */
  roles: string | null;
  /** Group id, MAC and name in the same way. */
  groups: string | null;
  metadata: string;
  source: ApplicationSource;
  mac: string;
  secretId: string | null;
  secretHash: string | null;
  secretSealed: string | null;
  secretExpires: Date | string | null;
  secretMac: string | null;
}

export const statements = hotStatements('clients', {
  find: `SELECT a.id, a.client_id AS "clientId", a.protocol, a.name, a.enabled, a.consent, a.access, a.metadata, a.source, a.mac,
      CASE WHEN a.access = 'roles' THEN (SELECT string_agg(ar.role_id || '\t' || ar.mac || '\t' || r.name, '\n') FROM application_roles ar
        JOIN roles r ON r.id = ar.role_id WHERE ar.application_id = a.id) END AS roles,
      CASE WHEN a.access = 'roles' THEN (SELECT string_agg(ag.group_id || '\t' || ag.mac || '\t' || g.name, '\n') FROM application_groups ag
        JOIN groups g ON g.id = ag.group_id WHERE ag.application_id = a.id) END AS groups,
      s.id AS "secretId", s.secret_hash AS "secretHash", s.secret_sealed AS "secretSealed", s.expires_at AS "secretExpires",
      s.mac AS "secretMac"
    FROM applications a LEFT JOIN client_secrets s ON s.application_id = a.id
    WHERE a.client_id = ? ORDER BY s.created_at DESC`,
});

export interface ClientSourceDependencies extends DynamicRegistration {
  /** A service provider's assertion consumer service URLs: its redirect URIs. */
  assertionConsumerUrls(entityId: string): Promise<string[]>;
  /** The server's own pages: a client that is not registered. */
  firstPartyClient: AdapterPayload & { client_id: string };
  /** Clients whose client_id is the address of their metadata. */
  documents: ClientDocuments;
}

/** Where a document is read: a person waits for the answer there. */
const READS_DOCUMENTS = new Set(['authorization', 'pushed_authorization_request', 'resume']);
/** Clients without a row that are remembered for the rest of their requests. */
const MAX_UNREGISTERED = 500;

export type ClientSource = ReturnType<typeof createClientSource>;

/** Placeholder that the engine's schema demands of a client whose secret is stored only as a hash. */
export const HASHED = 'stored-as-a-hash-and-compared-by-compareClientSecret';

export function createClientSource(dependencies: Core & ClientSourceDependencies) {
  const { config, db, sql, firstPartyClient, documents } = dependencies;
  /** Filled by every lookup of the engine, so what is read here is as fresh as the request that asks. */
  const known = new Map<string, ClientApplication>();
  /** The clients in `known` that have a document and no row, the oldest first. */
  const unregistered = new Set<string>();

  /** A client that has a document and no row. `address`: of the request that may read the document; undefined: it is not read. */
  async function loadDocument(clientId: string, address: string | undefined): Promise<AdapterPayload | undefined> {
    known.delete(clientId);
    if (!isDocumentUrl(clientId) || !(await documents.isAllowed(clientId))) return undefined;
    const document = address === undefined ? documents.cached(clientId) : await documents.find(clientId, address);
    if (!document) return undefined;
    const application = unregisteredApplication(document);
    known.set(clientId, application);
    unregistered.add(clientId);
    const [oldest] = unregistered;
    if (unregistered.size > MAX_UNREGISTERED && oldest !== undefined) {
      unregistered.delete(oldest);
      if (known.get(oldest)?.id === '') known.delete(oldest);
    }
    return oidcClient(application);
  }

  /** The client for the engine, from the database. `sender`: the address of a request that may read its document. */
  async function load(clientId: string, sender?: string): Promise<AdapterPayload | undefined> {
    if (clientId === firstPartyClient.client_id) {
      known.set(clientId, firstPartyApplication(firstPartyClient));
      return firstPartyClient;
    }
    if (!isStorable(clientId)) return undefined;
    const address = sender ?? addressOfAuthorization();
    let rows = await sql.query<Row>(statements.find, clientId);
    if (rows.length === 0) return loadDocument(clientId, address);
    if (rows[0]?.source === 'document') {
      const state = await refreshDocument(rows[0], address);
      if (state === 'not allowed') return undefined;
      if (state === 'changed') rows = await sql.query<Row>(statements.find, clientId);
    }
    const [row] = rows;
    // A website on the host of this server is closed: the issuer may have changed since it was registered.
    const isClosed = row?.protocol === 'proxy' && isOnHostOf(config.issuer, clientId);
    if (!row?.enabled || isClosed || !sql.macs.isGenuine('applications', row, row.mac)) {
      known.delete(clientId);
      return undefined;
    }
    const application = applicationFrom(row, rows, dependencies);
    known.set(clientId, application);
    if (row.protocol === 'oidc') return oidcClient(application);
    if (row.protocol === 'proxy')
      return { client_id: clientId, client_name: application.name, ...clientOfWebsite(clientId) };
    return serviceProvider(application, await dependencies.assertionConsumerUrls(clientId));
  }

  /** Brings the row in line with its document. `not allowed`: clients of its host are not any more. */
  async function refreshDocument(row: Row, address: string | undefined): Promise<'same' | 'changed' | 'not allowed'> {
    if (!row.enabled || !sql.macs.isGenuine('applications', row, row.mac)) return 'same';
    if (!(await documents.isAllowed(row.clientId))) {
      known.delete(row.clientId);
      return 'not allowed';
    }
    if (address === undefined) return 'same';
    const metadata = readMetadata('oidc', row.metadata);
    return (await documents.refresh({ ...row, metadata }, address)) ? 'changed' : 'same';
  }

  return {
    adapter: {
      find: (clientId) => load(clientId),
      async upsert(clientId, metadata) {
        // `none` is for service providers only; a client must not register it.
        if (metadata.response_types?.some((type) => type !== 'code')) {
          throw new errors.InvalidClientMetadata('response_types may hold only code');
        }
        const isUpdate = (await load(clientId)) !== undefined;
        const { client_secret: secret, ...others } = metadata;
        const sent: Record<string, unknown> = secret === HASHED ? others : metadata;
        const store = isUpdate ? dependencies.update : dependencies.register;
        await store(clientId, sent).catch(asMetadataError);
      },
      destroy: (clientId) => dependencies.unregister(clientId).catch(asMetadataError),
      findByUid: async () => undefined,
      findByUserCode: async () => undefined,
      consume: async () => undefined,
      revokeByGrantId: async () => undefined,
    } as Adapter,

    /** As the engine last looked the client up; read from the database when it has not. Undefined for an unknown client. */
    async applicationOf(clientId: string): Promise<ClientApplication | undefined> {
      if (!known.has(clientId)) await load(clientId);
      return known.get(clientId);
    },

    /** The same for a page of a sign-in, which may read the document of the client again. */
    async ofSignIn(clientId: string, address: string): Promise<ClientApplication | undefined> {
      await load(clientId, address);
      return known.get(clientId);
    },

    /** The id of the application, which is stored now where it is a client with a document that a person consents to. */
    store: async ({ id, clientId: url, name, metadata }: ClientApplication, by: Actor): Promise<string> =>
      id === '' ? documents.store({ url, name, metadata }, by) : id,

    /** As it was last read; undefined when it was not. */
    cachedApplicationOf: (clientId: string): ClientApplication | undefined => known.get(clientId),
    /** Whether any registered application redirects to this origin (clients.ts). */
    isRegisteredOrigin: (origin: string): Promise<boolean> => isRegisteredOrigin(db, origin),
  };
}

/** The application, from its row and the same row joined with each of its secrets. */
function applicationFrom(row: Row, rows: Row[], { vault, now, sql }: Core): ClientApplication {
  const { id, clientId, protocol, name, consent } = row;
  const unexpired = rows.filter(({ secretExpires }) => !secretExpires || new Date(secretExpires) > now());
  const genuine = unexpired.filter((one) => isGenuineSecret(one, sql));
  const secrets = genuine.flatMap((one) => secretOf(one, vault));
  const metadata = metadataOf(row);
  return {
    id,
    clientId,
    protocol,
    name,
    consent,
    source: row.source,
    enabled: true,
    access: accessIn(row, sql),
    ...signInRulesOf(metadata),
    metadata,
    ...(protocol === 'proxy' && { website: readMetadata('proxy', row.metadata) }),
    secrets,
    secretValues: secrets.flatMap((secret) => ('value' in secret ? secret.value : [])),
    secretsExpire: genuine.some(({ secretExpires }) => secretExpires !== null),
  };
}

function secretOf({ secretId, secretHash, secretSealed }: Row, vault: Vault): ClientSecret[] {
  if (secretId === null) return [];
  if (secretHash !== null) return [{ id: secretId, hash: secretHash }];
  if (secretSealed === null) return [];
  return [{ id: secretId, value: vault.open(secretSealed, `client_secrets:${secretId}`).toString() }];
}

function isGenuineSecret(row: Row, { macs }: Core['sql']): boolean {
  const { id: applicationId, secretId, secretHash, secretSealed, secretExpires, secretMac } = row;
  if (secretId === null) return false;
  const secret = { id: secretId, applicationId, secretHash, secretSealed, expiresAt: secretExpires };
  return macs.isGenuine('client_secrets', secret, secretMac ?? '');
}

/** The roles and groups that may use the application; those that this server wrote. */
function accessIn({ id: applicationId, access, roles, groups }: Row, { macs }: Core['sql']): Access {
  if (access === 'everyone') return 'everyone';
  const namesIn = (lines: string | null, isGenuine: (id: string, mac: string) => boolean) =>
    (lines?.split('\n') ?? []).flatMap((line) => {
      const [id = '', mac = '', name = ''] = line.split('\t');
      return isGenuine(id, mac) ? [name] : [];
    });
  return accessOf(
    namesIn(roles, (roleId, mac) => macs.isGenuine('application_roles', { applicationId, roleId }, mac)),
    namesIn(groups, (groupId, mac) => macs.isGenuine('application_groups', { applicationId, groupId }, mac)),
  );
}

/** The server's own pages, which are open to everyone and need no consent. */
function firstPartyApplication({
  client_id: clientId,
  client_name: name = clientId,
}: AdapterPayload & { client_id: string }): ClientApplication {
  return {
    id: clientId,
    clientId,
    protocol: 'oidc',
    name,
    consent: 'implicit',
    source: 'local',
    enabled: true,
    access: 'everyone',
    ...signInRulesOf({}),
    metadata: {},
    secrets: [],
    secretValues: [],
    secretsExpire: false,
  };
}

/** A client with a document that nobody has consented to yet: it has no row, and so no id. */
function unregisteredApplication({ url, name, metadata }: ClientDocument): ClientApplication {
  return {
    id: '',
    clientId: url,
    protocol: 'oidc',
    name,
    consent: 'explicit',
    source: 'document',
    enabled: true,
    access: 'everyone',
    ...signInRulesOf({}),
    metadata,
    secrets: [],
    secretValues: [],
    secretsExpire: false,
  };
}

/** Where the authorization request comes from that is answered now. */
function addressOfAuthorization(): string | undefined {
  const { ctx } = Provider;
  return ctx && READS_DOCUMENTS.has(ctx.oidc?.route) ? appContext(ctx).state.request.address : undefined;
}

/** A relying party as the engine's client metadata. */
function oidcClient({ clientId, name, metadata, secretValues }: ClientApplication): AdapterPayload {
  const method = metadata.token_endpoint_auth_method ?? 'client_secret_basic';
  const isCompared = method === 'client_secret_basic' || method === 'client_secret_post';
  // The newest secret is the one that HMACs are made with; client-secrets.ts accepts them all.
  const secret = secretValues[0] ?? (isCompared ? HASHED : undefined);
  return {
    ...metadata,
    ...(metadata.scope !== undefined && { scope: engineScope(metadata.scope) }),
    client_id: clientId,
    client_name: name,
    ...(secret && { client_secret: secret }),
  };
}

/** A service provider as the engine's client metadata. */
function serviceProvider({ clientId, name }: ClientApplication, assertionConsumerUrls: string[]): AdapterPayload {
  return {
    client_id: clientId,
    client_name: name,
    redirect_uris: assertionConsumerUrls,
    response_types: ['none'],
    grant_types: [],
    token_endpoint_auth_method: 'none',
  };
}

const RULE_FIELD = new RegExp(`"(${ruleFields.join('|')})":`);

/** The text of a service provider is long, and read by protocols/saml/metadata/service-providers.ts: it is searched first. */
function metadataOf({ protocol, metadata: text }: Row): ClientApplication['metadata'] {
  if (protocol === 'oidc') return readMetadata('oidc', text);
  if (!RULE_FIELD.test(text)) return {};
  const metadata: RuleFields = readMetadata(protocol, text);
  return Object.fromEntries(ruleFields.map((field) => [field, metadata[field]]));
}

/** This server's rules for clients are stricter than the engine's; their faults become an error of RFC 7591 3.2.2. */
function asMetadataError(cause: unknown): never {
  if (!(cause instanceof AppError) || cause.status >= 500) throw cause;
  if (cause.status === 403) throw new errors.InvalidRequest(cause.message, 403);
  const faults = cause.faults.map(faultLine).join(' ');
  throw new errors.InvalidClientMetadata(faults || cause.message);
}

// CORS: the origins whose pages may read a response. With a client: those of its own redirect URIs and of its `allowed_cors_origins`;
// without one (preflight requests, unknown clients): those of any registered application (patches/http.ts).

type Registered = { readonly [Field in 'redirect_uris' | 'allowed_cors_origins']?: readonly string[] | undefined };

/** The origins of an application: those of its redirect URIs on the web, and those that it names (web views, browser extensions). */
function originsOf({ redirect_uris = [], allowed_cors_origins = [] }: Registered): (string | undefined)[] {
  const onTheWeb = redirect_uris.filter((uri) => /^https?:/i.test(uri));
  return [...onTheWeb, ...allowed_cors_origins].map(originOf);
}

/** Whether the application has this origin, as a browser sends it (RFC 6454 6.2). */
export function hasOrigin(metadata: Registered, origin: string): boolean {
  const sent = originOf(origin);
  return sent !== undefined && originsOf(metadata).includes(sent);
}

/** Whether any enabled application has this origin. */
async function isRegisteredOrigin(db: Db, origin: string): Promise<boolean> {
  const sent = originOf(origin);
  if (sent === undefined) return false;
  const hostPattern = `%${sent.slice(sent.indexOf('//') + 2)}%`;
  const rows = await db.$queryRaw<Awaited<ReturnType<Db['application']['findMany']>>>`
    SELECT id, client_id AS "clientId", protocol, name, enabled, consent, access, metadata, source, mac FROM applications
    WHERE protocol = 'oidc' AND enabled = ${true} AND lower(metadata) LIKE ${hostPattern}`;
  return rows.some(
    (row) => hasOrigin(readMetadata('oidc', row.metadata), origin) && db.macs.isGenuine('applications', row, row.mac),
  );
}
