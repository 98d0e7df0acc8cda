// Changes of APIs (resource servers): each names the version that it is made for, and the row is locked meanwhile.
import type { Resource, Resources } from '../../applications/resources.ts';
import type { Actor } from '../../audit/audit.ts';
import { type Db, type Tx, transaction } from '../../storage/database.ts';
import { lockRow } from '../../storage/row-lock.ts';
import type { Sql } from '../../storage/statements.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { assertVersion, type Expected } from '../api/versions.ts';

export interface ResourceAdmin extends Pick<Resources, 'list' | 'get'> {
  /** `onCreated` runs in the transaction. */
  create(resource: Omit<Resource, 'source'>, by: Actor, onCreated?: OnCreated<Resource>): Promise<Resource>;
  update(
    identifier: string,
    changes: Partial<Pick<Resource, 'scopes' | 'scopePermissions' | 'signingAlg'>>,
    by: Actor,
    expected?: Expected,
  ): Promise<Resource>;
  remove(identifier: string, by: Actor, expected?: Expected): Promise<void>;
}

/** Changes throw precondition_failed for another version, and not_found. */
export function createResourceAdmin(dependencies: { db: Db; sql: Sql; resources: Resources }): ResourceAdmin {
  const { db, sql, resources } = dependencies;

  async function assertExpected(identifier: string, expected: Expected, tx: Tx): Promise<void> {
    await lockRow(tx, sql, 'resources', identifier);
    assertVersion(expected, await resources.get(identifier, tx));
  }

  return {
    list: resources.list,
    get: resources.get,

    create: (resource, by, onCreated = async () => {}) =>
      transaction(db, async (tx) => {
        const made = await resources.create(resource, by, tx);
        await onCreated(made, tx);
        return made;
      }),

    update: (identifier, changes, by, expected = 'any') =>
      transaction(db, async (tx) => {
        await assertExpected(identifier, expected, tx);
        return resources.update(identifier, changes, by, tx);
      }),

    remove: (identifier, by, expected = 'any') =>
      transaction(db, async (tx) => {
        await assertExpected(identifier, expected, tx);
        await resources.remove(identifier, by, tx);
      }),
  };
}
