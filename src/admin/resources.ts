// What administrators do with APIs: a change says which version it is made to.
import type { Resource, Resources } from '../applications/resources.ts';
import type { By } from '../audit/audit.ts';
import type { DatabaseKind } from '../platform/database-url.ts';
import { type Db, type Tx, transaction } from '../platform/db.ts';
import { lockRow } from '../platform/lock.ts';
import { assertVersion, type Expected } from './versions.ts';

export interface ResourceAdmin extends Pick<Resources, 'list' | 'get' | 'create'> {
  update(
    identifier: string,
    changes: Partial<Pick<Resource, 'scopes' | 'signingAlg'>>,
    by: By,
    expected?: Expected,
  ): Promise<Resource>;
  remove(identifier: string, by: By, expected?: Expected): Promise<void>;
}

export function createResourceAdmin(needs: { db: Db; kind: DatabaseKind; resources: Resources }): ResourceAdmin {
  const { db, kind, resources } = needs;

  async function assertExpected(identifier: string, expected: Expected, tx: Tx): Promise<void> {
    await lockRow(tx, kind, 'resources', identifier);
    assertVersion(expected, await resources.get(identifier, tx));
  }

  return {
    list: resources.list,
    get: resources.get,
    create: resources.create,

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
