// The metadata document that is registered for a service provider: what a received one changes of it, and registering that one.
import type { SamlApplication } from '../../../applications/application.ts';
import type { Applications } from '../../../applications/applications.ts';
import type { Tx } from '../../../base/storage/database.ts';
import type { Actor } from '../../../core/audit/audit.ts';
import { type MetadataChange, metadataChanges } from './differences.ts';
import { parseServiceProviderMetadata } from './parse.ts';

// Whether a document is valid now is checked when it is read.
const LONG_AGO = new Date(0);

/** What this document changes of the registered metadata; nothing where none is registered yet. */
export function changesTo({ metadata }: SamlApplication, xml: string): MetadataChange[] {
  if (metadata.metadata_xml === undefined) return [];
  const [registered, received] = [metadata.metadata_xml, xml].map((text) =>
    parseServiceProviderMetadata(text, LONG_AGO),
  );
  return registered && received ? metadataChanges(registered, received) : [];
}

/** Registers this document. An application of the configuration file keeps its source: only the document changes. */
export async function applyMetadata(
  applications: Applications,
  { id, name, enabled, consent, access, source, metadata }: SamlApplication,
  xml: string,
  { by, tx }: { by?: Actor; tx: Tx },
): Promise<void> {
  const input = { name, enabled, consent, access, settings: { ...metadata, metadata_xml: xml } };
  await applications.updateSaml(id, input, { source, tx, ...(by && { by }) });
}
