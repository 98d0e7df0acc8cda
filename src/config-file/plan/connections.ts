// Plans the connections to upstream identity providers: the file's declarations against the stored ones. Documents behind a URL
// are read by a job, so that no start depends on another server.

import { sha256 } from '../../base/platform/random.ts';
import { inTurns } from '../../base/platform/turns.ts';
import { at, type Fault, fault } from '../../base/texts/faults.ts';
import type { Connection } from '../../federation/connections/connection.ts';
import type { Connections } from '../../federation/connections/connections.ts';
import type { ParseMetadata } from '../../federation/connections/documents.ts';
import {
  type ConnectionEntry,
  entryOf,
  entryWithoutSecrets,
  partsOf,
  type SecretPurpose,
  secretPurposeByField,
} from '../../federation/connections/schema.ts';
import type { FederationServices } from '../../federation/federation-services.ts';
import {
  differences,
  type FieldChange,
  nothingPlanned,
  type Planned,
  type PlanOptions,
  secretChange,
  secretSet,
  takeOver,
} from './steps.ts';

const byFile = { source: 'file' } as const;

export async function planConnections(
  declared: readonly ConnectionEntry[],
  dependencies: FederationServices & {
    /** The names of the roles once the file is applied. */
    roles: ReadonlySet<string>;
    /** A file beside the configuration file; throws with a sentence. */
    readFile(path: string): Promise<string>;
    parseUpstreamMetadata: ParseMetadata;
  },
  options: PlanOptions,
): Promise<Planned> {
  const { connections } = dependencies;
  const plan = nothingPlanned();
  const stored = new Map((await connections.list()).map((connection) => [connection.id, connection]));
  const forged = new Set(await connections.forgedIds());
  for await (const [index, given] of inTurns(declared.entries(), 1)) {
    const { id } = given;
    const existing = stored.get(id);
    stored.delete(id);
    if (forged.has(id)) {
      plan.warnings.push(
        `connection ${id} was changed by another program, so it is disabled. To remove it, run: gatehouse connection remove ${id}`,
      );
      continue;
    }
    const entry = await withMetadata(given, dependencies);
    const faults = 'fault' in entry ? [entry.fault] : [...roleFaults(given, dependencies.roles)];
    const change = 'fault' in entry ? undefined : await connections.changeFault(entry);
    if (change) faults.push(change);
    plan.faults.push(...at(['connections', index], faults));
    if (faults.length > 0 || 'fault' in entry) continue;
    const fields = [
      ...differences(
        existing ? await storedFields(existing, connections) : {},
        plannedFields(entryWithoutSecrets(entry)),
      ),
      ...(await secretFields(entry, existing, connections, options)),
      ...takeOver(existing?.source ?? 'file'),
    ];
    if (existing && fields.length === 0) {
      plan.unchanged += 1;
      continue;
    }
    plan.steps.push({
      kind: existing ? 'change' : 'create',
      section: 'connections',
      name: id,
      fields,
      async run(tx) {
        await (existing ? connections.update(entry, { ...byFile, tx }) : connections.create(entry, { ...byFile, tx }));
      },
    });
  }
  for (const { id, source } of stored.values()) {
    if (source !== 'file') continue;
    const run = (tx: Parameters<Connections['get']>[1]) => connections.remove(id, { ...byFile, tx });
    plan.steps.push({ kind: 'delete', section: 'connections', name: id, fields: [], run });
  }
  return plan;
}

/** The entry with the metadata of its file in it, checked. */
async function withMetadata(
  entry: ConnectionEntry,
  {
    readFile,
    parseUpstreamMetadata,
  }: {
    /** A file beside the configuration file; throws with a sentence. */
    readFile(path: string): Promise<string>;
    parseUpstreamMetadata: ParseMetadata;
  },
): Promise<ConnectionEntry | { fault: Fault }> {
  if (entry.kind !== 'saml') return entry;
  const { metadata_file: file, ...rest } = entry;
  const field = file === undefined ? 'metadata' : 'metadata_file';
  try {
    const metadata = file === undefined ? entry.metadata : await readFile(file);
    if (metadata === undefined) return rest;
    const { entityId } = parseUpstreamMetadata(metadata);
    if (rest.entity_id !== undefined && rest.entity_id !== entityId)
      return { fault: fault(['entity_id'], 'metadata-entity', { entityId }) };
    return { ...rest, metadata };
  } catch (error) {
    return { fault: fault([field], 'english', { english: error instanceof Error ? error.message : String(error) }) };
  }
}

function roleFaults({ role_mappings }: ConnectionEntry, known: ReadonlySet<string>): Fault[] {
  return Object.entries(role_mappings).flatMap(([group, roles]) =>
    roles
      .filter((role) => !known.has(role))
      .map((role) => fault(['role_mappings', group], 'unknown-role', { roles: role })),
  );
}

async function storedFields(connection: Connection, connections: Connections): Promise<Record<string, unknown>> {
  const [domains, roleMappings] = await Promise.all([
    connections.domains(connection.id),
    connections.roleMappings(connection.id),
  ]);
  return plannedFields(entryOf(connection, { domains, roleMappings }));
}

/** The fields of the plan; metadata is too long for a line. */
function plannedFields({ id: _id, metadata, ...entry }: Record<string, unknown>): Record<string, unknown> {
  if (typeof metadata !== 'string') return entry;
  return { ...entry, metadata: `${metadata.length} characters, SHA-256 ${sha256(metadata)}` };
}

async function secretFields(
  entry: ConnectionEntry,
  existing: Connection | undefined,
  connections: Connections,
  { hidesSecrets = false }: PlanOptions,
): Promise<FieldChange[]> {
  const fields: FieldChange[] = [];
  for (const [purpose, wanted] of Object.entries(partsOf(entry).secrets)) {
    const key = Object.entries(secretPurposeByField).find(([, one]) => one === purpose)?.[0] ?? purpose;
    if (hidesSecrets || !existing) fields.push(secretSet(key));
    else if (!(await connections.secretsMatch(entry.id, purpose as SecretPurpose, wanted)))
      fields.push(secretChange(key));
  }
  return fields;
}
