// Received metadata that waits for the approval of an administrator, and the decision about it.

import type { SamlApplication } from '../../../applications/application.ts';
import type { ApplicationServices } from '../../../applications/application-services.ts';
import { conflict, notFound } from '../../../base/http/errors.ts';
import { sha256 } from '../../../base/platform/random.ts';
import { type Tx, transaction } from '../../../base/storage/database.ts';
import { t } from '../../../base/texts/text.ts';
import type { Actor } from '../../../core/audit/audit.ts';
import type { Core } from '../../../core/core.ts';
import { changesKey, type MetadataChange, needsApproval } from './differences.ts';
import { applyMetadata, changesTo, NOTHING_WAITS } from './refresh.ts';

/** A received document that changes what only an administrator may change. */
export interface WaitingMetadata {
  /** SHA-256 of the document, which an approval names. */
  documentHash: string;
  receivedAt: Date;
  changes: MetadataChange[];
}

export function createWaitingMetadata(dependencies: Core & ApplicationServices) {
  const { db, audit, applications } = dependencies;
  return {
    /** Undefined when nothing waits, or when the address of the metadata has changed since. */
    find: async (applicationId: string): Promise<WaitingMetadata | undefined> =>
      (await findWaiting(dependencies, applicationId, db))?.found,

    /**
     * For a document that an administrator had read again: true when it needs approval, and waits for it now. False when it may be
     * applied.
     */
    receive: (application: SamlApplication, xml: string): Promise<boolean> => receive(dependencies, application, xml),

    /** Applies the document. Throws not_found, or conflict when another document waits by now. */
    approve: (applicationId: string, documentHash: string, by: Actor): Promise<void> =>
      transaction(db, async (tx) => {
        const { application, xml, found } = await findExpected(dependencies, applicationId, documentHash, tx);
        await applyMetadata(applications, application, xml, { by, tx });
        await tx.samlMetadata.update({ where: { applicationId }, data: { ...NOTHING_WAITS, rejectedKey: null } });
        await audit.record({ type: 'application.metadata-approved', ...decisionEntry(application, found, by) }, tx);
      }),

    /** Drops the document; the same changes are not reported again. Throws as approve does. */
    reject: (applicationId: string, documentHash: string, by: Actor): Promise<void> =>
      transaction(db, async (tx) => {
        const { application, found } = await findExpected(dependencies, applicationId, documentHash, tx);
        const data = { ...NOTHING_WAITS, rejectedKey: changesKey(found.changes) };
        await tx.samlMetadata.update({ where: { applicationId }, data });
        await audit.record({ type: 'application.metadata-rejected', ...decisionEntry(application, found, by) }, tx);
      }),
  };
}

async function findWaiting({ applications }: Core & ApplicationServices, applicationId: string, tx: Tx) {
  const state = await tx.samlMetadata.findUnique({ where: { applicationId } });
  if (!state?.pendingXml || !state.pendingSince) return undefined;
  const application = await applications.get(applicationId, tx);
  if (application.protocol !== 'saml' || application.metadata.metadata_url !== state.url) return undefined;
  const changes = changesTo(application, state.pendingXml);
  const found = { documentHash: sha256(state.pendingXml), receivedAt: state.pendingSince, changes };
  return { application, xml: state.pendingXml, found };
}

async function findExpected(
  dependencies: Core & ApplicationServices,
  applicationId: string,
  documentHash: string,
  tx: Tx,
) {
  const current = await findWaiting(dependencies, applicationId, tx);
  if (!current) throw notFound({ message: t('console.applications.metadata.none-waits') });
  if (current.found.documentHash !== documentHash)
    throw conflict('conflict', { message: t('console.applications.error.other-document') });
  return current;
}

async function receive({ db, now }: Core, application: SamlApplication, xml: string): Promise<boolean> {
  const { id: applicationId, metadata } = application;
  const changes = changesTo(application, xml);
  const isPinned = metadata.metadata_certificate !== undefined;
  if (isPinned || metadata.metadata_url === undefined || !needsApproval(changes)) return false;
  const { metadata_url: url } = metadata;
  const waiting = { pendingXml: xml, pendingSince: now() };
  const data = { url, nextReadAt: now(), ...waiting, pendingKey: changesKey(changes) };
  await db.samlMetadata.upsert({
    where: { applicationId },
    create: { ...data, applicationId },
    update: { ...data, applicationId },
  });
  return true;
}

function decisionEntry({ clientId }: SamlApplication, { documentHash, changes }: WaitingMetadata, by: Actor) {
  const data = { document: documentHash, changes: changes.map((one) => ({ ...one })) };
  return { ...by, outcome: 'success' as const, clientId, data };
}
