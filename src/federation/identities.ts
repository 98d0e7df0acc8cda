// External identities: which subject of which connection is which user.
import type { Actor, Audit } from '../audit/audit.ts';
import type { ProtectedRows } from '../audit/protected-rows.ts';
import { conflict } from '../http/errors.ts';
import type { Clock } from '../platform/clock.ts';
import { randomId } from '../platform/random.ts';
import { type Db, isUniqueViolation, type Tx, withinTransaction } from '../storage/database.ts';

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

export interface ExternalIdentities {
  /** The user of this subject; undefined for an unknown subject, and for a row that another program wrote. */
  find(connectionId: string, subject: string, tx?: Tx): Promise<ExternalIdentity | undefined>;
  ofUser(userId: string, tx?: Tx): Promise<ExternalIdentity[]>;
  /** Those of all these users. */
  ofUsers(userIds: readonly string[], tx?: Tx): Promise<ExternalIdentity[]>;
  /** Throws identity_taken (409) when another user has the subject. */
  link(identity: NewIdentity, by: Actor, tx?: Tx): Promise<void>;
  /** False when the user has no such identity. */
  unlink(userId: string, id: string, by: Actor, tx?: Tx): Promise<boolean>;
  /** Records a sign-in with it. */
  used(id: string, label: string, tx: Tx): Promise<void>;
  /** Takes the turn to ask its directory about the user; false when another request has it. */
  takeCheck(identity: Pick<ExternalIdentity, 'id' | 'checkedAt'>, at: Date): Promise<boolean>;
  setGone(id: string, since: Date | null, tx: Tx): Promise<void>;
}

export interface IdentitiesDependencies {
  db: Db;
  now: Clock;
  audit: Audit;
  protectedRows: ProtectedRows;
}

const MAX_LABEL = 254;

export function createExternalIdentities(dependencies: IdentitiesDependencies): ExternalIdentities {
  const { db, now, audit, protectedRows } = dependencies;
  const fieldsOf = ({ connectionId, subject, userId }: Pick<NewIdentity, 'connectionId' | 'subject' | 'userId'>) => [
    connectionId,
    subject,
    userId,
  ];

  const ofUsers: ExternalIdentities['ofUsers'] = async (userIds, tx = db) => {
    const rows = await tx.externalIdentity.findMany({
      where: { userId: userIds.length === 1 ? userIds[0] : { in: [...userIds] } },
      orderBy: [{ linkedAt: 'asc' }, { id: 'asc' }],
    });
    return rows.filter((row) => protectedRows.isGenuine('external_identities', fieldsOf(row), row.mac));
  };

  return {
    async find(connectionId, subject, tx = db) {
      const row = await tx.externalIdentity.findUnique({
        where: { connectionId_subject: { connectionId, subject } },
      });
      return row && protectedRows.isGenuine('external_identities', fieldsOf(row), row.mac) ? row : undefined;
    },

    ofUser: (userId, tx) => ofUsers([userId], tx),
    ofUsers,

    link: (identity, by, outer) =>
      withinTransaction(db, outer, async (tx) => {
        const { connectionId, userId } = identity;
        const row = {
          ...identity,
          label: identity.label.slice(0, MAX_LABEL),
          mac: protectedRows.macOf('external_identities', fieldsOf(identity)),
          lastUsedAt: now(),
        };
        await tx.externalIdentity.create({ data: { ...row, id: randomId(), linkedAt: now() } }).catch((error) => {
          if (isUniqueViolation(error)) throw conflict('identity_taken', { cause: error });
          throw error;
        });
        const data = { connection: connectionId, label: row.label };
        await audit.record({ ...by, type: 'identity.linked', outcome: 'success', subjectId: userId, data }, tx);
      }),

    unlink: (userId, id, by, outer) =>
      withinTransaction(db, outer, async (tx) => {
        const row = await tx.externalIdentity.findFirst({ where: { id, userId } });
        if (!row) return false;
        const { count } = await tx.externalIdentity.deleteMany({ where: { id, userId } });
        if (count === 0) return false;
        const data = { connection: row.connectionId, label: row.label };
        await audit.record({ ...by, type: 'identity.unlinked', outcome: 'success', subjectId: userId, data }, tx);
        return true;
      }),

    async used(id, label, tx) {
      await tx.externalIdentity.update({
        where: { id },
        data: { lastUsedAt: now(), label: label.slice(0, MAX_LABEL), goneSince: null },
        select: { id: true },
      });
    },

    async takeCheck({ id, checkedAt }, at) {
      const { count } = await db.externalIdentity.updateMany({ where: { id, checkedAt }, data: { checkedAt: at } });
      return count > 0;
    },

    async setGone(id, since, tx) {
      await tx.externalIdentity.updateMany({ where: { id }, data: { goneSince: since } });
    },
  };
}
