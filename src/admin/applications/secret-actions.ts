// Client secrets: a new one beside the others or instead of them, and the end of one.
import { newSecretReplacesOld } from '../../applications/application.ts';
import type { Applications } from '../../applications/applications.ts';
import { limits } from '../../base/limits.ts';
import { type Db, transaction } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import type { ManageableApplications } from './manageable-applications.ts';

export interface NewSecret {
  id: string;
  /** Readable only now. */
  value: string;
}

/** `onCreated` runs in the transaction of a creation. */
export interface SecretActions {
  /** A new secret; the others stay valid for `overlapSeconds` (0: they end now). */
  addSecret(id: string, overlapSeconds: number, by: Actor, onCreated?: OnCreated<NewSecret>): Promise<NewSecret>;
  removeSecret(id: string, secretId: string, by: Actor): Promise<void>;
}

export function secretActions(
  { db, applications }: { db: Db; applications: Applications },
  manageable: ManageableApplications,
): SecretActions {
  return {
    async addSecret(id, overlapSeconds, by, onCreated = async () => {}) {
      const application = await manageable.find(id, by);
      assertFreshProof(by, 'application.add-secret', application.name);
      const replacesOldSecret = newSecretReplacesOld(application);
      const replace =
        overlapSeconds === 0 || replacesOldSecret ? 'now' : Math.min(overlapSeconds, limits.secretOverlap.maxSeconds);
      return transaction(db, async (tx) => {
        const added = await applications.addSecret(id, { replace }, { by, tx });
        await onCreated(added, tx);
        return added;
      });
    },

    async removeSecret(id, secretId, by) {
      const { name } = await manageable.find(id, by);
      assertFreshProof(by, 'application.remove-secret', name);
      await applications.removeSecret(id, secretId, { by });
    },
  };
}
