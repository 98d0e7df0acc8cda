// The permissions and roles that an actor or a user has now.
import type { Accounts } from '../accounts/accounts.ts';
import type { Actor } from '../audit/audit.ts';
import type { Tx } from '../storage/database.ts';
import { ADMIN_ROLE, EVERYTHING } from './built-in.ts';
import type { Rights } from './rights.ts';

export type ActorRights = ReturnType<typeof createActorRights>;

export function createActorRights({ accounts }: { accounts: Accounts }) {
  const rightsOfUser: (
    userId: string,
    options?: { includeDisabled?: boolean },
    tx?: Tx,
  ) => Promise<'everything' | string[]> = async (userId, { includeDisabled = false } = {}, tx) => {
    const account = await accounts.find(userId, tx);
    if (!account || !(account.isActive || includeDisabled)) return [];
    // Administrators have every permission, also those of applications that none of their roles lists.
    return account.roles.includes(ADMIN_ROLE) ? EVERYTHING : [...account.permissions];
  };

  return {
    /** Every permission of a user; none for a disabled account, unless `includeDisabled`. */
    rightsOfUser,

    async rightsOfActor({ actorId, grantedRights }: Actor, tx?: Tx): Promise<Rights> {
      if (grantedRights) return grantedRights;
      // No actor: the command line, the configuration file, or the server itself.
      return actorId === undefined ? 'everything' : rightsOfUser(actorId, {}, tx);
    },

    async rolesOfUser(userId: string, tx?: Tx): Promise<readonly string[]> {
      return (await accounts.find(userId, tx))?.roles ?? [];
    },

    /** The actor's own roles; none for a disabled account, or an application that acts without a user. */
    async rolesOfActor({ actorId }: Actor, tx?: Tx): Promise<readonly string[]> {
      const account = actorId === undefined ? undefined : await accounts.find(actorId, tx);
      return account?.isActive ? account.roles : [];
    },
  };
}
