// Service providers registered by a URL: their metadata is read again each day. What cannot be read, or not be accepted,
// changes nothing: the last good metadata stays (SAML Metadata IOP).
import type { SamlApplication } from '../applications/application.ts';
import type { Applications } from '../applications/applications.ts';
import type { Audit } from '../audit/audit.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { parseServiceProviderMetadata } from './metadata-parse.ts';

export interface MetadataRefreshNeeds {
  applications: Pick<Applications, 'all' | 'updateSaml'>;
  audit: Audit;
  logger: Logger;
  now: Clock;
  /** Throws with a sentence for the administrator. */
  fetchMetadata(url: string): Promise<string>;
}

export interface RefreshResult {
  changed: number;
  unchanged: number;
  kept: number;
}

/** Reads all of them, one after the other; stops early when the signal aborts. */
export function createMetadataRefresh(needs: MetadataRefreshNeeds) {
  const { applications, audit, logger, now, fetchMetadata } = needs;

  async function refresh(application: SamlApplication, url: string): Promise<keyof RefreshResult> {
    const { clientId, name, metadata: settings } = application;
    let xml: string;
    try {
      xml = await fetchMetadata(url);
      const { entityId } = parseServiceProviderMetadata(xml, now());
      if (entityId !== clientId) throw new Error(`The metadata now describes another entity, ${entityId}.`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn({ clientId, url, reason }, `metadata of ${name} was not taken over; the last good one stays`);
      await audit.record({ type: 'application.metadata-refused', outcome: 'failure', clientId, reason, data: { url } });
      return 'kept';
    }
    if (xml === settings.metadata_xml) return 'unchanged';
    const { enabled, consent, access, source, id } = application;
    const input = { name, enabled, consent, access, settings: { ...settings, metadata_xml: xml } };
    // In the name of whoever declared the URL: the file owns its applications.
    await applications.updateSaml(id, input, { source });
    logger.info({ clientId, url }, `metadata of ${name} has changed and was taken over`);
    return 'changed';
  }

  return async function refreshAll(signal?: AbortSignal): Promise<RefreshResult> {
    const result: RefreshResult = { changed: 0, unchanged: 0, kept: 0 };
    for (const application of await applications.all()) {
      if (signal?.aborted) break;
      if (application.protocol !== 'saml' || !application.enabled) continue;
      const url = application.metadata.metadata_url;
      if (url !== undefined) result[await refresh(application, url)] += 1;
    }
    return result;
  };
}
