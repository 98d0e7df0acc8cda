// What of a metadata document is not used, in words for administrators.
import { type Text, t } from '../../../base/texts/text.ts';
import type { LeftOut } from './endpoint-url.ts';
import type { SpMetadata } from './parse.ts';

/** Endpoints that are left out. */
export function endpointWarnings(leftOut: readonly LeftOut[]): Text[] {
  return leftOut.map(({ what, location, fault }) =>
    t('console.applications.metadata.left-out', { what, location, fault }),
  );
}

/** The same of a service provider, and its keys that nothing can be encrypted for. */
export function metadataWarnings({ leftOut, encryption }: Pick<SpMetadata, 'leftOut' | 'encryption'>): Text[] {
  const warnings = endpointWarnings(leftOut);
  return encryption === 'curve' ? [...warnings, t('console.applications.metadata.curve')] : warnings;
}
