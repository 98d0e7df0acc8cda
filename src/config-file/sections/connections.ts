// `connections`: the upstream identity providers. Documents behind a URL are read by a job, so that no start depends on another server.

import { messageOf } from '../../base/platform/errors.ts';
import { sha256 } from '../../base/platform/random.ts';
import { type Fault, fault } from '../../base/texts/faults.ts';
import type { Connection } from '../../federation/connections/connection.ts';
import {
  type ConnectionEntry,
  entryOf,
  entryWithoutSecrets,
  partsOf,
  secretPurposeByField,
  shortEntryOf,
} from '../../federation/connections/schema.ts';
import type { FederationServices } from '../../federation/federation-services.ts';
import { parseIdentityProviderMetadata } from '../../protocols/saml/metadata/parse-identity-provider.ts';
import {
  changeOfSecret,
  differences,
  type FieldChange,
  type Planned,
  type Planning,
  planEntries,
  unknownGroups,
  unknownRoles,
} from '../planning.ts';
import { readMetadataFile } from './applications.ts';

const byFile = { source: 'file' } as const;

export async function planConnections(planning: Planning): Promise<Planned> {
  const { connections, declared } = planning;
  const forged = new Set(await connections.forgedIds());
  return planEntries({
    section: 'connections',
    declared: declared.connections,
    stored: new Map((await connections.list()).map((connection) => [connection.id, connection])),
    nameOf: ({ id }) => id,
    async compare(given, take) {
      const { id } = given;
      const existing = take(id);
      if (forged.has(id)) return { warnings: [forgedWarning(id)] };
      const entry = await withMetadata(given, planning);
      if ('fault' in entry) return { faults: [entry.fault] };
      const change = await connections.changeFault(entry);
      const before = existing ? plannedFields(entryOf(existing, await planning.connections.lists(existing.id))) : {};
      return {
        name: id,
        faults: [
          ...Object.entries(given.role_mappings).flatMap(([group, roles]) =>
            unknownRoles(roles, planning, ['role_mappings', group]),
          ),
          ...Object.entries(given.group_mappings).flatMap(([group, names]) =>
            unknownGroups(names, planning, ['group_mappings', group]),
          ),
          ...(change ? [change] : []),
        ],
        fields: [
          ...differences(before, plannedFields(entryWithoutSecrets(entry))),
          ...(await secretFields(entry, existing, planning)),
        ],
        store: (tx) => (existing ? connections.update : connections.create)(entry, { ...byFile, tx }),
      };
    },
    remove: ({ id }, tx) => connections.remove(id, { ...byFile, tx }),
  });
}

export async function exportConnections(services: FederationServices) {
  const { connections } = services;
  return Promise.all((await connections.list()).map(async (one) => shortEntryOf(one, await connections.lists(one.id))));
}

const forgedWarning = (id: string) =>
  `connection ${id} was changed by another program, so it is disabled. To remove it, run: gatehouse connection remove ${id}`;

/** The entry with the metadata of its file in it, checked. */
async function withMetadata(entry: ConnectionEntry, planning: Planning): Promise<ConnectionEntry | { fault: Fault }> {
  if (entry.kind !== 'saml') return entry;
  const { metadata_file: file, ...rest } = entry;
  try {
    const metadata = file === undefined ? entry.metadata : await readMetadataFile(file, planning);
    if (metadata === undefined) return rest;
    const { entityId } = parseIdentityProviderMetadata(metadata, planning.now());
    if (rest.entity_id !== undefined && rest.entity_id !== entityId)
      return { fault: fault(['entity_id'], 'metadata-entity', { entityId }) };
    return { ...rest, metadata };
  } catch (error) {
    const english = messageOf(error);
    return { fault: fault([file === undefined ? 'metadata' : 'metadata_file'], 'english', { english }) };
  }
}

/** The fields of the plan; metadata is too long for a line. */
function plannedFields({ id: _id, metadata, ...entry }: Record<string, unknown>): Record<string, unknown> {
  if (typeof metadata !== 'string') return entry;
  return { ...entry, metadata: `${metadata.length} characters, SHA-256 ${sha256(metadata)}` };
}

async function secretFields(
  entry: ConnectionEntry,
  existing: Connection | undefined,
  planning: Planning,
): Promise<FieldChange[]> {
  const { secrets } = partsOf(entry);
  const changes = Object.entries(secretPurposeByField).map(([field, purpose]) => {
    const wanted = secrets[purpose];
    const isStored = () => planning.connections.secretsMatch(entry.id, purpose, wanted ?? []);
    return changeOfSecret(planning, field, wanted, existing && isStored);
  });
  return (await Promise.all(changes)).flat();
}
