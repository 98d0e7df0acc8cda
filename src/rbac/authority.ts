// What an actor may grant, take or take over: only rights that the actor has (least privilege).
import type { Actor } from '../audit/audit.ts';
import { forbidden } from '../http/errors.ts';
import type { Db, Tx } from '../storage/database.ts';
import { ADMIN_ROLE, EVERYTHING, OWN_PREFIX } from './built-in.ts';
import { createPermissions } from './permissions.ts';

export interface Authority {
  /** Throws forbidden unless the actor holds all of these permissions. */
  assertHolds(by: Actor, permissions: readonly string[], tx?: Tx): Promise<void>;
  /**
   * Throws forbidden when the account has rights in Gatehouse that the actor does not have: the actor could take them over
   * by setting its password, address or factors.
   */
  assertMayManage(by: Actor, userId: string, tx?: Tx): Promise<void>;
  /** Every permission of a user, for `By.holds`. */
  rightsOf(userId: string, tx?: Tx): Promise<'everything' | string[]>;
}

export function createAuthority({ db }: { db: Db }): Authority {
  const permissions = createPermissions({ db });
  const rightsOf: Authority['rightsOf'] = (userId, tx) => permissionsOf(userId, {}, tx);

  async function permissionsOf(userId: string, options: { evenDisabled?: boolean }, tx: Tx = db) {
    const user = { id: userId, ...(options.evenDisabled ? {} : { isActive: true }) };
    // Administrators have every permission, also those of applications that none of their roles lists.
    const isAdmin = await tx.userRole.count({ where: { user, role: { name: ADMIN_ROLE } } });
    return isAdmin > 0 ? EVERYTHING : permissions.list(userId, options, tx);
  }

  async function assertHolds(by: Actor, permissions: readonly string[], tx?: Tx): Promise<void> {
    const held = await heldBy(by, tx);
    if (held === 'everything') return;
    const missing = permissions.filter((permission) => !held.includes(permission));
    if (missing.length > 0) {
      throw forbidden('forbidden', { message: 'You cannot grant more than you may do yourself.', detail: { missing } });
    }
  }

  async function heldBy({ actorId, holds }: Actor, tx?: Tx): Promise<'everything' | readonly string[]> {
    if (holds) return holds;
    // No actor: the command line, the configuration file, or the server itself.
    return actorId === undefined ? 'everything' : rightsOf(actorId, tx);
  }

  return {
    rightsOf,
    assertHolds,

    async assertMayManage(by, userId, tx) {
      const held = await heldBy(by, tx);
      if (held === 'everything' || (by.actorId === userId && !by.holds)) return;
      // A disabled account may be enabled again, so its permissions count.
      const target = await permissionsOf(userId, { evenDisabled: true }, tx);
      const own = target === 'everything' ? target : target.filter((permission) => permission.startsWith(OWN_PREFIX));
      if (own !== 'everything' && own.every((permission) => held.includes(permission))) return;
      throw forbidden('forbidden', { message: 'This account may do more than you, so you cannot change it.' });
    },
  };
}
