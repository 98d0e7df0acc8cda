// The enabled connections of a user's identities: where the user signs in besides this server, and which of them check a password.
import type { Account } from '../people/accounts/account.ts';
import type { Connections } from './connections/connections.ts';
import type { ExternalIdentities } from './identities.ts';

export interface OtherSignIn {
  connectionId: string;
  name: string;
  /** A directory: the user types its password on the pages of this server. */
  isDirectory: boolean;
}

/** That of the account's `sso_id` first, then directories. */
export type OtherSignIns = (account: Pick<Account, 'id' | 'ssoId'>) => Promise<OtherSignIn[]>;

export function createOtherSignIns({
  connections,
  identities,
}: {
  connections: Connections;
  identities: ExternalIdentities;
}): OtherSignIns {
  return async ({ id: userId, ssoId }) => {
    const own = await identities.ofUser(userId);
    const linked = new Set(own.map(({ connectionId }) => connectionId));
    const first = own.find(({ subject }) => subject === ssoId)?.connectionId;
    const rank = ({ connectionId, isDirectory }: OtherSignIn) => (connectionId === first ? 0 : isDirectory ? 1 : 2);
    return (await connections.enabled())
      .filter(({ id }) => linked.has(id))
      .map(({ id, name, kind }) => ({ connectionId: id, name, isDirectory: kind === 'ldap' }))
      .sort((a, b) => rank(a) - rank(b));
  };
}
