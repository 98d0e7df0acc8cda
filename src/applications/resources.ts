// Registered APIs (RFC 8707 resources): a client that asks for one gets a JWT access token with it as the only audience.

import { z } from 'zod';
import { conflict, invalidInput, notFound, ownedByFile } from '../base/http/errors.ts';
import { type DescribedField, describedFields } from '../base/platform/described-fields.ts';
import { inChunks } from '../base/storage/chunks.ts';
import { type Db, isUniqueConstraintError, type Tx, withinTransaction } from '../base/storage/database.ts';
import { isStorable } from '../base/storage/storable-text.ts';
import { type Fault, fault, rule } from '../base/texts/faults.ts';
import { type PageText, t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import type { KeyAlg } from '../core/keys/rotation.ts';
import { host } from '../core/settings/value-schemas.ts';
import { claimsByScope } from '../people/accounts/claims.ts';
import { type ApplicationSource, accessOf, fromRow, idsOfAccess, readMetadata, withAccess } from './application.ts';
import type { Access } from './fields/oidc-client.ts';
import { WEBSITE_SCOPE } from './fields/proxied-application.ts';
import { unlistedAlgFault } from './rules/signing-algorithms.ts';
import { canonicalResource } from './uris.ts';

const reservedScopes = [...Object.keys(claimsByScope), 'offline_access'];
export const apiScope = z
  .string()
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, rule('scope'))
  .refine((value) => !reservedScopes.includes(value), rule('openid-scope'));

const agentFields = z.registry<DescribedField>();
/** Who may ask for an API beside the clients that an administrator registered for it. */
export const agentSchemas = {
  clients: z
    .enum(['registered', 'documents', 'self-registered'])
    .default('registered')
    .describe(
      'who may ask for it: clients whose `resources` name it; also those with a metadata document; also those that registered themselves',
    )
    .register(agentFields, { section: null }),
  document_hosts: z
    .array(host)
    .max(100)
    .default([])
    .describe('only documents on these hosts count. Empty: all that the setting `agents` allows')
    .register(agentFields, { section: null, rows: 4 }),
  agent_scopes: z
    .array(apiScope)
    .max(100)
    .default([])
    .describe('the only scopes that clients get which nobody registered. Empty: all')
    .register(agentFields, { section: null, rows: 4 }),
} as const;
export const agentSources = describedFields(agentSchemas, agentFields).map((field) => ({
  ...field,
  texts: 'console.apis.',
}));

export interface Resource {
  identifier: string;
  scopes: string[];
  /** Scope -> the permission (`resource:action`) that a user needs to get it; a scope without an entry needs none. */
  scopePermissions: Record<string, string>;
  /** Scope -> what it lets an application do, as people read it where they are asked; a scope without an entry is displayed by its name. */
  scopeTitles: Record<string, string>;
  signingAlg: KeyAlg;
  /** Which users may get a token for it, by the names of their roles and groups. */
  access: Access;
  /** Who may ask for it: registered clients alone, also those with a metadata document, also those that registered themselves. */
  clients: 'registered' | 'documents' | 'self-registered';
  /** Hosts whose documents count; empty: every host. */
  documentHosts: string[];
  /** The scopes for clients that nobody registered; empty: all. */
  agentScopes: string[];
  source: 'local' | 'file';
}

/** Which clients that nobody registered have an API that they may ask for. */
export async function agentsWithApi(
  of: AgentSettings,
  { asStored }: Db,
): Promise<{ documents: boolean; selfRegistered: boolean }> {
  if (of.agents === 'off') return { documents: false, selfRegistered: false };
  const apis = await asStored.resource.findMany({
    where: { clients: { not: 'registered' } },
    select: { clients: true },
    distinct: ['clients'],
  });
  return {
    documents: apis.length > 0 && (of.agents === 'allowed' || of.agent_hosts.length > 0),
    selfRegistered: of.agents === 'allowed' && apis.some(({ clients }) => clients === 'self-registered'),
  };
}

/** What keeps clients with a document on this host out; undefined: some API is open to them. */
export async function documentsClosedBy(
  host: string,
  of: AgentSettings,
  { asStored }: Db,
): Promise<'off' | 'not-listed' | 'no-api' | undefined> {
  if (of.agents === 'off') return 'off';
  if (of.agents === 'listed' && !of.agent_hosts.includes(host)) return 'not-listed';
  const apis = await asStored.resource.findMany({
    where: { clients: { not: 'registered' } },
    select: { documentHosts: true },
  });
  const isOpen = apis.some(({ documentHosts }) => {
    const hosts = JSON.parse(documentHosts) as string[];
    return hosts.length === 0 || hosts.includes(host);
  });
  return isOpen ? undefined : 'no-api';
}

/** Why an API that is open to clients that nobody registered gets none of them, or not all; undefined: nothing is in the way. */
export function agentWarning(
  { identifier: api, clients, documentHosts }: Pick<Resource, 'identifier' | 'clients' | 'documentHosts'>,
  { agents, agent_hosts: hosts }: AgentSettings,
): PageText | undefined {
  if (clients === 'registered' || agents === 'allowed') return undefined;
  if (agents === 'off') return t('console.apis.agents-off', { api });
  if (hosts.length === 0) return t('console.apis.agents-no-host', { api });
  if (documentHosts.length > 0 && !documentHosts.some((one) => hosts.includes(one)))
    return t('console.apis.agents-other-hosts', { api });
  return clients === 'self-registered' ? t('console.apis.agents-listed', { api }) : undefined;
}

/** Which clients may ask for APIs without being registered: the settings of these names. */
type AgentSettings = { agents: 'off' | 'listed' | 'allowed'; agent_hosts: readonly string[] };

/**
 * The scopes that an API gives to a client that nobody registered for it; undefined: the client may not ask for it.
 *
 * @param client its document is its client_id
 */
export function scopesForAgent(
  { clients, documentHosts, agentScopes, scopes }: TokenTarget,
  { source, clientId }: { source: ApplicationSource; clientId: string },
  { agents, agent_hosts: hosts }: AgentSettings,
): string[] | undefined {
  const isSelfRegistered = source === 'dynamic' && agents === 'allowed' && clients === 'self-registered';
  const { host } = source === 'document' ? new URL(clientId) : { host: '' };
  const isAllowed = agents === 'allowed' || (agents === 'listed' && hosts.includes(host));
  const hasDocument =
    host !== '' &&
    isAllowed &&
    clients !== 'registered' &&
    (documentHosts.length === 0 || documentHosts.includes(host));
  if (!isSelfRegistered && !hasDocument) return undefined;
  return agentScopes.length === 0 ? scopes : scopes.filter((scope) => agentScopes.includes(scope));
}

/** Scopes that are tied to a permission, have a title, or are given to agents, but are not scopes of the API. */
export function scopeFaults({
  scopes,
  scopePermissions,
  scopeTitles,
  agentScopes,
}: Omit<Resource, 'identifier' | 'source'>): Fault[] {
  const unknown = (of: object) => Object.keys(of).filter((scope) => !scopes.includes(scope));
  return [
    ...unknown(scopePermissions).map((scope) => fault(['scope_permissions', scope], 'not-a-scope')),
    ...unknown(scopeTitles).map((scope) => fault(['scope_titles', scope], 'not-a-scope')),
    ...agentScopes.flatMap((scope, at) => (scopes.includes(scope) ? [] : fault(['agent_scopes', at], 'not-a-scope'))),
  ];
}

export type Resources = ReturnType<typeof createResources>;

export function createResources(core: Core, isReserved: (identifier: string) => boolean) {
  const { db, audit, now, settings } = core;
  const signingAlgorithms = () => settings.latest().signing_algorithms;
  async function get(identifier: string, tx: Tx = db): Promise<Resource> {
    const row = await tx.asStored.resource.findUnique({ where: { identifier } });
    if (!row) throw notFound({ message: t('console.applications.error.no-api') });
    return resourceOf(row, tx);
  }

  async function getChangeable(identifier: string, tx: Tx): Promise<Resource> {
    const { source } = await get(identifier, tx);
    const row = await tx.resource.findUnique({ where: { identifier } });
    if (!row) throw conflict('changed_outside');
    if (source === 'file') throw ownedByFile('api', { id: identifier, name: identifier });
    return resourceOf(row, tx);
  }

  return {
    get,
    /** The algorithms that an API may have. */
    signingAlgs: signingAlgorithms,
    /** What keeps agents out of an API that is open to them. */
    warningOf: (api: Resource): PageText | undefined => agentWarning(api, settings.latest()),
    list: async (tx: Tx = db): Promise<Resource[]> =>
      resourcesOf(await tx.asStored.resource.findMany({ orderBy: { identifier: 'asc' } }), tx),

    /** Scopes by API in words, for pages that ask about them. */
    inWords: (granted: Readonly<Record<string, readonly string[]>>): Promise<{ name: string; scopes: string[] }[]> =>
      Promise.all(
        Object.entries(granted).map(async ([name, scopes]) => {
          const { scopeTitles: titles = {} } = (await findResource(name, db)) ?? {};
          return { name, scopes: scopes.map((scope) => (Object.hasOwn(titles, scope) && titles[scope]) || scope) };
        }),
      ),

    /** What tokens can be issued for: the APIs, and the websites that let programs in with them. */
    async identifiers(): Promise<string[]> {
      const apis = await db.resource.findMany({ select: { identifier: true } });
      const websites = await db.asStored.application.findMany({ where: { protocol: 'proxy' } });
      const open = websites.filter(({ metadata }) => readMetadata('proxy', metadata).access_tokens !== 'none');
      return [...apis.map(({ identifier }) => identifier), ...open.map(({ clientId }) => clientId)].sort();
    },

    create: ({ identifier, ...declared }: Omit<Resource, 'source'>, by: Actor = {}, outer?: Tx): Promise<Resource> =>
      withinTransaction(db, outer, async (tx) => {
        assertNoFaults(scopeFaults(declared));
        assertNoFaults(unlistedAlgFault('signing_alg', declared.signingAlg, signingAlgorithms(), undefined));
        if (isReserved(identifier)) throw invalidInput([fault(['identifier'], 'reserved')]);
        const exists = () => conflict('conflict', { message: t('console.applications.error.api-exists') });
        if (await findRow(identifier, tx)) throw exists();
        const columns = await columnsOf(declared, tx);
        const data = { identifier, ...columns, source: 'local', createdAt: now() };
        await tx.resource.create({ data }).catch((error: unknown) => {
          throw isUniqueConstraintError(error) ? exists() : error;
        });
        const { source: _source, ...after } = await get(identifier, tx);
        await audit.record({ ...by, type: 'resource.created', outcome: 'success', data: { after } }, tx);
        return get(identifier, tx);
      }),

    async update(
      identifier: string,
      changes: Partial<Omit<Resource, 'identifier' | 'source'>>,
      by: Actor,
      tx: Tx,
    ): Promise<Resource> {
      const before = await getChangeable(identifier, tx);
      const changed = { ...before, ...changes };
      assertNoFaults(scopeFaults(changed));
      assertNoFaults(unlistedAlgFault('signing_alg', changed.signingAlg, signingAlgorithms(), before.signingAlg));
      const data = { identifier, ...(await columnsOf(changed, tx)), source: before.source };
      await tx.resource.update({ where: { identifier }, data });
      const after = await get(identifier, tx);
      await audit.record({ ...by, type: 'resource.updated', outcome: 'success', data: { before, after } }, tx);
      return after;
    },

    async remove(identifier: string, by: Actor, tx: Tx): Promise<void> {
      const before = await get(identifier, tx);
      if (before.source === 'file') throw ownedByFile('api', { id: identifier, name: identifier });
      await tx.resource.delete({ where: { identifier } });
      await audit.record({ ...by, type: 'resource.deleted', outcome: 'success', data: { before } }, tx);
    },
  };
}

/** Stores an API as the configuration file declares it, new or in place of what is there. */
export async function storeDeclaredResource(
  tx: Tx,
  { identifier, ...declared }: Omit<Resource, 'source'>,
  createdAt: Date,
): Promise<void> {
  const data = { identifier, ...(await columnsOf(declared, tx)), source: 'file' };
  await tx.resource.upsert({ where: { identifier }, create: { ...data, createdAt }, update: data });
}

/** Hands an API of the configuration file back; false where it owns none of this identifier. */
export const releaseResource = async (tx: Tx, identifier: string): Promise<boolean> =>
  (await tx.resource.updateMany({ where: { identifier, source: 'file' }, data: { source: 'local' } })).count > 0;

/** Removes an API that the configuration file declares no more. */
export async function removeDeclaredResource(tx: Tx, identifier: string): Promise<void> {
  await tx.resource.deleteMany({ where: { identifier } });
}

function assertNoFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalidInput(faults);
}

type Columns = Record<
  'scopes' | 'scopePermissions' | 'scopeTitles' | 'signingAlg' | 'access' | 'clients' | 'documentHosts' | 'agentScopes',
  string
>;

/** Throws invalid_input for a role or group that does not exist. */
async function columnsOf(
  {
    scopes,
    scopePermissions,
    scopeTitles,
    signingAlg,
    access,
    clients,
    documentHosts,
    agentScopes,
  }: Omit<Resource, 'identifier' | 'source'>,
  tx: Tx,
): Promise<Columns> {
  return {
    clients,
    documentHosts: JSON.stringify(documentHosts),
    agentScopes: JSON.stringify(agentScopes),
    scopes: JSON.stringify(scopes),
    scopePermissions: JSON.stringify(scopePermissions),
    scopeTitles: JSON.stringify(scopeTitles),
    signingAlg,
    access: access === 'everyone' ? access : JSON.stringify(await idsOfAccess(access, tx)),
  };
}

type ResourceRow = Columns & { identifier: string; source: string };

const idsIn = ({ access }: ResourceRow): { roles: string[]; groups: string[] } =>
  access === 'everyone' ? { roles: [], groups: [] } : JSON.parse(access);

/** What a token for an API is made by. */
export type TokenTarget = Omit<Resource, 'signingAlg' | 'source'> & {
  /** Of JWTs; undefined: its tokens are opaque. */
  signingAlg?: KeyAlg;
};

/** The row of an API, whose identifier may be spelled otherwise. */
async function findRow(identifier: string, tx: Tx): Promise<ResourceRow | undefined> {
  const canonical = canonicalResource(identifier);
  const spellings = [canonical, `${canonical}/`].filter((one) => canonicalResource(one) === canonical);
  const [row] = await tx.resource.findMany({ where: { identifier: { in: spellings } }, take: 1 });
  return row;
}

/** What a website, and an API of this server, have in place of the fields of an API. */
export const forRegisteredClients = {
  clients: 'registered',
  scopePermissions: {},
  scopeTitles: {},
  documentHosts: [],
  agentScopes: [],
} satisfies Partial<TokenTarget>;

/**
 * The API of this identifier: a registered one, or a website behind a proxy that lets programs in with access tokens. This server itself
 * accepts those, so they are opaque: a revoked one ends at once.
 */
export async function findResource(identifier: string, tx: Tx): Promise<TokenTarget | undefined> {
  if (!isStorable(identifier)) return undefined;
  const row = await findRow(identifier, tx);
  if (row) return resourceOf(row, tx);
  const clientId = canonicalResource(identifier);
  const website = await tx.application.findUnique({ where: { clientId }, include: withAccess });
  if (website?.protocol !== 'proxy' || !website.enabled) return undefined;
  const { access, protocol, metadata } = fromRow(website);
  if (protocol !== 'proxy' || metadata.access_tokens === 'none') return undefined;
  return { ...forRegisteredClients, identifier: clientId, scopes: [WEBSITE_SCOPE], access };
}

/** A row of the table as the rest of the code sees it. */
async function resourceOf(row: ResourceRow, tx: Tx): Promise<Resource> {
  const [api] = await resourcesOf([row], tx);
  if (!api) throw new Error('a row is an API');
  return api;
}

/** The same for several rows. A role or group that was deleted meanwhile is no more in the access rule. */
export async function resourcesOf(rows: readonly ResourceRow[], tx: Tx): Promise<Resource[]> {
  const named = rows.map(idsIn);
  const names = new Map<string, string>();
  const select = { id: true, name: true } as const;
  const roleIds = [...new Set(named.flatMap(({ roles }) => roles))];
  const groupIds = [...new Set(named.flatMap(({ groups }) => groups))];
  const found = [
    ...(await inChunks(roleIds, (ids) => tx.role.findMany({ where: { id: { in: ids } }, select }))),
    ...(await inChunks(groupIds, (ids) => tx.asStored.group.findMany({ where: { id: { in: ids } }, select }))),
  ];
  for (const { id, name } of found) names.set(id, name);
  const namesOf = (ids: readonly string[]) => ids.flatMap((id) => names.get(id) ?? []).sort();
  return rows.map((row, at) => ({
    identifier: row.identifier,
    scopes: JSON.parse(row.scopes) as string[],
    scopePermissions: JSON.parse(row.scopePermissions) as Record<string, string>,
    scopeTitles: JSON.parse(row.scopeTitles) as Record<string, string>,
    signingAlg: row.signingAlg as Resource['signingAlg'],
    access:
      row.access === 'everyone'
        ? 'everyone'
        : accessOf(namesOf(named[at]?.roles ?? []), namesOf(named[at]?.groups ?? [])),
    clients: row.clients as Resource['clients'],
    documentHosts: JSON.parse(row.documentHosts) as string[],
    agentScopes: JSON.parse(row.agentScopes) as string[],
    source: row.source === 'file' ? 'file' : 'local',
  }));
}
