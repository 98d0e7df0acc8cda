// Looks a user up in a directory and checks the password by a bind as that user. Read only.
import { randomBytes } from 'node:crypto';
import type { Entry } from 'ldapts';
import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { LdapConnection } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';
import { FederationError } from '../faults.ts';
import type { PassedCheck, UpstreamIdentity } from '../upstream.ts';
import { isBelow } from './dn.ts';
import { createReadDomain, type DirectoryLockout, type Domain, lockoutOfUser, loginsOf } from './domain.ts';
import { directoryUnavailable, invalidAnswer, type PasswordRejection } from './errors.ts';
import { allOf, attributesOfLogin, filterWith, oneOf } from './filter.ts';
import { groupsOf } from './groups.ts';
import { claimsOf, requestedAttributes, subjectFilter, subjectOf, valuesOf } from './identity.ts';
import { createSearchBind } from './search-bind.ts';
import type { DirectorySession } from './session.ts';
import { type AccountProblem, problemOf, stateAttributes } from './state.ts';

export type DirectoryCheck =
  | { outcome: 'right'; identity: UpstreamIdentity }
  /** The password is right, and the directory rejects the sign-in. `reason` is for the audit log. */
  | { outcome: 'rejected'; rejection: PasswordRejection; reason: string }
  /** `reason` is for the audit log only. */
  | { outcome: 'wrong'; reason: string };

/** Records what the bind cost: `untried` where the directory counts no wrong password. */
export type SettleBind = (outcome: 'right' | 'wrong' | 'untried') => Promise<void>;

/** Gets the identifier of the entry before the bind; without an answer the password is not sent, and is wrong. */
export type MayBind = (subject: string, lockout: DirectoryLockout) => Promise<SettleBind | undefined>;

/** An entry, and what a sign-in with the right password would find. */
export interface FoundUser {
  identity: UpstreamIdentity;
  checks: PassedCheck[];
  problem: AccountProblem | undefined;
  /** When the directory locks the account. */
  lockout: DirectoryLockout;
}

export type Directory = ReturnType<typeof createDirectory>;

export interface DirectoryDependencies {
  connections: Connections;
  now: Clock;
}

export function createDirectory({ connections, now }: DirectoryDependencies) {
  const withSearchBind = createSearchBind({ connections, now });
  const readDomain = createReadDomain(now);

  /** The one entry of a login. Throws upstream_answer_invalid for several, and for one that is not below the base DN. */
  async function findUser(session: DirectorySession, connection: LdapConnection, login: string) {
    const { active_directory: isActiveDirectory, filter } = connection.settings;
    if (login.trim() === '') return undefined;
    const domain = isActiveDirectory ? await readDomain(session, connection) : undefined;
    const logins = domain ? loginsOf(login, domain) : [login];
    const found: (Entry | undefined)[] = [];
    // Each is searched for, whatever the first finds, so that a known login takes no less.
    for (const one of logins) found.push(await searchOne(session, connection, makeFilter(filter, one)));
    const entry = found.find((one) => one !== undefined);
    return entry && { entry, lockout: await lockoutOf(session, connection, entry, domain) };
  }

  /** The entry to bind as, or why there is none: an answer that tells more would tell which logins exist. */
  async function findForBind(
    session: DirectorySession,
    connection: LdapConnection,
    login: string,
    mayBind: MayBind,
  ): Promise<{ entry: Entry; settle: SettleBind } | { reason: string }> {
    try {
      const found = await findUser(session, connection, login);
      if (!found) return { reason: 'unknown_account' };
      const settle = await mayBind(subjectOf(found.entry, connection), found.lockout);
      return settle ? { entry: found.entry, settle } : { reason: 'too_many_tries' };
    } catch (error) {
      if (!(error instanceof FederationError) || error.code === 'upstream_unavailable') throw error;
      return { reason: error.code === 'upstream_no_identity' ? 'directory_no_identifier' : 'directory_answer_invalid' };
    }
  }

  async function described(
    session: DirectorySession,
    connection: LdapConnection,
    { entry, lockout }: { entry: Entry; lockout: DirectoryLockout },
  ): Promise<FoundUser> {
    const { settings } = connection;
    const identity = await identityOf(session, connection, entry, undefined);
    const problem = problemOf(entry, settings, now());
    const checks = [
      { name: 'Account that searches', expected: 'a bind', received: settings.bind_dn ?? 'anonymous' },
      { name: 'Entry', expected: `one, below ${settings.base_dn}`, received: entry.dn },
      { name: 'Identifier', expected: `one ${settings.subject_attribute}`, received: identity.subject },
    ];
    return { identity, checks, problem, lockout };
  }

  return {
    /** Checks the password of a login. Throws upstream_unavailable. */
    async checkPassword(
      connection: LdapConnection,
      { login, password }: { login: string; password: string },
      mayBind: MayBind,
    ): Promise<DirectoryCheck> {
      const fault = passwordFault(password);
      if (fault) return { outcome: 'wrong', reason: fault };
      return withSearchBind(connection, async (session, rebind) => {
        const found = await findForBind(session, connection, login, mayBind);
        if ('reason' in found) {
          await bindWithRandomDn(session, connection);
          return { outcome: 'wrong', reason: found.reason };
        }
        const { entry, settle } = found;
        const rejection = await session.bindAsUser(entry.dn, password).catch(async (error: unknown) => {
          // The directory may have judged the password before the connection broke.
          await settle('wrong');
          throw error;
        });
        await settle(rejection === undefined ? 'right' : rejection.rejection ? 'untried' : 'wrong');
        if (rejection?.rejection)
          return { outcome: 'rejected', rejection: rejection.rejection, reason: rejection.reason };
        if (rejection) return { outcome: 'wrong', reason: rejection.reason };
        if (connection.settings.groups) await rebind();
        return { outcome: 'right', identity: await identityOf(session, connection, entry, now()) };
      });
    },

    /** Takes as long as checkPassword, for a login that belongs to no directory: a search without a hit, and a bind that fails. */
    async imitateCheck(connection: LdapConnection, login: string): Promise<void> {
      await withSearchBind(connection, async (session) => {
        await findUser(session, connection, randomLoginLike(login));
        await bindWithRandomDn(session, connection);
      });
    },

    /**
     * The identity of a login without its password, for "Try it"; undefined: no such user. An administrator asks, so a password of the
     * account that searches is tried again that the directory has rejected.
     */
    lookUp: (connection: LdapConnection, login: string): Promise<FoundUser | undefined> =>
      withSearchBind(
        connection,
        async (session) => {
          const found = await findUser(session, connection, login);
          return found && described(session, connection, found);
        },
        { triesRejected: true },
      ),

    /** The same of a known user. Undefined: there is no such entry any more, or the filter of the connection leaves it out. */
    findAgain: (connection: LdapConnection, subject: string): Promise<FoundUser | undefined> =>
      withSearchBind(connection, async (session) => {
        const entry = await searchOne(session, connection, subjectFilter(subject, connection));
        if (!entry) return undefined;
        const { filter } = connection.settings;
        const logins = attributesOfLogin(filter).flatMap((name) => valuesOf(entry, name));
        const asLogins = logins.flatMap((one) => (typeof one === 'string' ? [makeFilter(filter, one)] : []));
        if (asLogins.length === 0) return undefined;
        const stillFound = await searchOne(
          session,
          connection,
          allOf(subjectFilter(subject, connection), oneOf(...asLogins)),
        );
        if (!stillFound) return undefined;
        const { active_directory: isActiveDirectory } = connection.settings;
        const domain = isActiveDirectory ? await readDomain(session, connection) : undefined;
        const lockout = await lockoutOf(session, connection, stillFound, domain);
        return described(session, connection, { entry: stillFound, lockout });
      }),

    /** Connects and binds as the account that searches, reads the base DN and tries the filter, for doctor. */
    async probe(connection: LdapConnection): Promise<void> {
      await withSearchBind(connection, async (session) => {
        await session.search({
          base: connection.settings.base_dn,
          scope: 'base',
          filter: filterWith('(objectClass=*)', 'dn', ''),
          attributes: ['1.1'],
          max: 1,
        });
        await findUser(session, connection, randomLoginLike(''));
      });
    },
  };
}

/** Passwords that are never sent: an empty one binds anonymously, and some directories end a password at a NUL. */
function passwordFault(password: string): string | undefined {
  if (password === '') return 'empty_password';
  return password.includes('\0') ? 'wrong_password' : undefined;
}

async function searchOne(
  session: DirectorySession,
  connection: LdapConnection,
  filter: ReturnType<typeof filterWith>,
): Promise<Entry | undefined> {
  const { settings } = connection;
  const { attributes, binary } = requestedAttributes(connection);
  const { entries, isCut } = await session.search({
    base: settings.base_dn,
    scope: 'sub',
    filter,
    max: 2,
    attributes: [...new Set([...attributes, ...stateAttributes(settings)])],
    binary,
  });
  const [entry, second] = entries;
  if (isCut || second) throw invalidAnswer('Several entries have this login.', 'one entry', 'several');
  if (!entry) return undefined;
  if (!isBelow(entry.dn, settings.base_dn))
    throw invalidAnswer(
      'The directory returned an entry outside of the base DN.',
      `below ${settings.base_dn}`,
      entry.dn,
    );
  return entry;
}

/** As the connection states it, or as the domain does; otherwise a strict one. */
async function lockoutOf(
  session: DirectorySession,
  { settings }: LdapConnection,
  entry: Entry,
  domain: Domain | undefined,
): Promise<DirectoryLockout> {
  const { lockout: usual, noLockout } = limits.ldap;
  const { lockout_threshold: threshold, lockout_window_minutes: minutes } = settings;
  const ofUser = domain && threshold === undefined ? await lockoutOfUser(session, entry) : undefined;
  const read = ofUser === 'unreadable' ? undefined : (ofUser ?? domain?.lockout);
  const lockout = {
    threshold: threshold ?? read?.threshold ?? usual.threshold,
    windowSeconds: minutes === undefined ? (read?.windowSeconds ?? usual.windowSeconds) : minutes * 60,
  };
  return lockout.threshold === 0 ? noLockout : lockout;
}

function makeFilter(template: string, login: string) {
  try {
    return filterWith(template, 'username', login);
  } catch (error) {
    throw directoryUnavailable('the filter of the connection', error);
  }
}

/** A login that nobody has; with the domain of the typed one, so that it is searched for as often. */
function randomLoginLike(login: string): string {
  const random = randomBytes(12).toString('hex');
  const [, domain] = /^([^\\]+\\)[^\\]+$/.exec(login.trim()) ?? [];
  if (domain !== undefined) return `${domain}${random}`;
  const at = login.lastIndexOf('@');
  return at > 0 ? `${random}${login.slice(at)}` : random;
}

/** Takes as long as a wrong password, as far as the directory does. The typed password is not sent. */
async function bindWithRandomDn(session: DirectorySession, { settings }: LdapConnection): Promise<void> {
  const random = randomBytes(12).toString('hex');
  await session.bindAsUser(`cn=${random},${settings.base_dn}`, random);
}

async function identityOf(
  session: DirectorySession,
  connection: LdapConnection,
  entry: Entry,
  authTime: Date | undefined,
): Promise<UpstreamIdentity> {
  return {
    subject: subjectOf(entry, connection),
    claims: claimsOf(entry, connection),
    groups: await groupsOf(session, connection, entry),
    acr: undefined,
    amr: ['pwd'],
    authTime,
    session: undefined,
  };
}
