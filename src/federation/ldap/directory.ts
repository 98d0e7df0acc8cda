// Looks a user up in a directory and checks the password by a bind as that user. Read only.
import { randomBytes } from 'node:crypto';
import type { Entry } from 'ldapts';
import type { LdapConnection } from '../../connections/connection.ts';
import type { Connections } from '../../connections/connections.ts';
import type { Clock } from '../../platform/clock.ts';
import { FederationError } from '../faults.ts';
import type { PassedCheck, UpstreamIdentity } from '../upstream.ts';
import { createConcurrencyLimit } from './concurrency-limit.ts';
import { isBelow } from './dn.ts';
import { directoryUnavailable, invalidAnswer } from './errors.ts';
import { filterWith } from './filter.ts';
import { groupsOf } from './groups.ts';
import { claimsOf, requestedAttributes, subjectOf } from './identity.ts';
import { type DirectorySession, withDirectory } from './session.ts';

export type DirectoryCheck =
  | { outcome: 'right'; identity: UpstreamIdentity }
  /** `reason` is for the audit log only. */
  | { outcome: 'wrong'; reason: string };

export interface Directory {
  /**
   * Checks the password of a login. `mayBind` gets the identifier of the entry before the bind, and its answer `false` makes the
   * password wrong. Throws upstream_unavailable.
   */
  checkPassword(
    connection: LdapConnection,
    typed: { login: string; password: string },
    mayBind: (subject: string) => Promise<boolean>,
  ): Promise<DirectoryCheck>;
  /** Takes as long as checkPassword, for a login that belongs to no directory: a search without a hit, and a bind that fails. */
  imitateCheck(connection: LdapConnection): Promise<void>;
  /** The identity of a login without its password, for "Try it"; undefined: no such user. */
  lookUp(
    connection: LdapConnection,
    login: string,
  ): Promise<{ identity: UpstreamIdentity; checks: PassedCheck[] } | undefined>;
  /** Connects and binds as the account that searches, and reads the base DN, for doctor. */
  probe(connection: LdapConnection): Promise<void>;
}

export interface DirectoryDependencies {
  connections: Pick<Connections, 'decryptedSecrets'>;
  now: Clock;
}

export function createDirectory({ connections, now }: DirectoryDependencies): Directory {
  const withSearchBind = createSearchBind({ connections, now });

  return {
    async checkPassword(connection, { login, password }, mayBind) {
      const fault = passwordFault(password);
      if (fault) return { outcome: 'wrong', reason: fault };
      return withSearchBind(connection, async (session, rebind) => {
        const found = await findForBind(session, connection, login, mayBind);
        if ('reason' in found) {
          await bindWithRandomDn(session, connection);
          return { outcome: 'wrong', reason: found.reason };
        }
        const { entry } = found;
        const reason = await session.bindAsUser(entry.dn, password);
        if (reason !== undefined) return { outcome: 'wrong', reason };
        if (connection.settings.groups) await rebind();
        return { outcome: 'right', identity: await identityOf(session, connection, entry, now()) };
      });
    },

    async imitateCheck(connection) {
      await withSearchBind(connection, async (session) => {
        await findUser(session, connection, randomBytes(12).toString('hex'));
        await bindWithRandomDn(session, connection);
      });
    },

    lookUp: (connection, login) =>
      withSearchBind(connection, async (session) => {
        const entry = await findUser(session, connection, login);
        if (!entry) return undefined;
        const { settings } = connection;
        const identity = await identityOf(session, connection, entry, undefined);
        const checks = [
          { name: 'Account that searches', expected: 'a bind', received: settings.bind_dn ?? 'anonymous' },
          { name: 'Entry', expected: `one, below ${settings.base_dn}`, received: entry.dn },
          { name: 'Identifier', expected: `one ${settings.subject_attribute}`, received: identity.subject },
        ];
        return { identity, checks };
      }),

    async probe(connection) {
      await withSearchBind(connection, (session) =>
        session.search({
          ...{ base: connection.settings.base_dn, scope: 'base', filter: filterWith('(objectClass=*)', 'dn', '') },
          ...{ attributes: ['1.1'], max: 1 },
        }),
      );
    },
  };
}

/** Makes the function that runs `work` bound to search; `rebind` does it again after a bind as a user. */
function createSearchBind({ connections, now }: DirectoryDependencies) {
  const limitConcurrency = createConcurrencyLimit(now);
  return async function withSearchBind<T>(
    connection: LdapConnection,
    work: (session: DirectorySession, rebind: () => Promise<void>) => Promise<T>,
  ): Promise<T> {
    const { settings, id } = connection;
    const [secret] = await connections.decryptedSecrets(id, 'bind-password');
    return limitConcurrency(id, () =>
      withDirectory(settings, async (session) => {
        const bind = () => session.bindToSearch(settings.bind_dn, secret?.value);
        await bind();
        return work(session, bind);
      }),
    );
  };
}

/** Passwords that are never sent: an empty one binds anonymously, and some directories end a password at a NUL. */
function passwordFault(password: string): string | undefined {
  if (password === '') return 'empty_password';
  return password.includes('\0') ? 'wrong_password' : undefined;
}

/** The one entry of a login. Throws upstream_answer_invalid for several, and for one that is not below the base DN. */
async function findUser(
  session: DirectorySession,
  connection: LdapConnection,
  login: string,
): Promise<Entry | undefined> {
  const { settings } = connection;
  if (login.trim() === '') return undefined;
  const filter = makeFilter(settings.filter, login);
  const { entries, isCut } = await session.search({
    ...{ base: settings.base_dn, scope: 'sub', filter, max: 2 },
    ...requestedAttributes(connection),
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

/** The entry to bind as, or why there is none: an answer that tells more would tell which logins exist. */
async function findForBind(
  session: DirectorySession,
  connection: LdapConnection,
  login: string,
  mayBind: (subject: string) => Promise<boolean>,
): Promise<{ entry: Entry } | { reason: string }> {
  try {
    const entry = await findUser(session, connection, login);
    if (!entry) return { reason: 'unknown_account' };
    return (await mayBind(subjectOf(entry, connection))) ? { entry } : { reason: 'too_many_tries' };
  } catch (error) {
    if (!(error instanceof FederationError) || error.code === 'upstream_unavailable') throw error;
    return { reason: error.code === 'upstream_no_identity' ? 'directory_no_identifier' : 'directory_answer_invalid' };
  }
}

function makeFilter(template: string, login: string) {
  try {
    return filterWith(template, 'username', login);
  } catch (error) {
    throw directoryUnavailable('the filter of the connection', error);
  }
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
    ...{ acr: undefined, amr: ['pwd'], authTime, session: undefined },
  };
}
