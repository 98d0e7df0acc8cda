// What an actor may hand on (least privilege): nobody grants, takes over or takes away rights that they do not hold.
import type { By } from '../audit/audit.ts';
import { forbidden } from '../http/errors.ts';
import type { Db, Tx } from '../platform/db.ts';
import { ADMIN_ROLE, EVERYTHING, OWN_PREFIX } from './built-in.ts';
import { createPermissions } from './permissions.ts';

export interface Authority {
  /** Throws forbidden unless the actor holds all of these permissions. */
  assertHolds(by: By, permissions: readonly string[], tx?: Tx): Promise<void>;
  /**
   * Throws forbidden when the account has rights in Gatehouse that the actor has not: whoever can set its password,
   * address or factors could take them.
   */
  assertMayManage(by: By, userId: string, tx?: Tx): Promise<void>;
  /** What a person may do in Gatehouse, for `By.holds`. */
  rightsOf(userId: string, tx?: Tx): Promise<'everything' | string[]>;
}

export function createAuthority({ db }: { db: Db }): Authority {
  const permissions = createPermissions({ db });
  const rightsOf: Authority['rightsOf'] = (userId, tx) => rightsBehind(userId, {}, tx);

  async function rightsBehind(userId: string, options: { evenDisabled?: boolean }, tx: Tx = db) {
    const user = { id: userId, ...(options.evenDisabled ? {} : { isActive: true }) };
    // Administrators hold every right there is, also those of applications that no role of theirs names.
    const isAdmin = await tx.userRole.count({ where: { user, role: { name: ADMIN_ROLE } } });
    return isAdmin > 0 ? EVERYTHING : permissions.list(userId, options, tx);
  }

  async function assertHolds(by: By, permissions: readonly string[], tx?: Tx): Promise<void> {
    const held = await heldBy(by, tx);
    if (held === 'everything') return;
    const missing = permissions.filter((permission) => !held.includes(permission));
    if (missing.length > 0) {
      throw forbidden('forbidden', { message: 'You cannot grant more than you may do yourself.', detail: { missing } });
    }
  }

  async function heldBy({ actorId, holds }: By, tx?: Tx): Promise<'everything' | readonly string[]> {
    if (holds) return holds;
    // The command line, the configuration file, the server itself.
    return actorId === undefined ? 'everything' : rightsOf(actorId, tx);
  }

  return {
    rightsOf,
    assertHolds,

    async assertMayManage(by, userId, tx) {
      const held = await heldBy(by, tx);
      if (held === 'everything' || (by.actorId === userId && !by.holds)) return;
      // Also of a disabled account: it may be enabled again.
      const theirs = await rightsBehind(userId, { evenDisabled: true }, tx);
      const own = theirs === 'everything' ? theirs : theirs.filter((permission) => permission.startsWith(OWN_PREFIX));
      if (own !== 'everything' && own.every((permission) => held.includes(permission))) return;
      throw forbidden('forbidden', { message: 'This account may do more than you, so you cannot change it.' });
    },
  };
}
