// The state of metadata that is read from a URL: when it is read next, and the document that waits for the approval of an
// administrator.
import type { SamlApplication } from '../../applications/application.ts';
import type { Applications } from '../../applications/applications.ts';
import type { Actor, Audit } from '../../audit/audit.ts';
import { conflict, notFound } from '../../http/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import { sha256 } from '../../platform/random.ts';
import { type Db, type Tx, transaction } from '../../storage/database.ts';
import { changesKey, type MetadataChange, metadataChanges, needsApproval } from './differences.ts';
import { parseServiceProviderMetadata } from './parse.ts';

/** A received document that changes what only an administrator may change. */
export interface WaitingMetadata {
  /** SHA-256 of the document, which an approval names. */
  document: string;
  receivedAt: Date;
  changes: MetadataChange[];
}

export interface WaitingMetadataDecisions {
  /** Undefined when nothing waits, or when the address of the metadata has changed since. */
  find(applicationId: string): Promise<WaitingMetadata | undefined>;
  /**
   * For a document that an administrator had read again: true when it needs approval, and waits for it now. False when it may be
   * applied.
   */
  receive(application: SamlApplication, xml: string): Promise<boolean>;
  /** Applies the document. Throws not_found, or conflict when another document waits by now. */
  approve(applicationId: string, document: string, by: Actor): Promise<void>;
  /** Drops the document; the same changes are not reported again. Throws as approve does. */
  reject(applicationId: string, document: string, by: Actor): Promise<void>;
}

export interface WaitingMetadataDependencies {
  db: Db;
  now: Clock;
  audit: Pick<Audit, 'record'>;
  applications: Pick<Applications, 'get' | 'updateSaml'>;
}

// Whether a document is valid now is checked when it is read.
const LONG_AGO = new Date(0);
const NOTHING_WAITS = { pendingXml: null, pendingKey: null, pendingSince: null };

export function createWaitingMetadata({ db, now, audit, applications }: WaitingMetadataDependencies) {
  async function waiting(applicationId: string, tx: Tx) {
    const state = await tx.samlMetadata.findUnique({ where: { applicationId } });
    if (!state?.pendingXml || !state.pendingSince) return undefined;
    const application = await applications.get(applicationId, tx);
    if (application.protocol !== 'saml' || application.metadata.metadata_url !== state.url) return undefined;
    const changes = changesTo(application, state.pendingXml);
    const found = { document: sha256(state.pendingXml), receivedAt: state.pendingSince, changes };
    return { application, xml: state.pendingXml, found };
  }

  async function expected(applicationId: string, document: string, tx: Tx) {
    const current = await waiting(applicationId, tx);
    if (!current) throw notFound({ message: 'No changed metadata of this application waits for approval.' });
    if (current.found.document !== document)
      throw conflict('conflict', { message: 'Another document has been received since. Look at its changes first.' });
    return current;
  }

  function record(
    type: 'application.metadata-approved' | 'application.metadata-rejected',
    by: Actor,
    clientId: string,
    found: WaitingMetadata,
    tx: Tx,
  ) {
    const data = { document: found.document, changes: found.changes.map((one) => ({ ...one })) };
    return audit.record({ ...by, type, outcome: 'success', clientId, data }, tx);
  }

  const decisions: WaitingMetadataDecisions = {
    find: async (applicationId) => (await waiting(applicationId, db))?.found,

    async receive(application, xml) {
      const { id, metadata } = application;
      const changes = changesTo(application, xml);
      const isPinned = metadata.metadata_certificate !== undefined;
      if (isPinned || metadata.metadata_url === undefined || !needsApproval(changes)) return false;
      const url = metadata.metadata_url;
      const data = { url, nextReadAt: now(), pendingXml: xml, pendingKey: changesKey(changes), pendingSince: now() };
      await db.samlMetadata.upsert({
        where: { applicationId: id },
        create: { ...data, applicationId: id },
        update: data,
      });
      return true;
    },

    approve: (applicationId, document, by) =>
      transaction(db, async (tx) => {
        const { application, xml, found } = await expected(applicationId, document, tx);
        await applyMetadata(applications, application, xml, { by, tx });
        await tx.samlMetadata.update({ where: { applicationId }, data: { ...NOTHING_WAITS, rejectedKey: null } });
        await record('application.metadata-approved', by, application.clientId, found, tx);
      }),

    reject: (applicationId, document, by) =>
      transaction(db, async (tx) => {
        const { application, found } = await expected(applicationId, document, tx);
        const data = { ...NOTHING_WAITS, rejectedKey: changesKey(found.changes) };
        await tx.samlMetadata.update({ where: { applicationId }, data });
        await record('application.metadata-rejected', by, application.clientId, found, tx);
      }),
  };

  return {
    decisions,

    /** Whether the metadata has to be read now. */
    async isDue(applicationId: string, url: string): Promise<boolean> {
      const state = await db.samlMetadata.findUnique({
        where: { applicationId },
        select: { url: true, nextReadAt: true },
      });
      return state?.url !== url || state.nextReadAt <= now();
    },

    /** Stores that it was read; nothing waits any more. */
    async read(applicationId: string, url: string, nextReadAt: Date, tx: Tx = db): Promise<void> {
      const data = { url, nextReadAt, ...NOTHING_WAITS };
      await tx.samlMetadata.upsert({ where: { applicationId }, create: { ...data, applicationId }, update: data });
    },

    /** Stores that it could not be read; what waits goes on waiting. */
    async failed(applicationId: string, url: string, nextReadAt: Date): Promise<void> {
      const data = { url, nextReadAt };
      await db.samlMetadata.upsert({ where: { applicationId }, create: { ...data, applicationId }, update: data });
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

export type WaitingMetadataStore = ReturnType<typeof createWaitingMetadata>;

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
  applications: Pick<Applications, 'updateSaml'>,
  { id, name, enabled, consent, access, source, metadata }: SamlApplication,
  xml: string,
  { by, tx }: { by?: Actor; tx: Tx },
): Promise<void> {
  const input = { name, enabled, consent, access, settings: { ...metadata, metadata_xml: xml } };
  await applications.updateSaml(id, input, { source, tx, ...(by && { by }) });
}
