// Received metadata: what it changes of the registered document, registering it, and the decision of an administrator about one
// that waits.

import type { SamlApplication } from '../../../applications/application.ts';
import type { ApplicationServices } from '../../../applications/application-services.ts';
import type { Applications } from '../../../applications/applications.ts';
import { conflict, notFound } from '../../../base/http/errors.ts';
import { sha256 } from '../../../base/platform/random.ts';
import { type Tx, transaction } from '../../../base/storage/database.ts';
import { lockRow } from '../../../base/storage/row-lock.ts';
import { t } from '../../../base/texts/text.ts';
import type { Actor } from '../../../core/audit/audit.ts';
import type { Core } from '../../../core/core.ts';
import { changesKey, type MetadataChange, metadataChanges, needsApproval } from './differences.ts';
import { parseServiceProviderMetadata } from './parse.ts';

/** A received document that changes what only an administrator may change. */
export interface WaitingMetadata {
  /** SHA-256 of the document, which an approval names. */
  documentHash: string;
  receivedAt: Date;
  changes: MetadataChange[];
}

export function createWaitingMetadata({ db, sql, now, audit, applications }: Core & ApplicationServices) {
  async function findWaiting(applicationId: string, tx: Tx) {
    const state = await tx.samlMetadata.findUnique({ where: { applicationId } });
    if (!state?.pendingXml || !state.pendingSince) return undefined;
    const application = await applications.get(applicationId, tx);
    if (application.protocol !== 'saml' || application.metadata.metadata_url !== state.url) return undefined;
    const { changes } = judge(application, state.pendingXml);
    const found = { documentHash: sha256(state.pendingXml), receivedAt: state.pendingSince, changes };
    return { application, xml: state.pendingXml, found };
  }

  /** In one transaction: takes the decision about the document of this hash, and stores and records it. */
  const decide = (
    applicationId: string,
    documentHash: string,
    by: Actor,
    decision: 'approved' | 'rejected',
  ): Promise<void> =>
    transaction(db, async (tx) => {
      await lockRow(tx, sql, 'applications', applicationId);
      const current = await findWaiting(applicationId, tx);
      if (!current) throw notFound({ message: t('console.applications.metadata.none-waits') });
      const { application, xml, found } = current;
      if (found.documentHash !== documentHash)
        throw conflict('conflict', { message: t('console.applications.error.other-document') });
      const isApproved = decision === 'approved';
      if (isApproved) await applyMetadata(applications, application, xml, { by, tx });
      const rejectedKey = isApproved ? null : changesKey(found.changes);
      await tx.samlMetadata.update({ where: { applicationId }, data: { ...NOTHING_WAITS, rejectedKey } });
      const data = { document: documentHash, changes: found.changes.map((one) => ({ ...one })) };
      const entry = { ...by, outcome: 'success' as const, clientId: application.clientId, data };
      await audit.record({ type: `application.metadata-${decision}`, ...entry }, tx);
    });

  return {
    /** Undefined when nothing waits, or when the address of the metadata has changed since. */
    find: async (applicationId: string): Promise<WaitingMetadata | undefined> =>
      (await findWaiting(applicationId, db))?.found,

    /**
     * For a document that an administrator had read again: true when it needs approval, and waits for it now. False when it may be
     * applied.
     */
    async receive(application: SamlApplication, xml: string): Promise<boolean> {
      const { id: applicationId, metadata } = application;
      const { changes, mustWait } = judge(application, xml);
      if (metadata.metadata_url === undefined || !mustWait) return false;
      const pending = { pendingXml: xml, pendingKey: changesKey(changes), pendingSince: now() };
      const data = { applicationId, url: metadata.metadata_url, nextReadAt: now(), ...pending };
      await db.samlMetadata.upsert({ where: { applicationId }, create: data, update: data });
      return true;
    },

    /** Applies the document. Throws not_found, or conflict when another document waits by now. */
    approve: (applicationId: string, documentHash: string, by: Actor) =>
      decide(applicationId, documentHash, by, 'approved'),

    /** Drops the document; the same changes are not reported again. Throws as approve does. */
    reject: (applicationId: string, documentHash: string, by: Actor) =>
      decide(applicationId, documentHash, by, 'rejected'),
  };
}

/** The columns of a row without a waiting document. */
export const NOTHING_WAITS = { pendingXml: null, pendingKey: null, pendingSince: null };

// Whether a document is valid now is checked when it is read.
const LONG_AGO = new Date(0);

/**
 * What this document changes of the registered metadata, nothing where none is registered yet, and whether it has to wait for an
 * administrator: not when it is signed with the pinned key.
 */
export function judge({ metadata }: SamlApplication, xml: string): { changes: MetadataChange[]; mustWait: boolean } {
  if (metadata.metadata_xml === undefined) return { changes: [], mustWait: false };
  const registered = parseServiceProviderMetadata(metadata.metadata_xml, LONG_AGO);
  const changes = metadataChanges(registered, parseServiceProviderMetadata(xml, LONG_AGO));
  return { changes, mustWait: metadata.metadata_certificate === undefined && needsApproval(changes) };
}

/** Registers this document. An application of the configuration file keeps its source: only the document changes. */
export async function applyMetadata(
  applications: Applications,
  { id, name, enabled, consent, access, source, metadata }: SamlApplication,
  xml: string,
  { by, tx }: { by?: Actor; tx: Tx },
): Promise<void> {
  const input = { name, enabled, consent, access, settings: { ...metadata, metadata_xml: xml } };
  await applications.update('saml', id, input, { source, tx, ...(by && { by }) });
}
