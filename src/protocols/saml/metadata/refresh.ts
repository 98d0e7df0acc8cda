// Reads the metadata of service providers that are registered by URL again: as often as its cacheDuration says, and at least
// once a day. A document that cannot be read or is rejected changes nothing: the last valid one stays in use (SAML Metadata
// Interoperability Profile). One that changes an address or a protection, or replaces the keys, waits for an administrator
// (differences.ts), unless it is signed with the pinned key of the registration.

import type { SamlApplication } from '../../../applications/application.ts';
import type { ApplicationServices } from '../../../applications/application-services.ts';
import { metadataFaults } from '../../../applications/fields/service-provider.ts';
import { limits } from '../../../base/limits.ts';
import { messageOf } from '../../../base/platform/errors.ts';
import { sha256 } from '../../../base/platform/random.ts';
import { type Tx, transaction } from '../../../base/storage/database.ts';
import { lockRow } from '../../../base/storage/row-lock.ts';
import { isFirstUse } from '../../../base/storage/seen-ids.ts';
import { unavailableIn } from '../../../base/storage/unavailable.ts';
import { faultLine } from '../../../base/texts/faults.ts';
import type { Core } from '../../../core/core.ts';
import { changesKey, type MetadataChange } from './differences.ts';
import type { FetchMetadata } from './fetch.ts';
import { parseServiceProviderMetadata } from './parse.ts';
import { metadataEnd, type ServiceProviders } from './service-providers.ts';
import { applyMetadata, judge, NOTHING_WAITS } from './waiting-metadata.ts';

/** The name of the job that reads metadata: every hour what is due, as often as each document says. */
export const METADATA_JOB = 'saml-metadata';

/** What became of one application: counted in the result. */
export interface RefreshResult {
  changed: number;
  /** Waits for the approval of an administrator. */
  waiting: number;
  unchanged: number;
  failed: number;
}
type Outcome = keyof RefreshResult;

/** A document that may be registered: about this service provider, and valid. */
interface Received {
  xml: string;
  nextReadAt: Date;
}

/** Refreshes all that are due, one after the other; one that fails does not stop the others. Stops early when the signal aborts. */
export function createMetadataRefresh(services: Core & ApplicationServices & { fetchMetadata: FetchMetadata }) {
  const { db, sql, now, logger, applications, fetchMetadata } = services;
  const reports = createRefreshReports(services);
  const state = createRefreshState(services);

  async function refresh(application: SamlApplication, url: string): Promise<Outcome> {
    if (!(await state.isDue(application.id, url))) return 'unchanged';
    const received = await readDocument(application, url);
    if (!received) return 'failed';
    if (received.xml === application.metadata.metadata_xml) {
      await state.read(application.id, url, received.nextReadAt);
      return 'unchanged';
    }
    return transaction(db, async (tx) => {
      const current = await lockUnchanged(application, tx);
      // The next run reads its metadata again.
      if (!current) return 'unchanged';
      const { changes, mustWait } = judge(current, received.xml);
      return (mustWait ? storeWaiting : apply)(current, url, received, changes, tx);
    });
  }

  /** The application with its row locked; undefined when it was changed or removed since it was read, such as while its metadata was fetched. */
  async function lockUnchanged({ id, clientId, updatedAt }: SamlApplication, tx: Tx) {
    await lockRow(tx, sql, 'applications', id);
    const current = await applications.find(clientId, tx);
    const isUnchanged = current?.id === id && current.updatedAt.getTime() === updatedAt.getTime();
    return isUnchanged && current.protocol === 'saml' ? current : undefined;
  }

  /** Fetches and checks the document. Undefined when it is rejected, which is recorded. */
  async function readDocument(application: SamlApplication, url: string): Promise<Received | undefined> {
    const { id, clientId, metadata } = application;
    try {
      const xml = await fetchMetadata(url, metadata.metadata_certificate);
      const read = parseServiceProviderMetadata(xml, now());
      const { entityId, cacheSeconds } = read;
      if (entityId !== clientId) throw new Error(`The metadata now describes another entity, ${entityId}.`);
      const [found] = metadataFaults(metadata, read);
      if (found) throw new Error(faultLine(found));
      return { xml, nextReadAt: nextRead(cacheSeconds) };
    } catch (error) {
      await reports.rejected(application, url, messageOf(error));
      await state.failed(id, url, nextRead(undefined));
      return undefined;
    }
  }

  function nextRead(cacheSeconds: number | undefined): Date {
    const { metadataRefreshSeconds: most, metadataPollSeconds: least } = limits.saml;
    return new Date(now().getTime() + Math.min(Math.max(cacheSeconds ?? most, least), most) * 1000);
  }

  async function storeWaiting(
    application: SamlApplication,
    url: string,
    { xml, nextReadAt }: Received,
    changes: readonly MetadataChange[],
    tx: Tx,
  ): Promise<Outcome> {
    const waiting = await state.wait(application.id, url, nextReadAt, { xml, changes }, tx);
    if (waiting === 'new') await reports.waiting(application, url, changes, tx);
    return waiting === 'rejected' ? 'unchanged' : 'waiting';
  }

  async function apply(
    application: SamlApplication,
    url: string,
    { xml, nextReadAt }: Received,
    changes: readonly MetadataChange[],
    tx: Tx,
  ): Promise<Outcome> {
    await applyMetadata(applications, application, xml, { tx });
    await state.read(application.id, url, nextReadAt, tx);
    if (changes.length > 0) await reports.applied(application, url, changes, tx);
    return 'changed';
  }

  return async function refreshAll(signal?: AbortSignal): Promise<RefreshResult> {
    const result: RefreshResult = { changed: 0, waiting: 0, unchanged: 0, failed: 0 };
    for (const application of await applications.allGenuine()) {
      if (signal?.aborted) break;
      if (application.protocol !== 'saml' || !application.enabled) continue;
      const url = application.metadata.metadata_url;
      if (url === undefined) continue;
      const { clientId, name } = application;
      const outcome = await refresh(application, url).catch((err: unknown): Outcome => {
        if (unavailableIn(err)) throw err;
        logger.error({ err, clientId, url }, `the metadata of ${name} could not be refreshed`);
        return 'failed';
      });
      result[outcome] += 1;
      if (outcome === 'changed') logger.info({ clientId, url }, `metadata of ${name} was updated`);
      else await reports.expired(application);
    }
    return result;
  };
}

const DAY_MS = 24 * 3600 * 1000;

/** Queues the mails that are due and returns their number. Run by one instance, once a day. */
export function createCertificateNotice({
  db,
  sql,
  now,
  keyring,
  applications,
  serviceProviders,
  outbox,
}: Core & ApplicationServices & { serviceProviders: ServiceProviders }) {
  /** The contacts that an administrator named, else those of the metadata. */
  async function contactsOf({ clientId, metadata }: SamlApplication): Promise<string[]> {
    const contacts = metadata.contacts ?? (await serviceProviders.find(clientId))?.contacts ?? [];
    return [...new Set(contacts.map((address) => address.toLowerCase()))].filter((address) =>
      /^[^\s@]+@[^\s@]+$/.test(address),
    );
  }

  /** Queues the mail of this key, and returns whether it was not queued before. */
  const sendOnce = (
    key: string,
    { clientId, name }: SamlApplication,
    email: string,
    certificate: { until: Date; isNextPublished: boolean },
  ) =>
    transaction(db, async (tx): Promise<boolean> => {
      const rememberUntil = new Date(certificate.until.getTime() + 30 * DAY_MS);
      // In the transaction of the mail, so that neither exists without the other.
      if (!(await isFirstUse(sql.in(tx), `certificate:${sha256(key)}`, rememberUntil))) return false;
      const to = { email, application: clientId };
      await outbox.send({ kind: 'saml-certificate', to, application: name, ...certificate }, tx);
      return true;
    });

  return async function notify(): Promise<number> {
    const [ending] = keyring.expiringCertificates().filter(({ state }) => state === 'active');
    if (!ending) return 0;
    const { kid, until } = ending;
    const daysLeft = Math.floor((until.getTime() - now().getTime()) / DAY_MS);
    const stage = daysLeft <= limits.saml.certificateReminderDays ? 'reminder' : 'warning';
    const next = keyring.samlCertificates().find(({ state }) => state === 'next');
    let mails = 0;
    for (const application of await applications.allGenuine()) {
      if (application.protocol !== 'saml' || !application.enabled) continue;
      for (const email of await contactsOf(application)) {
        const key = [kid, stage, application.id, email].join('\n');
        const isSent = await sendOnce(key, application, email, { until, isNextPublished: next !== undefined });
        if (isSent) mails += 1;
      }
    }
    return mails;
  };
}

function createRefreshReports({ db, sql, audit, logger, now, notifyAdministrators }: Core) {
  return {
    async rejected({ clientId, name }: SamlApplication, url: string, reason: string): Promise<void> {
      logger.warn({ clientId, url, reason }, `metadata of ${name} was rejected; the last valid one stays in use`);
      await audit.record({ type: 'application.metadata-invalid', outcome: 'failure', clientId, reason, data: { url } });
    },

    async waiting(
      { id, clientId, name }: SamlApplication,
      url: string,
      changes: readonly MetadataChange[],
      tx: Tx,
    ): Promise<void> {
      const judged = changes.filter((change) => change.needsApproval);
      const data = { url, changes: judged.map((one) => ({ ...one })) };
      logger.warn({ clientId, url }, `changed metadata of ${name} waits for the approval of an administrator`);
      await audit.record({ type: 'application.metadata-waiting', outcome: 'success', clientId, data }, tx);
      await notifyAdministrators({ ...noticeOf(name, id, judged), state: 'waiting' }, tx);
    },

    async applied(
      { id, clientId, name }: SamlApplication,
      url: string,
      changes: readonly MetadataChange[],
      tx: Tx,
    ): Promise<void> {
      const data = { url, changes: changes.map((one) => ({ ...one })) };
      await audit.record({ type: 'application.metadata-applied', outcome: 'success', clientId, data }, tx);
      await notifyAdministrators({ ...noticeOf(name, id, changes), state: 'applied' }, tx);
    },

    /** Reports once that the registered document has expired; until the grace period ends it stays in use. */
    async expired({ id, clientId, name, metadata }: SamlApplication): Promise<void> {
      const end = metadataEnd(metadata);
      if (!end || end.validUntil > now()) return;
      const { validUntil, endsAt } = end;
      await transaction(db, async (tx) => {
        const rememberUntil = new Date(endsAt.getTime() + 365 * 24 * 3600 * 1000);
        const key = `metadata-expired:${id}:${validUntil.getTime()}`;
        if (!(await isFirstUse(sql.in(tx), key, rememberUntil))) return;
        logger.warn(
          { clientId, validUntil, endsAt },
          `the metadata of ${name} has expired and no valid one can be read`,
        );
        const data = { validUntil: validUntil.toISOString(), endsAt: endsAt.toISOString() };
        await audit.record({ type: 'application.metadata-expired', outcome: 'failure', clientId, data }, tx);
        await notifyAdministrators({ ...noticeOf(name, id, []), state: 'expired', until: endsAt }, tx);
      });
    },
  };
}

function noticeOf(application: string, applicationId: string, changes: readonly MetadataChange[]) {
  return { kind: 'saml-metadata' as const, application, applicationId, changes: changes.map(({ what }) => what) };
}

// The state of the metadata refresh of each service provider: the time of the next refresh, and the document that waits for the
// approval of an administrator (waiting-metadata.ts).

function createRefreshState({ db, now }: Core) {
  return {
    /** Whether the metadata has to be read now. */
    async isDue(applicationId: string, url: string): Promise<boolean> {
      const state = await db.asStored.samlMetadata.findUnique({
        where: { applicationId },
        select: { url: true, nextReadAt: true },
      });
      return state?.url !== url || state.nextReadAt <= now();
    },

    /** Records a successful refresh; removes a waiting document. */
    async read(applicationId: string, url: string, nextReadAt: Date, tx: Tx = db): Promise<void> {
      const data = { url, nextReadAt, ...NOTHING_WAITS };
      await tx.samlMetadata.upsert({ where: { applicationId }, create: { ...data, applicationId }, update: data });
    },

    /** Records a failed refresh; a waiting document stays. */
    async failed(applicationId: string, url: string, nextReadAt: Date): Promise<void> {
      const before = await db.asStored.samlMetadata.findUnique({ where: { applicationId }, select: { url: true } });
      // What waits came from the address before.
      const data = { nextReadAt, ...(before?.url !== url && { ...NOTHING_WAITS, url }) };
      await db.samlMetadata.upsert({ where: { applicationId }, create: { ...data, url, applicationId }, update: data });
    },

    /** Stores the document that waits. `new`: its changes were not reported before; `rejected`: an administrator rejected them. */
    async wait(
      applicationId: string,
      url: string,
      nextReadAt: Date,
      { xml, changes }: { xml: string; changes: readonly MetadataChange[] },
      tx: Tx,
    ): Promise<'new' | 'known' | 'rejected'> {
      const state = await tx.samlMetadata.findUnique({ where: { applicationId } });
      const key = changesKey(changes);
      const isRejected = state?.rejectedKey === key;
      const isKnown = state?.pendingKey === key;
      const pending = { pendingXml: xml, pendingKey: key, pendingSince: isKnown ? state.pendingSince : now() };
      const data = { url, nextReadAt, ...(isRejected ? NOTHING_WAITS : { ...pending, rejectedKey: null }) };
      await tx.samlMetadata.upsert({ where: { applicationId }, create: { ...data, applicationId }, update: data });
      return isRejected ? 'rejected' : isKnown ? 'known' : 'new';
    },
  };
}
