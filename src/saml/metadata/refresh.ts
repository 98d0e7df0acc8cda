// Reads the metadata of service providers that are registered by URL again: as often as its cacheDuration says, and at least
// once a day. A document that cannot be read or is rejected changes nothing: the last valid one stays in use (SAML Metadata
// Interoperability Profile). One that changes an address or a protection, or replaces the keys, waits for an administrator
// (differences.ts), unless it is signed with the pinned key of the registration.
import type { SamlApplication } from '../../applications/application.ts';
import type { Applications } from '../../applications/applications.ts';
import type { Audit } from '../../audit/audit.ts';
import { limits } from '../../limits.ts';
import type { AdministratorMail } from '../../mail/messages.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { type Db, type Tx, transaction } from '../../storage/database.ts';
import { isFirstUse } from '../../storage/single-use.ts';
import type { Sql } from '../../storage/statements.ts';
import { type MetadataChange, needsApproval } from './differences.ts';
import { parseServiceProviderMetadata } from './parse.ts';
import { metadataEnd } from './service-providers.ts';
import { applyMetadata, changesTo, type WaitingMetadataStore } from './waiting-metadata.ts';

export interface MetadataRefreshDependencies {
  db: Db;
  sql: Sql;
  applications: Pick<Applications, 'all' | 'updateSaml'>;
  audit: Pick<Audit, 'record'>;
  logger: Logger;
  now: Clock;
  waitingMetadata: WaitingMetadataStore;
  /** Queues a mail to each administrator. */
  notifyAdministrators(message: AdministratorMail, tx: Tx): Promise<void>;
  /** The document, signed with the pinned certificate where there is one. Throws with a sentence for the administrator. */
  fetchMetadata(url: string, pinnedCertificate?: string): Promise<string>;
}

export interface RefreshResult {
  changed: number;
  /** Waits for the approval of an administrator. */
  waiting: number;
  unchanged: number;
  failed: number;
}

type Read = { xml: string; nextReadAt: Date };

/** Refreshes all of them that are due, one after the other; stops early when the signal aborts. */
export function createMetadataRefresh(dependencies: MetadataRefreshDependencies) {
  const { db, applications, audit, logger, now, waitingMetadata, fetchMetadata } = dependencies;

  async function refresh(application: SamlApplication, url: string): Promise<keyof RefreshResult> {
    if (!(await waitingMetadata.isDue(application.id, url))) return 'unchanged';
    const read = await readDocument(application, url);
    if (!read) return 'failed';
    if (read.xml === application.metadata.metadata_xml) {
      await waitingMetadata.read(application.id, url, read.nextReadAt);
      return 'unchanged';
    }
    const changes = changesTo(application, read.xml);
    const isPinned = application.metadata.metadata_certificate !== undefined;
    const mustWait = !isPinned && needsApproval(changes);
    return mustWait ? wait(application, url, read, changes) : apply(application, url, read, changes);
  }

  /** Fetches and checks the document. Undefined when it is rejected, which is recorded. */
  async function readDocument(
    { id, clientId, name, metadata }: SamlApplication,
    url: string,
  ): Promise<Read | undefined> {
    try {
      const xml = await fetchMetadata(url, metadata.metadata_certificate);
      const { entityId, cacheSeconds } = parseServiceProviderMetadata(xml, now());
      if (entityId !== clientId) throw new Error(`The metadata now describes another entity, ${entityId}.`);
      return { xml, nextReadAt: nextRead(cacheSeconds) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn({ clientId, url, reason }, `metadata of ${name} was rejected; the last valid one stays in use`);
      await audit.record({ type: 'application.metadata-refused', outcome: 'failure', clientId, reason, data: { url } });
      await waitingMetadata.failed(id, url, nextRead(undefined));
      return undefined;
    }
  }

  function nextRead(cacheSeconds: number | undefined): Date {
    const { metadataRefreshSeconds: most, metadataPollSeconds: least } = limits.saml;
    return new Date(now().getTime() + Math.min(Math.max(cacheSeconds ?? most, least), most) * 1000);
  }

  async function wait(
    { id, clientId, name }: SamlApplication,
    url: string,
    { xml, nextReadAt }: Read,
    changes: readonly MetadataChange[],
  ): Promise<keyof RefreshResult> {
    return transaction(db, async (tx) => {
      const state = await waitingMetadata.wait(id, url, nextReadAt, { xml, changes }, tx);
      if (state === 'new') {
        const judged = changes.filter((change) => change.needsApproval);
        const data = { url, changes: judged.map((one) => ({ ...one })) };
        logger.warn({ clientId, url }, `changed metadata of ${name} waits for the approval of an administrator`);
        await audit.record({ type: 'application.metadata-waiting', outcome: 'success', clientId, data }, tx);
        await dependencies.notifyAdministrators({ ...noticeOf(name, id, judged), state: 'waiting' }, tx);
      }
      return state === 'rejected' ? 'unchanged' : 'waiting';
    });
  }

  async function apply(
    application: SamlApplication,
    url: string,
    { xml, nextReadAt }: Read,
    changes: readonly MetadataChange[],
  ): Promise<keyof RefreshResult> {
    const { id, clientId, name } = application;
    await transaction(db, async (tx) => {
      await applyMetadata(applications, application, xml, { tx });
      await waitingMetadata.read(id, url, nextReadAt, tx);
      if (changes.length === 0) return;
      const data = { url, changes: changes.map((one) => ({ ...one })) };
      await audit.record({ type: 'application.metadata-applied', outcome: 'success', clientId, data }, tx);
      await dependencies.notifyAdministrators({ ...noticeOf(name, id, changes), state: 'applied' }, tx);
    });
    logger.info({ clientId, url }, `metadata of ${name} was updated`);
    return 'changed';
  }

  /** Reports once that the registered document has expired; until the grace period ends it stays in use. */
  async function reportExpiry({ id, clientId, name, metadata }: SamlApplication): Promise<void> {
    const end = metadataEnd(metadata);
    if (!end || end.validUntil > now()) return;
    const { validUntil, endsAt } = end;
    await transaction(db, async (tx) => {
      const rememberUntil = new Date(endsAt.getTime() + 365 * 24 * 3600 * 1000);
      const key = `metadata-expired:${id}:${validUntil.getTime()}`;
      if (!(await isFirstUse(dependencies.sql.in(tx), key, rememberUntil))) return;
      logger.warn({ clientId, validUntil, endsAt }, `the metadata of ${name} has expired and no valid one can be read`);
      const data = { validUntil: validUntil.toISOString(), endsAt: endsAt.toISOString() };
      await audit.record({ type: 'application.metadata-expired', outcome: 'failure', clientId, data }, tx);
      const notice = { ...noticeOf(name, id, []), state: 'expired' as const, until: endsAt };
      await dependencies.notifyAdministrators(notice, tx);
    });
  }

  return async function refreshAll(signal?: AbortSignal): Promise<RefreshResult> {
    const result: RefreshResult = { changed: 0, waiting: 0, unchanged: 0, failed: 0 };
    for (const application of await applications.all()) {
      if (signal?.aborted) break;
      if (application.protocol !== 'saml' || !application.enabled) continue;
      const url = application.metadata.metadata_url;
      if (url === undefined) continue;
      const outcome = await refresh(application, url);
      result[outcome] += 1;
      if (outcome !== 'changed') await reportExpiry(application);
    }
    return result;
  };
}

function noticeOf(application: string, applicationId: string, changes: readonly MetadataChange[]) {
  return { kind: 'saml-metadata' as const, application, applicationId, changes: changes.map(({ what }) => what) };
}
