// `clients`, `service_providers` and `proxied_applications`: the registered applications. A secret in the file is compared with the stored ones, so a second apply
// changes nothing; a client without a secret in the file keeps its secrets. The entity ID of a service provider comes from its metadata,
// which is in a file, in the configuration, or behind a URL that may be down.

import type {
  Application,
  OidcApplication,
  Protocol,
  ProxiedApplication,
  SamlApplication,
} from '../../applications/application.ts';
import type { SamlInput } from '../../applications/applications.ts';
import {
  metadataOf,
  needsSecretValue,
  type OidcClient,
  oidcClient,
  usesSecret,
} from '../../applications/fields/oidc-client.ts';
import { type Provision, withoutToken } from '../../applications/fields/provisioning.ts';
import {
  type ProxiedEntry,
  proxiedApplication,
  proxiedSettingsOf,
} from '../../applications/fields/proxied-application.ts';
import {
  metadataFaults,
  type ServiceProviderEntry,
  serviceProvider,
  settingsOf,
} from '../../applications/fields/service-provider.ts';
import { unlistedAlgFaults } from '../../applications/rules/signing-algorithms.ts';
import { includesResource } from '../../applications/uris.ts';
import { messageOf } from '../../base/platform/errors.ts';
import { sha256 } from '../../base/platform/random.ts';
import { type Fault, fault } from '../../base/texts/faults.ts';
import { decodeXml } from '../../protocols/saml/xml/encoding.ts';
import {
  accessFaults,
  changeOfSecret,
  declaredSecret,
  differences,
  type FieldChange,
  type Planned,
  type Planning,
  planEntries,
  sortedAccess,
} from '../planning.ts';
import { withoutDefaults } from '../schema.ts';

const byFile = { source: 'file' } as const;

/** Metadata beside the configuration file. Throws with a sentence. */
export async function readMetadataFile(name: string, { readFile }: Planning): Promise<string> {
  return decodeXml(await readFile(name, (file, cause) => new Error(`cannot be read: ${file}`, { cause })));
}

/** The entry with the token of the file that it names, and what that changes. */
async function provisionOf<Entry extends { provision?: Provision | undefined }>(
  name: string,
  entry: Entry,
  existing: Application | undefined,
  planning: Planning,
): Promise<{ entry: Entry; fields: FieldChange[]; faults: Fault[]; warnings: string[] }> {
  const { provisioningTokens } = planning.applications;
  const { provision } = entry;
  const unchanged = { entry, fields: [], faults: [], warnings: [] };
  if (!provision) return unchanged;
  const { token_file: file, ...rest } = provision;
  const path = ['provision', 'token_file'];
  const { secret: token, faults } = await declaredSecret(planning, { value: provision.token, file }, path);
  if (faults.length > 0) return { ...unchanged, faults };
  const stored = existing ? await provisioningTokens.find(existing.id) : undefined;
  if (token === undefined && stored === undefined)
    return {
      ...unchanged,
      entry: { ...entry, provision: undefined },
      warnings: [`provision of ${name} is left out: the file has no token for it, and none is stored`],
    };
  const isStored = stored !== undefined && (() => token === stored);
  return {
    entry: { ...entry, provision: { ...rest, ...(token !== undefined && { token }) } },
    fields: await changeOfSecret(planning, 'provision.token', token, isStored),
    faults: [],
    warnings: [],
  };
}

export async function planClients(planning: Planning): Promise<Planned> {
  const { applications, applicationIds, declared, settingAfter, stored } = planning;
  const entityIds = new Set(stored.filter(({ protocol }) => protocol !== 'oidc').map(({ clientId }) => clientId));
  const algs = settingAfter('signing_algorithms');
  const apis = await apisAfter(planning);
  return planEntries({
    section: 'clients',
    declared: declared.clients,
    stored: byClientId(stored.filter((one) => one.protocol === 'oidc')),
    nameOf: ({ clientId }) => clientId,
    async compare(declaredEntry, take) {
      const { client_id: name } = declaredEntry;
      const existing = take(name);
      const { entry: client, ...provision } = await provisionOf(name, declaredEntry, existing, planning);
      const { client_id: _id, ...input } = client;
      applicationIds.add(name);
      if (applications.isReserved(name)) return { faults: [fault(['client_id'], 'reserved')] };
      if (entityIds.has(name)) return { faults: [fault(['client_id'], 'is-entity-id')] };
      const { fields, isMissing } = await secretOf(client, existing, planning);
      return {
        name,
        faults: [
          ...unlistedAlgFaults(client, algs, existing?.metadata),
          ...accessFaults(client, planning),
          ...provision.faults,
        ],
        warnings: [
          ...(isMissing ? [withoutSecret(name)] : []),
          ...exchangesNothing(client, apis),
          ...provision.warnings,
        ],
        fields: [
          ...differences(existing ? declaredApplication(existing) : {}, declaredClient(client)),
          ...fields,
          ...provision.fields,
        ],
        store: (tx) =>
          existing
            ? applications.update('oidc', existing.id, input, { ...byFile, tx })
            : applications.createOidc(client, { ...byFile, tx }),
      };
    },
    remove: ({ id }, tx) => applications.remove(id, { ...byFile, tx }),
  });
}

/** The declaration for plan and export: without the secret, and with the name only if it differs from the client_id. */
function declaredClient(client: OidcClient): Record<string, unknown> {
  const { enabled, consent, access } = client;
  const name = client.client_name ?? client.client_id;
  return { client_name: name, enabled, consent, access: sortedAccess(access), ...metadataOf(client) };
}

/** A registered client in the same form. */
function declaredApplication({ name, enabled, consent, access, metadata }: OidcApplication): Record<string, unknown> {
  return { client_name: name, enabled, consent, access, ...metadata };
}

/** What the declared secret changes. `isMissing`: the client needs one, and has none here or there. */
async function secretOf(
  client: OidcClient,
  existing: OidcApplication | undefined,
  planning: Planning,
): Promise<{ fields: FieldChange[]; isMissing?: boolean }> {
  const { applications } = planning;
  const { client_secret: secret } = client;
  if (existing && !usesSecret(client)) return { fields: [] };
  const unexpired = existing ? await applications.unexpiredSecrets(existing.id) : [];
  const isUsable = unexpired.some(({ value }) => !needsSecretValue(client) || value !== undefined);
  const isStored = async () => isUsable && (await applications.hasSecret(existing?.id ?? '', secret ?? ''));
  return {
    fields: await changeOfSecret(planning, 'client_secret', secret, existing && isStored),
    isMissing: usesSecret(client) && secret === undefined && !isUsable,
  };
}

/** What there are tokens for once the file is applied: APIs and websites. */
async function apisAfter({ declared, db, stored }: Planning): Promise<string[]> {
  const others = await db.asStored.resource.findMany({
    where: { source: { not: 'file' } },
    select: { identifier: true },
  });
  const websites = stored.filter(({ protocol, source }) => protocol === 'proxy' && source !== 'file');
  return [
    ...[...declared.resources, ...others].map(({ identifier }) => identifier),
    ...declared.proxied_applications.map(({ url }) => url),
    ...websites.map(({ clientId }) => clientId),
  ];
}

/** The APIs that a client runs, and exchanges tokens for, which are none of `apis`. */
function exchangesNothing({ client_id: name, may_exchange: runs = [] }: OidcClient, apis: readonly string[]): string[] {
  const unknown = runs.filter((one) => !includesResource(apis, one));
  return unknown.map(
    (one) => `client ${name}: may_exchange names ${one}, which is no API, so every exchange for it fails`,
  );
}

function withoutSecret(name: string): string {
  return `client ${name} has no secret, so it can't authenticate: add client_secret to the file, or run: gatehouse app secret ${name}`;
}

export async function planServiceProviders(planning: Planning): Promise<Planned> {
  const { applications, applicationIds, declared, stored } = planning;
  const registered = byClientId(stored.filter((one) => one.protocol === 'saml'));
  const clientIds = new Set([
    ...declared.clients.map(({ client_id }) => client_id),
    ...stored.filter(({ protocol }) => protocol !== 'saml').map(({ clientId }) => clientId),
  ]);
  const first = new Map<string, number>();

  function identifierFault(id: string, index: number): Fault | undefined {
    const before = first.get(id);
    first.set(id, before ?? index);
    if (applications.isReserved(id)) return fault([], 'entity-id-reserved', { id });
    if (before !== undefined) return fault([], 'entity-id-twice', { where: `service_providers[${before}]`, id });
    return clientIds.has(id) ? fault([], 'entity-id-of-client', { id }) : undefined;
  }

  return planEntries({
    section: 'service_providers',
    declared: declared.service_providers,
    stored: registered,
    nameOf: ({ name }) => name,
    async compare(entry, take, index) {
      const { name, enabled, consent, access } = entry;
      const resolved = await resolve(entry, registered, planning);
      if ('fault' in resolved) return { faults: [resolved.fault] };
      if ('later' in resolved) {
        // Stays unchanged.
        for (const one of registered.values()) if (one.name === name && one.source === 'file') take(one.clientId);
        return { warnings: [resolved.later] };
      }
      const { entityId, xml, warnings = [] } = resolved;
      const existing = take(entityId);
      applicationIds.add(entityId);
      const provision = await provisionOf(name, entry, existing, planning);
      const settings = settingsOf(provision.entry, xml);
      const input: SamlInput = { entityId, name, enabled, consent, access, settings };
      const found = identifierFault(entityId, index);
      return {
        name,
        warnings: [...warnings, ...provision.warnings],
        faults: [...(found ? [found] : []), ...accessFaults(entry, planning), ...provision.faults],
        fields: [...differences(existing ? declaredFields(existing) : {}, inputFields(input)), ...provision.fields],
        store: (tx) =>
          existing
            ? applications.update('saml', existing.id, input, { ...byFile, tx })
            : applications.createSaml(input, { ...byFile, tx }),
      };
    },
    remove: ({ id }, tx) => applications.remove(id, { ...byFile, tx }),
  });
}

export function planWebsites(planning: Planning): Promise<Planned> {
  const { applications, applicationIds, declared, stored } = planning;
  const taken = new Set(stored.filter(({ protocol }) => protocol !== 'proxy').map(({ clientId }) => clientId));
  const enabled = [
    ...declared.proxied_applications.filter((entry) => entry.enabled).map(({ url }) => url),
    ...stored
      .filter((one) => one.protocol === 'proxy' && one.source !== 'file' && one.enabled)
      .map(({ clientId }) => clientId),
  ];
  const websites = new Map(enabled.map((origin) => [origin, new URL(origin).hostname]));
  return planEntries({
    section: 'proxied_applications',
    declared: declared.proxied_applications,
    stored: byClientId(stored.filter((one) => one.protocol === 'proxy')),
    nameOf: ({ name }) => name,
    async compare(declaredEntry, take) {
      const existing = take(declaredEntry.url);
      const { entry, ...provision } = await provisionOf(declaredEntry.name, declaredEntry, existing, planning);
      applicationIds.add(entry.url);
      const found = applications.identifierFault('proxy', entry.url);
      if (found) return { faults: [found] };
      if (taken.has(entry.url)) return { faults: [fault(['url'], 'is-entity-id')] };
      return {
        name: entry.name,
        warnings: [...provision.warnings, ...unknownDependencies(entry, websites), ...sharedHosts(entry, websites)],
        faults: [...accessFaults(entry, planning), ...provision.faults],
        fields: [...differences(existing ? declaredWebsite(existing) : {}, websiteFields(entry)), ...provision.fields],
        store: (tx) =>
          existing
            ? applications.update('proxy', existing.id, entry, { ...byFile, tx })
            : applications.createProxied(entry, { ...byFile, tx }),
      };
    },
    remove: ({ id }, tx) => applications.remove(id, { ...byFile, tx }),
  });
}

/** Of the enabled websites, by address. */
type HostNames = ReadonlyMap<string, string>;

/** What a sign-in to the website leaves out (protocols/forward-auth): most likely a typing error. */
const unknownDependencies = ({ name, depends_on: origins = [] }: ProxiedEntry, websites: HostNames) =>
  origins
    .filter((origin) => !websites.has(origin))
    .map((origin) => `${name} depends on ${origin}, which is the address of no enabled website`);

const sharedHosts = ({ name, url }: ProxiedEntry, websites: HostNames) =>
  [...websites]
    .filter(([other, host]) => other !== url && host === websites.get(url))
    .map(([other]) => `${name} has the host name of ${other}: browsers send the session of each to both`);

const websiteFields = (entry: ProxiedEntry): Record<string, unknown> => ({
  name: entry.name,
  url: entry.url,
  enabled: entry.enabled,
  access: sortedAccess(entry.access),
  ...proxiedSettingsOf(entry),
});

const declaredWebsite = ({ name, clientId, enabled, access, metadata }: ProxiedApplication) =>
  websiteFields({ name, url: clientId, enabled, access, ...metadata });

type Resolved = { entityId: string; xml?: string; warnings?: string[] } | { fault: Fault } | { later: string };

/** The entity ID of an entry, and its metadata. */
async function resolve(
  entry: ServiceProviderEntry,
  registered: ReadonlyMap<string, SamlApplication>,
  planning: Planning,
): Promise<Resolved> {
  const { metadata_url: url, metadata_file: file } = entry;
  if (entry.acs_url !== undefined) return { entityId: entry.entity_id ?? '' };
  const known = url === undefined ? undefined : find(registered, ({ metadata_url }) => metadata_url === url);
  // The daily refresh reads the URL; reading it here would make each start depend on another server.
  if (known?.metadata.metadata_xml !== undefined) return { entityId: known.clientId, xml: known.metadata.metadata_xml };
  try {
    const xml = await load(entry, planning);
    // Accepted metadata is not checked again at each start, because it may have expired since.
    const accepted = find(registered, ({ metadata_xml }) => metadata_xml === xml);
    const parsed = accepted ? undefined : planning.metadata.parse(xml);
    const entityId = accepted?.clientId ?? parsed?.entityId ?? '';
    const [found] = parsed ? metadataFaults(entry, parsed) : [];
    if (found) return { fault: found };
    if (entry.entity_id !== undefined && entry.entity_id !== entityId)
      return { fault: fault(['entity_id'], 'metadata-entity', { entityId }) };
    const leftOut = parsed?.leftOut ?? [];
    return {
      entityId,
      xml,
      warnings: leftOut.map(({ reason }) => `service provider ${entry.name}: left out of its metadata: ${reason}`),
    };
  } catch (error) {
    const english = messageOf(error);
    // A service provider that is down must not stop the server: it is registered at a later apply.
    if (!file && url) return { later: `service provider ${entry.name} was left out: ${english}` };
    return { fault: fault([file ? 'metadata_file' : 'metadata'], 'english', { english }) };
  }
}

async function load(entry: ServiceProviderEntry, planning: Planning): Promise<string> {
  const { metadata_file: file, metadata_url: url, metadata, metadata_certificate: pinned } = entry;
  if (file !== undefined) return readMetadataFile(file, planning);
  return url === undefined ? (metadata ?? '') : planning.metadata.fetch(url, pinned);
}

function find(
  registered: ReadonlyMap<string, SamlApplication>,
  matches: (metadata: SamlApplication['metadata']) => boolean,
): SamlApplication | undefined {
  return [...registered.values()].find(({ metadata }) => matches(metadata));
}

function declaredFields({ name, clientId, enabled, consent, access, metadata }: SamlApplication) {
  return inputFields({ name, entityId: clientId, enabled, consent, access, settings: metadata });
}

function inputFields({ settings, entityId, access, ...input }: SamlInput): Record<string, unknown> {
  const { metadata_xml: xml, ...rest } = withoutToken(settings);
  // The document is too long for a line of the plan.
  const metadata = xml === undefined ? {} : { metadata: `${xml.length} characters, SHA-256 ${sha256(xml)}` };
  return { entity_id: entityId, ...input, access: sortedAccess(access), ...rest, ...metadata };
}

function byClientId<One extends Application>(list: readonly One[]): Map<string, One> {
  return new Map(list.map((one) => [one.clientId, one]));
}

type Entry = Record<string, unknown>;

/** The section of the file that declares applications of the protocol. */
export const sectionOf = (protocol: Protocol) =>
  (({ oidc: 'clients', saml: 'service_providers', proxy: 'proxied_applications' }) as const)[protocol];

/** One application as the file would declare it. */
export function applicationEntry(application: Application): Entry {
  if (application.protocol === 'proxy') return websiteEntry(application);
  return application.protocol === 'oidc' ? clientEntry(application) : serviceProviderEntry(application);
}

function clientEntry(application: OidcApplication): Entry {
  const { client_name: name, response_types: _derived, ...rest } = declaredApplication(application);
  return {
    client_id: application.clientId,
    ...(name === application.clientId ? {} : { client_name: name }),
    ...withoutDefaults(rest, oidcClient.parse({ client_id: 'x' })),
  };
}

function serviceProviderEntry({ name, clientId, enabled, consent, access, metadata }: SamlApplication): Entry {
  const { metadata_xml: xml, metadata_url: url, acs, slo, certificates, ...answer } = metadata;
  const byHand = { entity_id: clientId, acs_url: acs?.map(shortAcs) ?? [], slo_url: slo, certificates };
  const document = xml === undefined ? byHand : { metadata: xml };
  const source = url === undefined ? document : { metadata_url: url };
  const defaults = serviceProvider.parse({ name: 'x' });
  return { name, ...withoutDefaults({ ...source, ...answer, enabled, consent, access }, defaults) };
}

function websiteEntry(application: ProxiedApplication): Entry {
  const { name, url, proxy, ...rest } = declaredWebsite(application);
  const defaults = proxiedApplication.parse({ name: 'x', url: 'https://x.example', proxy: 'caddy' });
  return { name, url, proxy, ...withoutDefaults(rest, defaults) };
}

/** Only the URL, where index and default have their default values. */
function shortAcs(endpoint: { url: string; index: number; default: boolean }, position: number) {
  const { url, index, default: isDefault } = endpoint;
  return index === position && isDefault === (position === 0) ? url : { url, index, default: isDefault };
}
