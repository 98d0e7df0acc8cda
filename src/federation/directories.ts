// Implements what the password form uses (sign-in/first-factor/upstream.ts): which directories a login may belong to, the check there under
// limits of its own, and the account of the confirmed user.

import { acceptsSignIn } from '../applications/rules/sign-in-rule.ts';
import type { Base } from '../base/base.ts';
import { limits } from '../base/limits.ts';
import { transaction } from '../base/storage/database.ts';
import { t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import type { Account } from '../people/accounts/account.ts';
import type { People } from '../people/people.ts';
import type { SessionServices } from '../protocols/session-services.ts';
import type { DirectoryAttempt, DirectoryResult, DirectorySignIns } from '../sign-in/first-factor/upstream.ts';
import { domainOf, mappedRoles } from './accounts/mapping.ts';
import type { Resolver } from './accounts/resolve.ts';
import { statedAuthTime } from './assurance.ts';
import type { LdapConnection } from './connections/connection.ts';
import type { Connections } from './connections/connections.ts';
import { FederationError } from './faults.ts';
import type { ExternalIdentities, ExternalIdentity } from './identities.ts';
import type { Directory, DirectoryCheck, FoundUser } from './ldap/directory.ts';
import type { RejectedSignIns } from './rejected-sign-ins.ts';
import type { UpstreamRequests } from './requests.ts';
import type { UpstreamIdentity } from './upstream.ts';
import type { UpstreamSignIn } from './upstream-sign-in.ts';

export interface DirectoriesDependencies {
  connections: Connections;
  directory: Directory;
  identities: ExternalIdentities;
  rejected: RejectedSignIns;
  requests: Pick<UpstreamRequests, 'storeIdentityWithoutRequest'>;
  resolver: Resolver;
  upstreamSignIn: UpstreamSignIn;
}

export function createDirectories(dependencies: Base & People & DirectoriesDependencies): DirectorySignIns {
  const { now, accounts, connections, directory, rejected, requests, resolver } = dependencies;
  return {
    async check(attempt) {
      const enabled = (await connections.enabled()).filter((one) => one.kind === 'ldap');
      if (enabled.length === 0) return { outcome: 'wrong' };
      const mine = attempt.isLocked ? [] : await directoriesOf(dependencies, enabled, attempt);
      let result: DirectoryResult = { outcome: 'wrong' };
      // One after the other: a password is not tried where it need not be.
      for (const connection of enabled) {
        if (!mine.includes(connection)) {
          // A login of no directory takes as long as one of a directory. A directory that is down is ignored here.
          await directory.imitateCheck(connection, attempt.login).catch(() => {});
          continue;
        }
        const one = await checkAt(dependencies, connection, attempt);
        if (one.outcome === 'right' || one.outcome === 'rejected') return one;
        if (result.outcome !== 'unavailable') result = one;
      }
      return result;
    },

    finish: ({ connectionId, identity: confirmed }, { uid, rule, invitedId, request }) =>
      rejected.withErrorPage(
        request,
        async () => ({
          connectionId,
          connectionName: (await connections.find(connectionId))?.name,
          next: { href: `/signin/${uid}`, label: t('sign-in.another-way') },
        }),
        async () => {
          const connection = await dependencies.upstreamSignIn.usable(connectionId, rule);
          const identity = confirmed as UpstreamIdentity;
          const resolution = await resolver.resolve(connection, identity, { request, invitedId });
          const proven = {
            requestId: await requests.storeIdentityWithoutRequest(identity, { connectionId, boundTo: uid }),
            connectionId,
            connectionName: connection.name,
            // The password was typed here, and now.
            amr: ['pwd'],
            authTime: statedAuthTime(identity.authTime, now()),
            needsOwnFactor: false,
          };
          if (resolution.outcome === 'prove')
            return { proven: { ...proven, linkTo: resolution.accountId }, userId: undefined };
          const current = (await accounts.find(resolution.account.id)) ?? resolution.account;
          return { proven, userId: current.id };
        },
      ),
  };
}

/** The directories that may get the password of this login. A user with a password here is not looked up in the others. */
async function directoriesOf(
  { connections, identities }: { connections: Connections; identities: ExternalIdentities },
  enabled: readonly LdapConnection[],
  { login, account, hasPassword, rule }: DirectoryAttempt,
): Promise<LdapConnection[]> {
  const linked = await linkedTo(identities, account);
  const domain = domainOf(login);
  const ofDomain = domain === '' ? undefined : await connections.forDomain(domain);
  const isFree = !hasPassword && ofDomain === undefined;
  return enabled.filter(
    ({ id, settings }) =>
      acceptsSignIn(rule, id) && (linked.includes(id) || id === ofDomain?.id || (isFree && !settings.link_only)),
  );
}

async function linkedTo(identities: ExternalIdentities, account: Account | undefined): Promise<string[]> {
  // Read for unknown logins too, so that a known one takes no longer.
  const found = await identities.ofUser(account?.id ?? 'none');
  return found.map(({ connectionId }) => connectionId);
}

async function checkAt(
  {
    directory,
    directoryBudget,
    identities,
    logger,
    rejected,
  }: Base & People & { directory: Directory; identities: ExternalIdentities; rejected: RejectedSignIns },
  connection: LdapConnection,
  { login, password, isKnownBrowserOf, request }: DirectoryAttempt,
): Promise<DirectoryResult> {
  const { id: connectionId, name, settings } = connection;
  let checked: DirectoryCheck;
  try {
    checked = await directory.checkPassword(connection, { login, password }, async (subject, lockout) => {
      // By the entry, because a login such as CORP\name is none of the account.
      const linked = await identities.find(connectionId, subject);
      const isKnown = await isKnownBrowserOf(linked?.userId ?? 'none');
      return directoryBudget.begin({ key: `${connectionId} ${subject}`, ...lockout }, isKnown);
    });
  } catch (error) {
    if (!(error instanceof FederationError)) throw error;
    const { message, received } = error;
    const detail = { connection: connectionId, message, received };
    logger.error({ requestId: request.requestId, code: error.code, detail }, 'a directory could not check a password');
    await rejected.record(request, connectionId, error);
    return { outcome: 'unavailable', name, retryAfterSeconds: limits.ldap.retrySeconds };
  }
  if (checked.outcome === 'right') return { outcome: 'right', user: { connectionId, identity: checked.identity } };
  if (checked.outcome === 'wrong') return { ...checked, connectionId };
  return { ...checked, connectionId, name, passwordUrl: settings.password_url };
}

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
      const again = new Date(at.getTime() - (limits.ldap.stateSeconds - RETRY_SECONDS) * 1000);
      await identities.takeCheck({ id: identity.id, checkedAt: at }, again);
      const detail = { connection: connection.id, message: error.message, received: error.received };
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
  {
    db,
    now,
    audit,
    connections,
    identities,
    setConnectionRoles,
  }: Core & People & { connections: Connections; identities: ExternalIdentities },
  { id, userId, connection, goneSince }: Linked,
  found: FoundUser | undefined,
): Promise<boolean> {
  const reason = goneReason(found);
  const mappings = await connections.roleMappings(connection.id);
  return transaction(db, async (tx) => {
    // Roles by group follow the directory, as at a sign-in; those of a user who is gone end.
    const { names, isComplete } = found?.identity.groups ?? { names: [], isComplete: true };
    const roleIds = reason === undefined ? mappedRoles(names, mappings) : [];
    if (reason !== undefined || isComplete)
      await setConnectionRoles(userId, { connectionId: connection.id, roleIds }, {}, tx);
    if ((reason === undefined) === (goneSince === null)) return false;
    await identities.setGone(id, reason === undefined ? null : now(), tx);
    if (reason === undefined) return false;
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
