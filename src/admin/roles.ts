// What administrators do with roles: what the file declares stays the file's, and a change says which version it is made to.
import type { By } from '../audit/audit.ts';
import { forbidden } from '../http/errors.ts';
import type { DatabaseKind } from '../platform/database-url.ts';
import { type Db, type Tx, transaction } from '../platform/db.ts';
import { lockRow } from '../platform/lock.ts';
import type { NewRole, Role, Roles } from '../rbac/roles.ts';
import { assertVersion, type Expected } from './versions.ts';

export interface RoleAdmin {
  list(): Promise<Role[]>;
  get(id: string): Promise<Role>;
  create(role: Omit<NewRole, 'source'>, by: By): Promise<Role>;
  update(id: string, changes: Partial<Omit<NewRole, 'source'>>, by: By, expected?: Expected): Promise<Role>;
  remove(id: string, by: By, expected?: Expected): Promise<void>;
  /** Every permission that some role has, with those roles. */
  permissions(): Promise<{ permission: string; roles: string[] }[]>;
}

export function createRoleAdmin({ db, kind, roles }: { db: Db; kind: DatabaseKind; roles: Roles }): RoleAdmin {
  async function changeable(id: string, expected: Expected, tx: Tx): Promise<Role> {
    await lockRow(tx, kind, 'roles', id);
    const role = await roles.get(id, tx);
    assertVersion(expected, role);
    if (role.source === 'file') throw forbidden('owned_by_file');
    return role;
  }

  return {
    list: () => roles.list(),
    get: (id) => roles.get(id),
    create: (role, by) => roles.create(role, by),

    update: (id, changes, by, expected = 'any') =>
      transaction(db, async (tx) => roles.update((await changeable(id, expected, tx)).name, changes, by, tx)),

    remove: (id, by, expected = 'any') =>
      transaction(db, async (tx) => roles.remove((await changeable(id, expected, tx)).name, by, tx)),

    async permissions() {
      const all = await roles.list();
      const names = [...new Set(all.flatMap(({ permissions }) => permissions))].sort();
      return names.map((permission) => ({
        permission,
        roles: all.filter(({ permissions }) => permissions.includes(permission)).map(({ name }) => name),
      }));
    },
  };
}
