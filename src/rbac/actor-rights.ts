// The permissions and roles that an actor or a user has now.
import type { Accounts } from '../accounts/accounts.ts';
import type { Actor } from '../audit/audit.ts';
import type { Tx } from '../storage/database.ts';
import { ADMIN_ROLE, EVERYTHING } from './built-in.ts';
import type { Rights } from './rights.ts';

export interface ActorRights {
  rightsOfActor(by: Actor, tx?: Tx): Promise<Rights>;
  /** Every permission of a user; none for a disabled account, unless `includeDisabled`. */
  rightsOfUser(userId: string, options?: { includeDisabled?: boolean }, tx?: Tx): Promise<'everything' | string[]>;
  rolesOfUser(userId: string, tx?: Tx): Promise<readonly string[]>;
  /** The actor's own roles; none for a disabled account, or an application that acts without a user. */
  rolesOfActor(by: Actor, tx?: Tx): Promise<readonly string[]>;
}

export function createActorRights({ accounts }: { accounts: Pick<Accounts, 'find'> }): ActorRights {
  const rightsOfUser: ActorRights['rightsOfUser'] = async (userId, { includeDisabled = false } = {}, tx) => {
    const account = await accounts.find(userId, tx);
    if (!account || !(account.isActive || includeDisabled)) return [];
    // Administrators have every permission, also those of applications that none of their roles lists.
    return account.roles.includes(ADMIN_ROLE) ? EVERYTHING : [...account.permissions];
  };

  return {
    rightsOfUser,

    async rightsOfActor({ actorId, grantedRights }, tx) {
      if (grantedRights) return grantedRights;
      // No actor: the command line, the configuration file, or the server itself.
      return actorId === undefined ? 'everything' : rightsOfUser(actorId, {}, tx);
    },

    async rolesOfUser(userId, tx) {
      return (await accounts.find(userId, tx))?.roles ?? [];
    },

    async rolesOfActor({ actorId }, tx) {
      const account = actorId === undefined ? undefined : await accounts.find(actorId, tx);
      return account?.isActive ? account.roles : [];
    },
  };
}
