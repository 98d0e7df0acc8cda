// Checks the declaration of a connection from the API or a form, with the metadata in it.

import { formatPath } from '../../applications/validation.ts';
import type { ParseMetadata } from '../../connections/document-checks.ts';
import { type ConnectionEntry, checkConnection } from '../../connections/schema.ts';
import { badRequest } from '../../http/errors.ts';
import { faultMessage } from '../../platform/fault-messages.ts';

/** Throws invalid_input with every fault. */
export function checkedEntry(input: Record<string, unknown>, parseMetadata: ParseMetadata): ConnectionEntry {
  const checked = checkConnection(input);
  const faults = checked.ok ? metadataFaults(checked.value, parseMetadata) : checked.faults;
  if (checked.ok && faults.length === 0) return checked.value;
  throw badRequest('invalid_input', {
    fields: faults.map(({ path, message }) => ({ field: formatPath(path), message })),
  });
}

function metadataFaults(entry: ConnectionEntry, parse: ParseMetadata) {
  if (entry.kind !== 'saml') return [];
  // It would read a file of this server.
  if (entry.metadata_file !== undefined)
    return [{ path: ['metadata_file'], message: faultMessage('no-metadata-file') }];
  if (entry.metadata === undefined) return [];
  try {
    const { entityId } = parse(entry.metadata);
    if (entry.entity_id === undefined || entry.entity_id === entityId) return [];
    return [{ path: ['entity_id'], message: faultMessage('metadata-entity', { entityId }) }];
  } catch (error) {
    return [{ path: ['metadata'], message: error instanceof Error ? error.message : String(error) }];
  }
}
