// External identities: which subject of which connection is which user.

import { conflict } from '../base/http/errors.ts';
import { randomId } from '../base/platform/random.ts';
import { isUniqueConstraintError, type Tx, withinTransaction } from '../base/storage/database.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';

export interface ExternalIdentity {
  id: string;
  connectionId: string;
  subject: string;
  userId: string;
  /** What the account page shows, such as the address at the upstream. */
  label: string;
  linkedAt: Date;
  lastUsedAt: Date | null;
  /** When its directory was last asked about the user, and since when it has none who may sign in. */
  checkedAt: Date | null;
  goneSince: Date | null;
}

export interface NewIdentity {
  connectionId: string;
  subject: string;
  userId: string;
  label: string;
}

export type ExternalIdentities = ReturnType<typeof createExternalIdentities>;

const MAX_LABEL = 254;

export function createExternalIdentities(dependencies: Core) {
  const { db, now, audit } = dependencies;
  async function ofUsers(userIds: readonly string[], tx: Tx = db): Promise<ExternalIdentity[]> {
    return tx.externalIdentity.findMany({
      where: { userId: userIds.length === 1 ? userIds[0] : { in: [...userIds] } },
      orderBy: [{ linkedAt: 'asc' }, { id: 'asc' }],
    });
  }

  return {
    /** The user of this subject; undefined for an unknown subject, and for a row that another program wrote. */
    async find(connectionId: string, subject: string, tx: Tx = db): Promise<ExternalIdentity | undefined> {
      const row = await tx.externalIdentity.findUnique({
        where: { connectionId_subject: { connectionId, subject } },
      });
      return row ?? undefined;
    },

    ofUser: (userId: string, tx?: Tx): Promise<ExternalIdentity[]> => ofUsers([userId], tx),
    /** Those of all these users. */
    ofUsers,

    /** Throws identity_taken (409) when another user has the subject. */
    link: (identity: NewIdentity, by: Actor, outer?: Tx): Promise<void> =>
      withinTransaction(db, outer, async (tx) => {
        const { connectionId, userId } = identity;
        const row = {
          ...identity,
          label: identity.label.slice(0, MAX_LABEL),
          lastUsedAt: now(),
          checkedAt: null,
          goneSince: null,
        };
        await tx.externalIdentity.create({ data: { ...row, id: randomId(), linkedAt: now() } }).catch((error) => {
          if (isUniqueConstraintError(error)) throw conflict('identity_taken', { cause: error });
          throw error;
        });
        const data = { connection: connectionId, label: row.label };
        await audit.record({ ...by, type: 'identity.linked', outcome: 'success', subjectId: userId, data }, tx);
      }),

    /** False when the user has no such identity. */
    unlink: (userId: string, id: string, by: Actor, outer?: Tx): Promise<boolean> =>
      withinTransaction(db, outer, async (tx) => {
        const row = await tx.asStored.externalIdentity.findFirst({ where: { id, userId } });
        if (!row) return false;
        const { count } = await tx.externalIdentity.deleteMany({ where: { id, userId } });
        if (count === 0) return false;
        const data = { connection: row.connectionId, label: row.label };
        await audit.record({ ...by, type: 'identity.unlinked', outcome: 'success', subjectId: userId, data }, tx);
        return true;
      }),

    /** Records a sign-in with it. */
    async used(identity: ExternalIdentity, label: string, tx: Tx): Promise<void> {
      const { id, connectionId, subject, userId, checkedAt } = identity;
      // All that the MAC covers, so that many sign-ins of one person at once do not wait for each other.
      const covered = { connectionId, subject, userId, checkedAt, lastUsedAt: now(), goneSince: null };
      const data = { ...covered, label: label.slice(0, MAX_LABEL) };
      await tx.externalIdentity.update({ where: { id }, data, select: { id: true } });
    },

    /** Takes the turn to ask its directory about the user; false when another request has it. */
    async takeCheck({ id, checkedAt }: ExternalIdentity, at: Date): Promise<boolean> {
      const { count } = await db.externalIdentity.updateMany({ where: { id, checkedAt }, data: { checkedAt: at } });
      return count > 0;
    },

    async setGone(id: string, since: Date | null, tx: Tx): Promise<void> {
      await tx.externalIdentity.updateMany({ where: { id }, data: { goneSince: since } });
    },
  };
}
