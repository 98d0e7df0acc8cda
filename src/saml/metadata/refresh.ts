// Fetches the metadata of service providers that are registered by URL, once a day. Metadata that cannot be fetched or is
// rejected changes nothing: the last valid metadata stays in use (SAML Metadata Interoperability Profile).
import type { SamlApplication } from '../../applications/application.ts';
import type { Applications } from '../../applications/applications.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { parseServiceProviderMetadata } from './parse.ts';

export interface MetadataRefreshDependencies {
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
  failed: number;
}

/** Refreshes all of them, one after the other; stops early when the signal aborts. */
export function createMetadataRefresh(dependencies: MetadataRefreshDependencies) {
  const { applications, audit, logger, now, fetchMetadata } = dependencies;

  async function refresh(application: SamlApplication, url: string): Promise<keyof RefreshResult> {
    const { clientId, name, metadata: settings } = application;
    let xml: string;
    try {
      xml = await fetchMetadata(url);
      const { entityId } = parseServiceProviderMetadata(xml, now());
      if (entityId !== clientId) throw new Error(`The metadata now describes another entity, ${entityId}.`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn({ clientId, url, reason }, `metadata of ${name} was rejected; the last valid one stays in use`);
      await audit.record({ type: 'application.metadata-refused', outcome: 'failure', clientId, reason, data: { url } });
      return 'failed';
    }
    if (xml === settings.metadata_xml) return 'unchanged';
    const { enabled, consent, access, source, id } = application;
    const input = { name, enabled, consent, access, settings: { ...settings, metadata_xml: xml } };
    // With the source of the application: only the configuration file may change an application that it declares.
    await applications.updateSaml(id, input, { source });
    logger.info({ clientId, url }, `metadata of ${name} was updated`);
    return 'changed';
  }

  return async function refreshAll(signal?: AbortSignal): Promise<RefreshResult> {
    const result: RefreshResult = { changed: 0, unchanged: 0, failed: 0 };
    for (const application of await applications.all()) {
      if (signal?.aborted) break;
      if (application.protocol !== 'saml' || !application.enabled) continue;
      const url = application.metadata.metadata_url;
      if (url !== undefined) result[await refresh(application, url)] += 1;
    }
    return result;
  };
}
