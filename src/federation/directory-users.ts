import { limits } from '../base/limits.ts';
import { transaction } from '../base/storage/database.ts';
import type { Core } from '../core/core.ts';
import type { People } from '../people/people.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';
import type { LdapConnection } from './connections/connection.ts';
import type { Connections } from './connections/connections.ts';
import { giveMapped } from './connections/role-mappings.ts';
import { FederationError } from './faults.ts';
import type { ExternalIdentities, ExternalIdentity } from './identities.ts';
import type { Directory, FoundUser } from './ldap/directory.ts';

type Linked = ExternalIdentity & { connection: LdapConnection };

const RETRY_SECONDS = 60;

export function createDirectoryUsers(
  dependencies: Core &
    People &
    SessionServices & { connections: Connections; directory: Directory; identities: ExternalIdentities },
) {
  const { connections, directory, identities, logger, now } = dependencies;

  const isDue = ({ checkedAt, lastUsedAt }: Linked) => {
    const last = Math.max(checkedAt?.getTime() ?? 0, lastUsedAt?.getTime() ?? 0);
    return last + limits.ldap.stateSeconds * 1000 <= now().getTime();
  };

  /** Whether the directory has lost the user just now. */
  async function losesUser(identity: Linked): Promise<boolean> {
    const at = now();
    if (!isDue(identity) || !(await identities.takeCheck(identity, at))) return false;
    const { connection, subject } = identity;
    let found: FoundUser | undefined;
    try {
      found = await directory.findAgain(connection, subject);
    } catch (error) {
      if (!(error instanceof FederationError)) throw error;
      // As if the check had been so long ago that the next one is due soon.
      const again = new Date(at.getTime() - (limits.ldap.stateSeconds - RETRY_SECONDS) * 1000);
      await identities.takeCheck({ ...identity, checkedAt: at }, again);
      const detail = { connection: connection.id, message: error.reason, received: error.received };
      logger.warn({ code: error.code, detail }, 'a directory could not be asked about a user');
      return false;
    }
    return recordState(dependencies, identity, found);
  }

  return {
    /**
     * Lets the roles of the account follow its directories. False: no directory has the user any more, or not as one who may sign in. Then
     * every session has ended, and every token.
     */
    async check(accountId: string): Promise<boolean> {
      const directories = (await connections.enabled()).filter((one) => one.kind === 'ldap');
      if (directories.length === 0) return true;
      const linked = (await identities.ofUser(accountId)).flatMap((identity): Linked[] => {
        const connection = directories.find(({ id }) => id === identity.connectionId);
        return connection ? [{ ...identity, connection }] : [];
      });
      const lost: Linked[] = [];
      for (const identity of linked) if (await losesUser(identity)) lost.push(identity);
      const isLeft = linked.some((one) => one.goneSince === null && !lost.includes(one));
      if (lost.length === 0 || isLeft) return true;
      await dependencies.endSession.all(accountId, 'account-disabled');
      return false;
    },
  };
}

/** Stores what the directory says; returns whether the user is gone since now. */
async function recordState(
  services: Core & People & { connections: Connections; identities: ExternalIdentities },
  { id, userId, connection, goneSince }: Linked,
  found: FoundUser | undefined,
): Promise<boolean> {
  const { db, now, audit, connections, identities } = services;
  const reason = goneReason(found);
  const isGone = reason !== undefined;
  const mappings = await connections.mappings(connection.id);
  return transaction(db, async (tx) => {
    // Roles by group follow the directory, as at a sign-in; those of a user who is gone end.
    const { names, isComplete } = found?.identity.groups ?? { names: [], isComplete: true };
    if (isGone || isComplete)
      await giveMapped(services, { connectionId: connection.id, userId }, isGone ? [] : names, mappings, {}, tx);
    const wasGone = goneSince !== null;
    if (isGone === wasGone) return false;
    await identities.setGone(id, isGone ? now() : null, tx);
    if (!isGone) return false;
    const data = { connection: connection.id };
    await audit.record({ type: 'sign-in.upstream', outcome: 'failure', reason, subjectId: userId, data }, tx);
    return true;
  });
}

/** Anyone can lock an account for a while, and a password that has expired says nothing against its user. */
function goneReason(found: FoundUser | undefined): string | undefined {
  if (!found) return 'directory_gone';
  const { rejection } = found;
  return rejection === 'account_disabled' || rejection === 'account_expired' ? `directory_${rejection}` : undefined;
}
