// The secrets of a connection: client secrets, keys and bind passwords.
import type { Actor } from '../../audit/audit.ts';
import type { Connections } from '../../connections/connections.ts';
import type { DeclaredSecret } from '../../connections/kinds/fields.ts';
import { type SecretPurpose, secretPurposesOf } from '../../connections/schema.ts';
import type { SecretInfo } from '../../connections/secrets.ts';
import { badRequest } from '../../http/errors.ts';
import { type Db, transaction } from '../../storage/database.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import type { ManageableConnections } from './manageable-connections.ts';

export interface SecretActions {
  /** `onCreated` runs in the transaction. */
  addSecret(
    id: string,
    purpose: SecretPurpose,
    secret: DeclaredSecret,
    by: Actor,
    onCreated?: OnCreated<SecretInfo>,
  ): Promise<SecretInfo>;
  removeSecret(id: string, secretId: string, by: Actor): Promise<void>;
}

export function secretActions(
  { db, connections }: { db: Db; connections: Connections },
  { assertMayChange }: ManageableConnections,
): SecretActions {
  return {
    async addSecret(id, purpose, secret, by, onCreated = async () => {}) {
      await assertMayChange(by);
      return transaction(db, async (tx) => {
        const { name, kind } = await connections.get(id, tx);
        if (!secretPurposesOf(kind).includes(purpose))
          throw badRequest('invalid_input', { fields: [{ field: 'purpose', message: `is none of kind ${kind}` }] });
        assertFreshProof(by, 'connection.add-secret', name);
        const added = await connections.addSecret(id, purpose, secret, { by, tx });
        await onCreated(added, tx);
        return added;
      });
    },

    async removeSecret(id, secretId, by) {
      await assertMayChange(by);
      await transaction(db, async (tx) => {
        const { name } = await connections.get(id, tx);
        assertFreshProof(by, 'connection.remove-secret', name);
        await connections.removeSecret(id, secretId, { by, tx });
      });
    },
  };
}
