// `sso_id` of a user together with its connection: the identity that the account came from, or one that an administrator, an import or
// the configuration file declares. It is an external identity like one that the user connected, so a sign-in finds it by its subject.

import { forbidden, invalidInput } from '../base/http/errors.ts';
import type { Tx } from '../base/storage/database.ts';
import { fault } from '../base/texts/faults.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Account } from '../people/accounts/account.ts';
import { rolesConferred } from '../people/groups/rights.ts';
import type { People } from '../people/people.ts';
import { falseIfForbidden } from '../people/rbac/authority.ts';
import { findRole } from '../people/rbac/role.ts';
import type { Connections } from './connections/connections.ts';
import { giveMapped } from './connections/role-mappings.ts';
import type { ExternalIdentities } from './identities.ts';

export interface SsoIdChange {
  /** The `sso_id` before the change of the account. */
  before: string | null;
  /** Undefined: the connection stays; null: the identity is disconnected. */
  connectionId: string | null | undefined;
}

export function createSsoIds(services: People & { connections: Connections; identities: ExternalIdentities }) {
  const { authority, connections, identities } = services;
  async function assertMayConnect(connectionId: string, by: Actor, tx: Tx): Promise<void> {
    const { roleMappings, groupMappings } = await connections.mappings(connectionId, tx);
    const byGroups = await rolesConferred([...new Set(groupMappings.map(({ id }) => id))], tx);
    for (const name of new Set([...roleMappings, ...byGroups].map((role) => role.name))) {
      const role = (await findRole(name, tx)) ?? { name, permissions: [] };
      const isAllowed = await authority.assertMay(by, { what: 'role', role }, tx).then(() => true, falseIfForbidden);
      if (isAllowed) continue;
      const message = `Only someone who has or manages the roles of the groups at the connection ${connectionId} can do this.`;
      throw forbidden('forbidden', { message, detail: { role: name } });
    }
  }

  /** Takes from the account what the connection gave. */
  const leave = (userId: string, connectionId: string, by: Actor, tx: Tx) =>
    giveMapped(services, { connectionId, userId }, [], { roleMappings: [], groupMappings: [] }, by, tx);

  async function connectionsOf(
    accounts: readonly { id: string; ssoId: string | null }[],
    tx?: Tx,
  ): Promise<Map<string, string>> {
    const subjects = new Map(accounts.flatMap(({ id, ssoId }) => (ssoId === null ? [] : [[id, ssoId]])));
    const identitiesOfUsers = subjects.size === 0 ? [] : await identities.ofUsers([...subjects.keys()], tx);
    const found = new Map<string, string>();
    for (const { userId, subject, connectionId } of identitiesOfUsers) {
      const isOfSsoId = subjects.get(userId) === subject;
      // The first linked identity counts.
      if (isOfSsoId && !found.has(userId)) found.set(userId, connectionId);
    }
    return found;
  }

  return {
    /**
     * Throws forbidden unless the actor may give every role that the groups of this connection give: the account gets them at the next
     * sign-in with its subject, and its password may be known to the actor.
     */
    assertMayConnect,

    /** The connections at which the accounts' `sso_id`s are their subjects, by the ids of the accounts that have one. */
    connectionsOf,
    /** The same for one account. */
    connectionOf: async (account: Account, tx?: Tx): Promise<string | null> =>
      (await connectionsOf([account], tx)).get(account.id) ?? null,

    /**
     * Connects the account, which has its new `sso_id` already. Returns whether a link changed. Throws invalid_input (400) for an unknown
     * connection, or one without an `sso_id`, forbidden (403) as assertMayConnect, and identity_taken (409) when another user has the subject.
     */
    async set(account: Account, { before, connectionId }: SsoIdChange, by: Actor, tx: Tx): Promise<boolean> {
      const { id, ssoId: subject } = account;
      const identitiesOfUser = await identities.ofUser(id, tx);
      const old = before === null ? undefined : identitiesOfUser.find((one) => one.subject === before);
      if (subject === null && connectionId) throw invalidInput([fault(['ssoConnection'], 'needs-sso-id')]);
      const wanted = connectionId === undefined ? old?.connectionId : connectionId;
      // Undefined: the account is to have no connection.
      const next = subject !== null && wanted != null ? { connectionId: wanted, subject } : undefined;
      if (next && !(await connections.find(next.connectionId, tx)))
        throw invalidInput([fault(['ssoConnection'], 'no-connection', { id: next.connectionId })]);
      const isNext = (one: { connectionId: string; subject: string }) =>
        one.connectionId === next?.connectionId && one.subject === next.subject;
      const isUnchanged = old ? isNext(old) : next === undefined;
      if (isUnchanged) return false;
      if (old) {
        await identities.unlink(id, old.id, by, tx);
        const left = identitiesOfUser.filter((one) => one.id !== old.id);
        const staysConnected = [...left, next].some((one) => one?.connectionId === old.connectionId);
        if (!staysConnected) await leave(id, old.connectionId, by, tx);
      }
      if (next && !identitiesOfUser.some(isNext)) {
        await assertMayConnect(next.connectionId, by, tx);
        const label = account.email ?? account.username;
        await identities.link({ ...next, userId: id, label }, by, tx);
      }
      return true;
    },
  };
}

// The enabled connections of a user's identities: where the user signs in besides this server, and which of them check a password.

interface OtherSignIn {
  connectionId: string;
  name: string;
  /** A directory: the user types its password on the pages of this server. */
  isDirectory: boolean;
}

/** That of the account's `sso_id` first, then directories. */
type OtherSignIns = (account: Account) => Promise<OtherSignIn[]>;

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
