// Passkeys and security keys of an account, to sign in without a password or as second factor: registration,
// authentication, and the list that its owner manages.

import type { Clock } from '../../../base/platform/clock.ts';
import { type Db, type Tx, transaction } from '../../../base/storage/database.ts';
import type { ProtectedRows } from '../../../base/storage/protected-rows.ts';
import type { Sql } from '../../../base/storage/statements.ts';
import type { Actor, Audit } from '../../../core/audit/audit.ts';
import { createPasskeyAuthenticator } from './passkey-authentication.ts';
import { passkeyName } from './passkey-name.ts';
import { createPasskeyRegistrar } from './passkey-registration.ts';
import { webauthn } from './webauthn-ceremony.ts';

export interface PasskeySummary {
  id: string;
  name: string;
  backedUp: boolean;
  discoverable: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
}

export type Passkeys = ReturnType<typeof createPasskeys>;

export interface PasskeysDependencies {
  db: Db;
  sql: Sql;
  now: Clock;
  audit: Audit;
  protectedRows: ProtectedRows;
  issuerUrl: URL;
  /** The name that the device shows. */
  serviceName: string;
}

export function createPasskeys(dependencies: PasskeysDependencies) {
  const { db, audit } = dependencies;
  return {
    ...createPasskeyRegistrar(dependencies),
    ...createPasskeyAuthenticator(dependencies),

    /** Loads the library ahead of its first use. */
    async prepare(): Promise<void> {
      await webauthn();
    },

    list: (userId: string): Promise<PasskeySummary[]> =>
      db.asStored.passkey.findMany({
        where: { userId },
        orderBy: { createdAt: 'asc' },
        select: { id: true, name: true, backedUp: true, discoverable: true, createdAt: true, lastUsedAt: true },
      }),

    rename: (userId: string, id: string, name: string, by: Actor = {}): Promise<boolean> =>
      transaction(db, async (tx) => {
        const data = { name: passkeyName(name) };
        const { count } = await tx.passkey.updateMany({ where: { id, userId }, data });
        if (count === 0) return false;
        await audit.record({ ...by, type: 'passkey.renamed', outcome: 'success', subjectId: userId, data }, tx);
        return true;
      }),

    remove: (userId: string, id: string, by: Actor = {}): Promise<boolean> =>
      transaction(db, async (tx) => {
        const { count } = await tx.passkey.deleteMany({ where: { id, userId } });
        if (count === 0) return false;
        await audit.record({ ...by, type: 'passkey.removed', outcome: 'success', subjectId: userId }, tx);
        return true;
      }),

    async removeAll(userId: string, by: Actor = {}, outer?: Tx): Promise<number> {
      const work = async (tx: Tx) => {
        const { count } = await tx.passkey.deleteMany({ where: { userId } });
        if (count > 0) {
          const data = { count };
          await audit.record({ ...by, type: 'passkey.removed', outcome: 'success', subjectId: userId, data }, tx);
        }
        return count;
      };
      return outer ? work(outer) : transaction(db, work);
    },

    count: (userId: string, tx: Tx = db): Promise<number> => tx.passkey.count({ where: { userId } }),
  };
}
