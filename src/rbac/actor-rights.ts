// The permissions and roles that an actor, or the user of a change, has at this moment.
import type { Accounts } from '../accounts/accounts.ts';
import type { Actor } from '../audit/audit.ts';
import type { Tx } from '../storage/database.ts';
import { ADMIN_ROLE, EVERYTHING } from './built-in.ts';
import type { Rights } from './rights.ts';

export interface ActorRights {
  rightsOfActor(by: Actor, tx?: Tx): Promise<Rights>;
  /** Every permission of a user; none for a disabled account. */
  rightsOf(userId: string, tx?: Tx): Promise<'everything' | string[]>;
  permissionsOf(userId: string, options: { evenDisabled?: boolean }, tx?: Tx): Promise<'everything' | string[]>;
  rolesOf(userId: string, tx?: Tx): Promise<readonly string[]>;
  /** The actor's own roles; none for a disabled account, or an application that acts without a user. */
  ownRolesOf(by: Actor, tx?: Tx): Promise<readonly string[]>;
}

export function createActorRights({ accounts }: { accounts: Pick<Accounts, 'find'> }): ActorRights {
  const permissionsOf: ActorRights['permissionsOf'] = async (userId, { evenDisabled = false }, tx) => {
    const account = await accounts.find(userId, tx);
    if (!account || !(account.isActive || evenDisabled)) return [];
    // Administrators have every permission, also those of applications that none of their roles lists.
    return account.roles.includes(ADMIN_ROLE) ? EVERYTHING : [...account.permissions];
  };
  const rightsOf: ActorRights['rightsOf'] = (userId, tx) => permissionsOf(userId, {}, tx);

  return {
    permissionsOf,
    rightsOf,

    async rightsOfActor({ actorId, holds }, tx) {
      if (holds) return holds;
      // No actor: the command line, the configuration file, or the server itself.
      return actorId === undefined ? 'everything' : rightsOf(actorId, tx);
    },

    async rolesOf(userId, tx) {
      return (await accounts.find(userId, tx))?.roles ?? [];
    },

    async ownRolesOf({ actorId }, tx) {
      const account = actorId === undefined ? undefined : await accounts.find(actorId, tx);
      return account?.isActive ? account.roles : [];
    },
  };
}
