// The declaration of a SAML service provider: checked like an entry of the configuration file, its metadata read.

import {
  metadataFaults,
  type ServiceProviderEntry,
  serviceProvider,
  serviceProviderRules,
  settingsOf,
} from '../../applications/fields/service-provider.ts';
import { invalidInput } from '../../base/http/errors.ts';
import { OutgoingError } from '../../base/network/outgoing-fetch.ts';
import { messageOf } from '../../base/platform/errors.ts';
import { check, type Fault, fault } from '../../base/texts/faults.ts';
import { nameFrom, parseServiceProviderMetadata, type SpMetadata } from '../../protocols/saml/metadata/parse.ts';
import { SamlError } from '../../protocols/saml/xml/errors.ts';
import type { AdminServices } from '../admin-services.ts';

/** An application as the configuration file would declare it. */
export type Declaration = Record<string, unknown>;

export interface MetadataSource {
  metadata?: string | undefined;
  metadata_url?: string | undefined;
  /** Pinned: its key signs the document. */
  metadata_certificate?: string | undefined;
}

export interface ResolvedDeclaration {
  entry: ServiceProviderEntry;
  entityId: string;
  /** The metadata; undefined where the addresses are declared instead. */
  xml: string | undefined;
}

/** What is registered now: unchanged metadata is not fetched again. */
interface Registered {
  entry: Declaration;
  xml: string | undefined;
}

/** Reads and checks declarations of service providers; fetches their metadata where it has a URL. */
export function createSamlDeclarations(services: AdminServices) {
  async function load({ metadata, metadata_url, metadata_certificate }: MetadataSource): Promise<string | undefined> {
    if (metadata_url === undefined) return metadata;
    try {
      return await services.fetchMetadata(metadata_url, metadata_certificate);
    } catch (cause) {
      throw invalidInput([metadataFault('metadata_url', cause)], cause);
    }
  }

  function parse(xml: string, { metadata_url }: MetadataSource): SpMetadata {
    try {
      return parseServiceProviderMetadata(xml, services.now());
    } catch (cause) {
      throw invalidInput([metadataFault(metadata_url ? 'metadata_url' : 'metadata', cause)], cause);
    }
  }

  async function resolve(
    given: Declaration,
    { registered, isNamedByMetadata = false }: { registered?: Registered; isNamedByMetadata?: boolean } = {},
  ): Promise<ResolvedDeclaration> {
    const source: MetadataSource = given;
    const read = isNamedByMetadata && given.name === '' ? await load(source) : undefined;
    const declaration = read ? { ...given, name: nameFrom(parse(read, source)) } : given;
    // It would read a file of this server.
    if (declaration.metadata_file !== undefined) {
      throw invalidInput([fault(['metadata_file'], 'for-file', { key: 'metadata' })]);
    }
    const checked = check(serviceProvider, declaration, serviceProviderRules);
    if (!checked.ok) throw invalidInput(checked.faults);
    const entry = checked.value;
    if (entry.acs_url !== undefined) return { entry, entityId: entry.entity_id ?? '', xml: undefined };
    const isSame =
      registered &&
      registered.entry.metadata_url === entry.metadata_url &&
      registered.entry.metadata_certificate === entry.metadata_certificate &&
      registered.entry.metadata === entry.metadata;
    const xml = read || (isSame && registered.xml) || (await load(entry)) || '';
    const metadata = parse(xml, entry);
    const { entityId } = metadata;
    if (entry.entity_id !== undefined && entry.entity_id !== entityId) {
      throw invalidInput([fault(['entity_id'], 'metadata-entity', { entityId })]);
    }
    const faults = metadataFaults(entry, metadata);
    if (faults.length > 0) throw invalidInput(faults);
    return { entry, entityId, xml };
  }

  return {
    /** Throws invalid_input with the field and a message for the administrator. */
    resolve,
    /** Reads metadata without registering it. Throws invalid_input. */
    read: async (source: MetadataSource): Promise<SpMetadata> => parse((await load(source)) ?? '', source),
  };
}

/** The input that a service provider is stored from. */
export function inputOf({ entry, xml }: ResolvedDeclaration) {
  const { name, enabled, consent, access } = entry;
  return { name, enabled, consent, access, settings: settingsOf(entry, xml) };
}

/** Why the metadata is not there, for the administrator. */
function metadataFault(field: string, error: unknown): Fault {
  if (error instanceof SamlError && error.code === 'not_xml') return fault([field], 'not-xml');
  const cause = error instanceof OutgoingError ? error.cause : undefined;
  if (cause instanceof Error && 'code' in cause) {
    const { code, address, port, hostname } = cause as NodeJS.ErrnoException & Record<string, unknown>;
    if (code === 'ECONNREFUSED') return fault([field], 'refused-connection', { address: `${address}:${port}` });
    if (code === 'ENOTFOUND') return fault([field], 'unknown-host', { host: String(hostname) });
  }
  return fault([field], 'english', { english: messageOf(error) });
}

// What a declaration says after a change by merge patch.

/** JSON merge patch, RFC 7396 section 2. */
export function mergePatch(target: unknown, patch: unknown): Declaration {
  const merged: Declaration = isGroup(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(isGroup(patch) ? patch : {})) {
    if (key === '__proto__') continue;
    if (value === null) delete merged[key];
    else merged[key] = isGroup(value) && isGroup(merged[key]) ? mergePatch(merged[key], value) : value;
  }
  return merged;
}

function isGroup(value: unknown): value is Declaration {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
