// Implements what the password form uses (sign-in/first-factor/upstream.ts): which directories a login may belong to, the check there under
// limits of its own, and the account of the confirmed user.

import { acceptsSignIn } from '../applications/rules/sign-in-rule.ts';
import { limits } from '../base/limits.ts';
import { domainOf } from '../base/network/domains.ts';
import { t } from '../base/texts/text.ts';
import type { Account } from '../people/accounts/account.ts';
import type { DirectoryAttempt, DirectoryResult, DirectorySignIns } from '../sign-in/first-factor/upstream.ts';
import { statedAuthTime } from './assurance.ts';
import type { LdapConnection } from './connections/connection.ts';
import { FederationError } from './faults.ts';
import type { ExternalIdentities } from './identities.ts';
import type { DirectoryCheck } from './ldap/directory.ts';
import type { UpstreamIdentity } from './upstream.ts';
import type { UpstreamSignInServices } from './upstream-sign-in.ts';

export function createDirectories(services: UpstreamSignInServices): DirectorySignIns {
  const { now, accounts, connections, directory, rejected, upstreamRequests: requests, resolver } = services;
  return {
    async check(attempt) {
      const enabled = (await connections.enabled()).filter((one) => one.kind === 'ldap');
      if (enabled.length === 0) return { outcome: 'wrong' };
      const mine = attempt.isLocked ? [] : await directoriesOf(services, enabled, attempt);
      let result: DirectoryResult = { outcome: 'wrong' };
      // One after the other: a password is not tried where it need not be.
      for (const connection of enabled) {
        if (!mine.includes(connection)) {
          // A login of no directory takes as long as one of a directory. A directory that is down is ignored here.
          await directory.imitateCheck(connection, attempt.login).catch(() => {});
          continue;
        }
        const one = await checkAt(services, connection, attempt);
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
          const connection = await services.upstreamSignIn.usable(connectionId, rule);
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
  { connections, identities }: UpstreamSignInServices,
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
  { directory, directoryBudget, identities, logger, rejected }: UpstreamSignInServices,
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
    const { reason: message, received } = error;
    const detail = { connection: connectionId, message, received };
    logger.error({ requestId: request.requestId, code: error.code, detail }, 'a directory could not check a password');
    await rejected.record(request, connectionId, error);
    return { outcome: 'unavailable', name, retryAfterSeconds: limits.ldap.retrySeconds };
  }
  if (checked.outcome === 'right') return { outcome: 'right', user: { connectionId, identity: checked.identity } };
  if (checked.outcome === 'wrong') return { ...checked, connectionId };
  return { ...checked, connectionId, name, passwordUrl: settings.password_url };
}
