// The enabled connections of a user's identities: where the user signs in besides this server, and which of them check a password.
import type { Connections } from '../connections/connections.ts';
import type { ExternalIdentities } from './identities.ts';

export interface OtherSignIn {
  /** Of the connection. */
  name: string;
  /** A directory: the user types its password on the pages of this server. */
  isDirectory: boolean;
}

/** Directories first. */
export type OtherSignIns = (userId: string) => Promise<OtherSignIn[]>;

export interface OtherSignInsDependencies {
  connections: Pick<Connections, 'enabled'>;
  identities: Pick<ExternalIdentities, 'ofUser'>;
}

export function createOtherSignIns({ connections, identities }: OtherSignInsDependencies): OtherSignIns {
  return async (userId) => {
    const linked = new Set((await identities.ofUser(userId)).map(({ connectionId }) => connectionId));
    return (await connections.enabled())
      .filter(({ id }) => linked.has(id))
      .map(({ name, kind }) => ({ name, isDirectory: kind === 'ldap' }))
      .sort((a, b) => Number(b.isDirectory) - Number(a.isDirectory));
  };
}
