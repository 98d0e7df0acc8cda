// Changes of APIs (resource servers): each names the version that it is made for, and the row is locked meanwhile. A scope that
// is tied to a permission is meant for its holders, so only an actor who has the permission ties and unties it.
import type { Resource, Resources } from '../../applications/resources.ts';
import { type Db, type Tx, transaction } from '../../base/storage/database.ts';
import { lockRow } from '../../base/storage/row-lock.ts';
import type { Sql } from '../../base/storage/statements.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Authority } from '../../people/rbac/authority.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { assertVersion, type Expected } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';

/** Scope -> permission. */
type Ties = Readonly<Record<string, string>>;

export type ResourceAdmin = ReturnType<typeof createResourceAdmin>;

export interface ResourceAdminDependencies {
  db: Db;
  sql: Sql;
  resources: Resources;
  authority: Authority;
}

/** Changes throw StepUpNeeded, forbidden, precondition_failed for another version, and not_found. */
export function createResourceAdmin(dependencies: ResourceAdminDependencies) {
  const { db, sql, resources, authority } = dependencies;

  async function assertExpected(identifier: string, expected: Expected, tx: Tx): Promise<Resource> {
    await lockRow(tx, sql, 'resources', identifier);
    const resource = await resources.get(identifier, tx);
    assertVersion(expected, resource);
    return resource;
  }

  async function assertMayChangeScopePermissions(before: Ties, after: Ties, by: Actor, tx: Tx): Promise<void> {
    const scopes = Object.keys({ ...before, ...after }).filter((scope) => before[scope] !== after[scope]);
    const permissions = scopes.flatMap((scope) => [before[scope] ?? [], after[scope] ?? []].flat());
    await authority.assertMay(by, { what: 'permissions', permissions }, tx);
  }

  return {
    list: resources.list,
    get: resources.get,
    signingAlgs: resources.signingAlgs,

    /** `onCreated` runs in the transaction. */
    create: (
      resource: Omit<Resource, 'source'>,
      by: Actor,
      onCreated: OnCreated<Resource> = async () => {},
    ): Promise<Resource> =>
      transaction(db, async (tx) => {
        await assertMayChangeScopePermissions({}, resource.scopePermissions, by, tx);
        const made = await resources.create(resource, by, tx);
        assertFreshProof(by, 'resource.create', made.identifier);
        await onCreated(made, tx);
        return made;
      }),

    update: (
      identifier: string,
      changes: Partial<Pick<Resource, 'scopes' | 'scopePermissions' | 'signingAlg'>>,
      by: Actor,
      expected: Expected = 'any',
    ): Promise<Resource> =>
      transaction(db, async (tx) => {
        const before = (await assertExpected(identifier, expected, tx)).scopePermissions;
        await assertMayChangeScopePermissions(before, changes.scopePermissions ?? before, by, tx);
        assertFreshProof(by, 'resource.change', identifier);
        return resources.update(identifier, changes, by, tx);
      }),

    remove: (identifier: string, by: Actor, expected: Expected = 'any'): Promise<void> =>
      transaction(db, async (tx) => {
        const { scopePermissions } = await assertExpected(identifier, expected, tx);
        await assertMayChangeScopePermissions(scopePermissions, {}, by, tx);
        assertFreshProof(by, 'resource.delete', identifier);
        await resources.remove(identifier, by, tx);
      }),
  };
}
