// Roles, their permissions and the users who have them. authority.ts decides who may change them; one active administrator
// always remains.

import type { Clock } from '../../base/platform/clock.ts';
import type { Db, Tx } from '../../base/storage/database.ts';
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import type { Actor, Audit } from '../../core/audit/audit.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { assertNotLastAdmin, assignRole, directRoles, setRoles, unassignRole } from './assign-roles.ts';
import { createAuthority } from './authority.ts';
import { createRole, ensureBuiltInRoles, removeRole, updateRole } from './change-roles.ts';
import { createPermissionSets } from './permission-sets.ts';
import { findRole, listRoles, type NewRole, type Role, roleById } from './role.ts';

export type { NewRole, Role, RoleSource } from './role.ts';

export type Roles = ReturnType<typeof createRoles>;

export interface RolesDependencies {
  db: Db;
  now: Clock;
  audit: Audit;
  protectedRows: ProtectedRows;
  accounts: Accounts;
  /** Called in the transaction in which a user got or lost a role. */
  logoutOnRoleChange?(userId: string, by: Actor, tx: Tx): Promise<void>;
}

/** Every operation on roles. A change joins the transaction `tx`, or is one of its own. */
export function createRoles(dependencies: RolesDependencies) {
  const { db, accounts, logoutOnRoleChange = async () => {} } = dependencies;
  const sets = createPermissionSets();
  const { assertMay } = createAuthority({ accounts });
  const context = { ...dependencies, sets, assertMay, logoutOnRoleChange };
  return {
    list: (): Promise<Role[]> => listRoles(db),
    find: (name: string, tx: Tx = db): Promise<Role | undefined> => findRole(name, tx),
    /** By its id. Throws not_found. */
    get: (id: string, tx: Tx = db): Promise<Role> => roleById(id, tx),
    /** Throws role_name_taken (409). */
    create: (role: NewRole, by: Actor = {}, tx?: Tx): Promise<Role> => createRole(context, role, by, tx),
    update: (name: string, changes: Partial<NewRole>, by: Actor = {}, tx?: Tx): Promise<Role> =>
      updateRole(context, name, changes, by, tx),
    remove: (name: string, by: Actor = {}, tx?: Tx): Promise<void> => removeRole(context, name, by, tx),
    /** False when the user had the role. Throws forbidden unless the actor of `by` may manage the role. */
    assign: (userId: string, roleName: string, by: Actor = {}, tx?: Tx): Promise<boolean> =>
      assignRole(context, userId, roleName, by, tx),
    /** Throws last_admin (409). */
    unassign: (userId: string, roleName: string, by: Actor = {}, tx?: Tx): Promise<boolean> =>
      unassignRole(context, userId, roleName, by, tx),
    /** The names of the roles that were granted to the user, not through a group or a connection. */
    direct: directRoles,
    /** Makes these the user's roles: assigns the missing ones and unassigns the others. */
    setRoles: (userId: string, roleNames: readonly string[], by: Actor = {}, tx?: Tx): Promise<void> =>
      setRoles(context, userId, roleNames, by, tx),
    /** Throws last_admin when no other active user has the admin role; call it before disabling or deleting a user. */
    assertNotLastAdmin: (userId: string, tx: Tx): Promise<void> =>
      assertNotLastAdmin(userId, dependencies.protectedRows, tx),
    /** Creates or updates the built-in roles; run at each start. */
    ensureBuiltInRoles: (): Promise<void> => ensureBuiltInRoles(context),
  };
}
