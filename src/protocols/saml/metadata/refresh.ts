// Reads the metadata of service providers that are registered by URL again: as often as its cacheDuration says, and at least
// once a day. A document that cannot be read or is rejected changes nothing: the last valid one stays in use (SAML Metadata
// Interoperability Profile). One that changes an address or a protection, or replaces the keys, waits for an administrator
// (differences.ts), unless it is signed with the pinned key of the registration.
import type { SamlApplication } from '../../../applications/application.ts';
import type { Applications } from '../../../applications/applications.ts';
import { metadataFaults } from '../../../applications/fields/service-provider.ts';
import { limits } from '../../../base/limits.ts';
import type { Clock } from '../../../base/platform/clock.ts';
import { transaction } from '../../../base/storage/database.ts';
import type { ProtectedRows } from '../../../base/storage/protected-rows.ts';
import { type MetadataChange, needsApproval } from './differences.ts';
import { parseServiceProviderMetadata } from './parse.ts';
import { createRefreshReports, type RefreshReports, type RefreshReportsDependencies } from './refresh-reports.ts';
import { createRefreshState, type RefreshState } from './refresh-state.ts';
import { applyMetadata, changesTo } from './registered-document.ts';

export interface MetadataRefreshDependencies extends RefreshReportsDependencies {
  applications: Applications;
  protectedRows: ProtectedRows;
  /** The document, signed with the pinned certificate where there is one. Throws with a sentence for the administrator. */
  fetchMetadata(url: string, pinnedCertificate?: string): Promise<string>;
}

/** What became of one application: counted in the result. */
export interface RefreshResult {
  changed: number;
  /** Waits for the approval of an administrator. */
  waiting: number;
  unchanged: number;
  failed: number;
}
type Outcome = keyof RefreshResult;

type RefreshContext = MetadataRefreshDependencies & { state: RefreshState; reports: RefreshReports };

/** A document that may be registered: about this service provider, and valid. */
interface Received {
  xml: string;
  nextReadAt: Date;
}

/** Refreshes all of them that are due, one after the other; stops early when the signal aborts. */
export function createMetadataRefresh(dependencies: MetadataRefreshDependencies) {
  const reports = createRefreshReports(dependencies);
  const context: RefreshContext = { ...dependencies, state: createRefreshState(dependencies), reports };

  return async function refreshAll(signal?: AbortSignal): Promise<RefreshResult> {
    const result: RefreshResult = { changed: 0, waiting: 0, unchanged: 0, failed: 0 };
    for (const application of await dependencies.applications.allGenuine()) {
      if (signal?.aborted) break;
      if (application.protocol !== 'saml' || !application.enabled) continue;
      const url = application.metadata.metadata_url;
      if (url === undefined) continue;
      const outcome = await refresh(context, application, url);
      result[outcome] += 1;
      if (outcome !== 'changed') await reports.expired(application);
    }
    return result;
  };
}

async function refresh(context: RefreshContext, application: SamlApplication, url: string): Promise<Outcome> {
  const { state } = context;
  if (!(await state.isDue(application.id, url))) return 'unchanged';
  const received = await readDocument(context, application, url);
  if (!received) return 'failed';
  if (received.xml === application.metadata.metadata_xml) {
    await state.read(application.id, url, received.nextReadAt);
    return 'unchanged';
  }
  const changes = changesTo(application, received.xml);
  const isPinned = application.metadata.metadata_certificate !== undefined;
  const mustWait = !isPinned && needsApproval(changes);
  return (mustWait ? storeWaiting : apply)(context, application, url, received, changes);
}

/** Fetches and checks the document. Undefined when it is rejected, which is recorded. */
async function readDocument(
  { now, state, reports, fetchMetadata }: RefreshContext,
  application: SamlApplication,
  url: string,
): Promise<Received | undefined> {
  const { id, clientId, metadata } = application;
  try {
    const xml = await fetchMetadata(url, metadata.metadata_certificate);
    const read = parseServiceProviderMetadata(xml, now());
    const { entityId, cacheSeconds } = read;
    if (entityId !== clientId) throw new Error(`The metadata now describes another entity, ${entityId}.`);
    const [fault] = metadataFaults(metadata, read);
    if (fault) throw new Error(`${fault.path.join('.')} ${fault.message}.`);
    return { xml, nextReadAt: nextRead(now, cacheSeconds) };
  } catch (error) {
    await reports.rejected(application, url, error instanceof Error ? error.message : String(error));
    await state.failed(id, url, nextRead(now, undefined));
    return undefined;
  }
}

function nextRead(now: Clock, cacheSeconds: number | undefined): Date {
  const { metadataRefreshSeconds: most, metadataPollSeconds: least } = limits.saml;
  return new Date(now().getTime() + Math.min(Math.max(cacheSeconds ?? most, least), most) * 1000);
}

async function storeWaiting(
  { db, state, reports }: RefreshContext,
  application: SamlApplication,
  url: string,
  { xml, nextReadAt }: Received,
  changes: readonly MetadataChange[],
): Promise<Outcome> {
  return transaction(db, async (tx) => {
    const waiting = await state.wait(application.id, url, nextReadAt, { xml, changes }, tx);
    if (waiting === 'new') await reports.waiting(application, url, changes, tx);
    return waiting === 'rejected' ? 'unchanged' : 'waiting';
  });
}

async function apply(
  { db, applications, logger, state, reports }: RefreshContext,
  application: SamlApplication,
  url: string,
  { xml, nextReadAt }: Received,
  changes: readonly MetadataChange[],
): Promise<Outcome> {
  const { id, clientId, name } = application;
  await transaction(db, async (tx) => {
    await applyMetadata(applications, application, xml, { tx });
    await state.read(id, url, nextReadAt, tx);
    if (changes.length > 0) await reports.applied(application, url, changes, tx);
  });
  logger.info({ clientId, url }, `metadata of ${name} was updated`);
  return 'changed';
}
