// Plans the SAML service providers: the file's declarations against the registered ones. The entity ID comes from the
// metadata, which is in a file, in the configuration, or behind a URL that may be down.

import type { Application, SamlApplication } from '../../applications/application.ts';
import type { ApplicationServices } from '../../applications/application-services.ts';
import type { SamlInput } from '../../applications/applications.ts';
import { metadataFaults, type ServiceProvider, settingsOf } from '../../applications/fields/service-provider.ts';
import { sha256 } from '../../base/platform/random.ts';
import { inTurns } from '../../base/platform/turns.ts';
import { type Fault, fault } from '../../base/texts/faults.ts';
import { differences, nothingPlanned, type Planned, takeOver } from './steps.ts';

export type MetadataReader = {
  /** Throws with a sentence for the administrator. */
  parse(
    xml: string,
  ): { entityId: string; leftOut: readonly { reason: string }[] } & Parameters<typeof metadataFaults>[1];
  /** The document behind a URL; throws with a sentence for the administrator. */
  fetch(url: string, pinnedCertificate?: string): Promise<string>;
  /** A file beside the configuration file. */
  readFile(path: string): Promise<string>;
};

const byFile = { source: 'file' } as const;

/** `stored` holds the remaining applications; declared ones are removed from it. */
export async function planServiceProviders(
  declared: readonly ServiceProvider[],
  stored: Map<string, Application>,
  {
    applications,
    reader,
    clientIds,
    entityIds,
  }: ApplicationServices & {
    reader: MetadataReader;
    clientIds: ReadonlySet<string>;
    /** Gets the entity ID of each declared one. */
    entityIds: Set<string>;
  },
): Promise<Planned> {
  const plan = nothingPlanned();
  const first = new Map<string, number>();
  for await (const [index, entry] of inTurns(declared.entries(), 1)) {
    const resolved = await resolve(entry, stored, reader);
    if ('fault' in resolved) {
      plan.faults.push({ ...resolved.fault, path: ['service_providers', index, ...resolved.fault.path] });
      continue;
    }
    if ('later' in resolved) {
      plan.warnings.push(resolved.later);
      for (const { clientId, name, source } of [...stored.values()]) {
        if (name === entry.name && source === 'file') stored.delete(clientId); // stays unchanged
      }
      continue;
    }
    const { entityId, xml, warnings = [] } = resolved;
    plan.warnings.push(...warnings);
    const existing = stored.get(entityId);
    stored.delete(entityId);
    entityIds.add(entityId);
    const path = ['service_providers', index];
    if (applications.isReserved(entityId)) plan.faults.push(fault(path, 'entity-id-reserved', { id: entityId }));
    else if (first.has(entityId))
      plan.faults.push(
        fault(path, 'entity-id-twice', { where: `service_providers[${first.get(entityId)}]`, id: entityId }),
      );
    else if (existing?.protocol === 'oidc' || clientIds.has(entityId))
      plan.faults.push(fault(path, 'entity-id-of-client', { id: entityId }));
    first.set(entityId, first.get(entityId) ?? index);
    if (existing?.protocol === 'oidc') continue;

    const { name, enabled, consent, access } = entry;
    const input: SamlInput = { entityId, name, enabled, consent, access, settings: settingsOf(entry, xml) };
    const fields = [
      ...differences(existing ? declaredFields(existing) : {}, inputFields(input)),
      ...takeOver(existing?.source ?? 'file'),
    ];
    if (existing && fields.length === 0) {
      plan.unchanged += 1;
      continue;
    }
    plan.steps.push({
      kind: existing ? 'change' : 'create',
      section: 'service_providers',
      name,
      fields,
      async run(tx) {
        if (existing) await applications.updateSaml(existing.id, input, { ...byFile, tx });
        else await applications.createSaml(input, { ...byFile, tx });
      },
    });
  }
  return plan;
}

type Resolved = { entityId: string; xml?: string; warnings?: string[] } | { fault: Fault } | { later: string };

async function resolve(
  entry: ServiceProvider,
  stored: Map<string, Application>,
  reader: MetadataReader,
): Promise<Resolved> {
  if (entry.acs_url !== undefined) return { entityId: entry.entity_id ?? '' };
  const known = entry.metadata_url === undefined ? undefined : byUrl(entry.metadata_url, stored);
  // The daily refresh reads the URL; reading it here would make each start depend on another server.
  if (known?.metadata.metadata_xml !== undefined) return { entityId: known.clientId, xml: known.metadata.metadata_xml };
  const field = entry.metadata_file ? 'metadata_file' : entry.metadata_url ? 'metadata_url' : 'metadata';
  try {
    const xml = await load(entry, reader);
    // Accepted metadata is not checked again at each start, because it may have expired since.
    const accepted = [...stored.values()].find((one) => one.protocol === 'saml' && one.metadata.metadata_xml === xml);
    const parsed = accepted ? undefined : reader.parse(xml);
    const entityId = accepted?.clientId ?? parsed?.entityId ?? '';
    const [found] = parsed ? metadataFaults(entry, parsed) : [];
    if (found) return { fault: found };
    if (entry.entity_id !== undefined && entry.entity_id !== entityId) {
      return { fault: fault(['entity_id'], 'metadata-entity', { entityId }) };
    }
    const warnings = parsed?.leftOut.map(
      ({ reason }) => `service provider ${entry.name}: left out of its metadata: ${reason}`,
    );
    return { entityId, xml, ...(warnings && { warnings }) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // A service provider that is down must not stop the server: it is registered at a later apply.
    if (field === 'metadata_url') return { later: `service provider ${entry.name} was left out: ${message}` };
    return { fault: fault([field], 'english', { english: message }) };
  }
}

async function load(entry: ServiceProvider, reader: MetadataReader): Promise<string> {
  if (entry.metadata_file !== undefined) return reader.readFile(entry.metadata_file);
  return entry.metadata_url === undefined
    ? (entry.metadata ?? '')
    : reader.fetch(entry.metadata_url, entry.metadata_certificate);
}

function byUrl(url: string, stored: Map<string, Application>): SamlApplication | undefined {
  return [...stored.values()].find(
    (application): application is SamlApplication =>
      application.protocol === 'saml' && application.metadata.metadata_url === url,
  );
}

function declaredFields({
  name,
  clientId,
  enabled,
  consent,
  access,
  metadata,
}: SamlApplication): Record<string, unknown> {
  return inputFields({ name, entityId: clientId, enabled, consent, access, settings: metadata });
}

function inputFields({ settings, entityId, ...input }: SamlInput): Record<string, unknown> {
  const { metadata_xml: xml, ...rest } = settings;
  // The document is too long for a line of the plan.
  const metadata = xml === undefined ? {} : { metadata: `${xml.length} characters, SHA-256 ${sha256(xml)}` };
  return { entity_id: entityId, ...input, ...rest, ...metadata };
}
