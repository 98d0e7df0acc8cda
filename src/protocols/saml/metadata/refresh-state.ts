// The state of the metadata refresh of each service provider: the time of the next refresh, and the document that waits for the
// approval of an administrator (waiting-metadata.ts).

import type { Clock } from '../../../base/platform/clock.ts';
import type { Db, Tx } from '../../../base/storage/database.ts';
import { changesKey, type MetadataChange } from './differences.ts';

export type RefreshState = ReturnType<typeof createRefreshState>;

/** The columns of a row without a waiting document. */
export const NOTHING_WAITS = { pendingXml: null, pendingKey: null, pendingSince: null };

export function createRefreshState({ db, now }: { db: Db; now: Clock }) {
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
      const waiting = { pendingXml: xml, pendingSince: isKnown ? state.pendingSince : now() };
      const pending = { ...waiting, pendingKey: key };
      const data = { url, nextReadAt, ...(isRejected ? NOTHING_WAITS : { ...pending, rejectedKey: null }) };
      await tx.samlMetadata.upsert({ where: { applicationId }, create: { ...data, applicationId }, update: data });
      return isRejected ? 'rejected' : isKnown ? 'known' : 'new';
    },
  };
}
