// What administrators do with users, for the API and the console alike: people/rbac/authority.ts decides which users an actor may
// see and change, the last administrator stays, and a change names the version that it is made for.

import { type AllowedApplication, allowedApplications, removeAccess } from '../../account/consents.ts';
import type { AppPassword } from '../../applications/app-passwords.ts';
import { AppError, notFound } from '../../base/http/errors.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import type { PageText } from '../../base/texts/text.ts';
import { newOneTimePassword } from '../../config-file/new-account.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { type InvitationState, type InvitationView, invitationState } from '../../core/mail/link-tokens.ts';
import { type Account, ownedUser } from '../../people/accounts/account.ts';
import type { AccountPage, ListAccounts } from '../../people/accounts/account-list.ts';
import type { Directory } from '../../people/accounts/accounts.ts';
import { isLimited } from '../../people/accounts/active.ts';
import type { UnusedEnd } from '../../people/accounts/inactivity.ts';
import { disableAccount, endByPeriod, removeAccount } from '../../people/accounts/life.ts';
import type { Profile } from '../../people/accounts/profile.ts';
import { termsDue } from '../../people/accounts/terms.ts';
import type { FactorView, OwnFactors } from '../../people/mfa/account-factors.ts';
import type { FirstEnrolmentState } from '../../people/mfa/first-enrolment-rule.ts';
import { falseIfForbidden } from '../../people/rbac/authority.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import type { EndedAll } from '../../protocols/logout/end-session.ts';
import type { UserServices } from '../admin-services.ts';
import type { OnCreated } from '../api/idempotency.ts';
import type { Expected } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import {
  assertMailed,
  assertMayCreate,
  type CreatedUser,
  createUser,
  groupsNamed,
  type NewUser,
  passwordRejected,
} from './creation.ts';
import { ASSIGN, createUserGrants } from './grants.ts';
import { createHandOver } from './hand-over.ts';
import { changesLogin, createUserLookup, type UserLookup } from './lookup.ts';

export type { CreatedUser, NewUser } from './creation.ts';

/** Unused accounts on a page. */
const MOST_UNUSED = 20;

export interface UserDetails {
  account: Account;
  /** The directory that manages the account. */
  directory: Directory | undefined;
  /** The connection at which its `ssoId` is its subject. */
  ssoConnection: string | null;
  password: { mustChange: boolean; changedAt: Date } | undefined;
  factors: OwnFactors;
  /** Whether the user can sign in in any way, and so gets no invitation. */
  hasCredentials: boolean;
  /** Whether the first second factor needs an approval, and has it. */
  firstEnrolment: FirstEnrolmentState;
  /** The last one. */
  invitation: InvitationView | undefined;
  /** As the list has it. */
  invitationState: InvitationState | null;
  /** Whether the user accepts the terms at the next sign-in. */
  hasTermsDue: boolean;
  /** Seconds that a new browser has to wait after wrong passwords. */
  lockedSeconds: number;
  /** When the account is disabled or deleted if nobody uses it. */
  unusedEnd: UnusedEnd | undefined;
}

export type UserChanges = Partial<Profile> & {
  roles?: readonly string[];
  ssoConnection?: string | null;
  isEnabled?: boolean;
  /** Names of groups that the user joins. */
  addedGroups?: readonly string[];
  /** Those of them that do not exist are created. */
  createsGroups?: boolean;
};

/** Who exports a person reads notes and the audit log too. */
export const EXPORT = ['gatehouse.users:write', 'gatehouse.audit:read'] as const;

export type UserAdmin = ReturnType<typeof createUserAdmin>;

/**
 * Sensitive changes throw StepUpNeeded. All throw not_found, and forbidden for a user who has more permissions or other roles
 * than the actor (not endSessions).
 */
export function createUserAdmin(services: UserServices) {
  const lookup = createUserLookup(services);
  return {
    ...readActions(services, lookup),
    /** The connections at which these users sign in with their `ssoId`, by the ids of the users. */
    connectionsOf: services.ssoIds.connectionsOf,
    /** The names of the groups that these users are in now, themselves, by the ids of the users. */
    groupsOf: services.groups.namesByMember,
    /** Throws forbidden unless the actor may create a user with these roles. */
    async assertMayCreate(
      names: readonly string[],
      by: Actor,
      { groups = [], createsGroups }: Pick<NewUser, 'groups' | 'createsGroups'> = {},
    ): Promise<void> {
      await assertMayCreate(services, names, by);
      await groupsNamed(services, groups, by, undefined, createsGroups);
    },
    /** Throws forbidden unless the actor may connect users to this connection. */
    assertMayConnect: (connectionId: string, by: Actor): Promise<void> =>
      services.ssoIds.assertMayConnect(connectionId, by, services.db),
    /** `onCreated` runs in the transaction. */
    async create(
      { ssoConnection, ...user }: NewUser,
      by: Actor,
      onCreated: OnCreated<CreatedUser> = async () => {},
    ): Promise<CreatedUser> {
      await assertMayCreate(services, user.roles ?? [], by);
      if (user.attributes) await lookup.attributesAfter({}, user.attributes, by);
      return createUser(services, lookup, user, by, async (created, tx) => {
        await services.ssoIds.set(created.account, { before: null, connectionId: ssoConnection }, by, tx);
        if (user.roles?.length || user.groups?.length) assertFreshProof(by, 'user.create-with-roles', user.username);
        await onCreated(created, tx);
      });
    },
    ...accountActions(services, lookup),
    ...createUserGrants(services, lookup),
    ...createHandOver(services, lookup),
    ...passwordActions(services, lookup),
    ...recoveryActions(services, lookup),
    ...noteActions(services, lookup),
  };
}

function readActions(services: UserServices, lookup: UserLookup) {
  const { accounts, authority, credentials, inactivity, registration, mfa, lockout, ownData, settings, ssoIds } =
    services;
  const { invitations } = registration;

  async function visibleTo(by: Actor): Promise<ListAccounts> {
    const extent = await authority.extent(by, 'gatehouse.users:read');
    return extent === 'all' ? {} : { memberOf: [extent] };
  }

  async function covered(id: string, by: Actor, needs: OwnPermission): Promise<Account> {
    await authority.assertCovers(by, needs, id);
    return lookup.seenBy(await lookup.find(id), by);
  }

  async function get(id: string, by: Actor, needs: OwnPermission = 'gatehouse.users:read'): Promise<UserDetails> {
    const account = await covered(id, by, needs);
    const [directories, ssoConnection, password, factors, firstEnrolment, lockedSeconds, hasCredentials, invited] =
      await Promise.all([
        accounts.directoriesOf([id]),
        ssoIds.connectionOf(account),
        credentials.status(id),
        mfa.factors.of(id),
        mfa.firstEnrolment.state(id),
        lockout.lockedSeconds(account),
        invitations.hasCredentials(id),
        invitations.statesOf([id]),
      ]);
    const invitation = invited.get(id);
    const directory = directories.get(id);
    const hasWayIn = hasCredentials || directory !== undefined || account.ssoId !== null;
    return {
      account,
      directory,
      ssoConnection,
      password,
      factors,
      firstEnrolment,
      lockedSeconds,
      hasCredentials,
      invitation,
      invitationState: invitationState(invitation, hasWayIn),
      hasTermsDue: termsDue(settings.latest(), account) !== undefined,
      unusedEnd: await inactivity.endOf(account),
    };
  }

  return {
    /** Throws not_found also for a user whom the actor's permission (users:read, or `needs`) does not cover. */
    get,
    /** The account alone. */
    find: covered,
    /** An account with the attributes that the actor may see. */
    seenBy: (account: Account, by: Actor): Promise<Account> => lookup.seenBy(account, by),
    /** Accounts that are disabled or deleted soon if nobody uses them; none for an actor who cannot read all users. */
    unusedSoon: async (by: Actor) =>
      (await authority.extent(by, 'gatehouse.users:read')) === 'all' ? inactivity.soon(MOST_UNUSED) : [],
    audienceOf: lookup.audienceOf,
    /** For a page: throws what a change with one of these permissions would throw. */
    assertMayChange: ({ id }: Account, by: Actor, needs: OwnPermission): Promise<void> =>
      authority.assertMay(by, { what: 'user', id, needs: [needs] }),
    /** The same for giving and taking roles. */
    assertMayGive: ({ id }: Account, by: Actor): Promise<void> =>
      authority.assertMay(by, { what: 'user', id, needs: ASSIGN }),

    /** The account, and why the actor may not change it with one of these permissions. Throws not_found as `get` does. */
    async check(
      id: string,
      by: Actor,
      needs: readonly OwnPermission[],
    ): Promise<{ account: Account; reason?: PageText }> {
      await authority.assertCovers(by, 'gatehouse.users:read', id);
      const account = await lookup.find(id);
      try {
        // Ending sessions and joining a group take the permission only, whatever rights the user has.
        const [first] = needs;
        if (first === 'gatehouse.sessions:end' || first === 'gatehouse.users:read')
          await authority.assertCovers(by, first, id);
        else await authority.assertMay(by, { what: 'user', id, needs });
        return { account };
      } catch (error) {
        if (error instanceof AppError && [403, 404].includes(error.status)) return { account, reason: error.text };
        throw error;
      }
    },

    /** Only users that the actor may see. */
    list: async (query: Omit<ListAccounts, 'memberOf' | 'hiddenFields'>, by: Actor): Promise<AccountPage> => {
      const hiddenFields = query.search === undefined ? undefined : await lookup.hiddenFields(by);
      const page = await accounts.list({ ...query, hiddenFields, ...(await visibleTo(by)) });
      return { ...page, accounts: await lookup.allSeenBy(page.accounts, by) };
    },

    hasCredentials: invitations.hasCredentials,

    /** Everything that is stored about the person, as JSON. It needs both permissions of EXPORT. */
    async export(id: string, by: Actor): Promise<AsyncIterable<string>> {
      const account = await lookup.findManaged(id, by);
      for (const needs of EXPORT) await authority.assertCovers(by, needs, id);
      assertFreshProof(by, 'user.export', account.username);
      return ownData.export(account, await lookup.audienceOf(by), by);
    },

    /** Whether the actor may change this user with one of these permissions. */
    mayChange: (id: string, by: Actor, needs: readonly OwnPermission[]): Promise<boolean> =>
      authority.assertMay(by, { what: 'user', id, needs }).then(() => true, falseIfForbidden),
  };
}

/** Profile, roles, state and deletion. */
function accountActions(
  services: UserServices,
  { find, findManaged, lockForChange, seenBy, attributesAfter }: UserLookup,
) {
  const { db, now, accounts, groups, personPictures, roles, endSession, notifyOwner, ssoIds } = services;

  /** Disabling ends every session; returns those. */
  async function setState({ id, username }: Account, isEnabled: boolean, by: Actor, tx: Tx): Promise<EndedAll> {
    assertFreshProof(by, isEnabled ? 'user.enable' : 'user.disable', username);
    if (!isEnabled) await roles.assertNotLastAdmin(id, tx);
    const none = { count: 0, run: undefined };
    if (!isEnabled) return (await disableAccount(services, id, by, tx)) ?? none;
    await accounts.setActive(id, true, by, tx);
    return none;
  }

  async function changeRoles(account: Account, names: readonly string[], by: Actor, tx: Tx): Promise<Account> {
    const direct = await roles.direct(account.id, tx);
    // The list also names what a connection gives: as a direct role it would stay when the connection takes it away.
    const wanted = new Set(names.filter((name) => direct.includes(name) || !account.roles.includes(name)));
    await roles.setRoles(account.id, [...wanted], by, tx);
    const isSame = wanted.size === direct.length && direct.every((name) => wanted.has(name));
    if (isSame) return account;
    assertFreshProof(by, 'user.change-roles', account.username);
    return find(account.id, tx);
  }

  return {
    /** The profile, and what else is given, in one transaction; `onUpdated` runs at its end. */
    async update(
      id: string,
      { roles: names, ssoConnection, isEnabled, addedGroups = [], createsGroups, ...changes }: UserChanges,
      by: Actor,
      expected: Expected = 'any',
      onUpdated: OnCreated<Account> = async () => {},
    ): Promise<Account> {
      const { account, isLinked } = await transaction(db, async (tx) => {
        const before = await lockForChange(id, by, expected, tx);
        if (before.source === 'file') throw ownedUser(before);
        const { attributes } = changes;
        if (isLimited(changes, now())) await roles.assertNotLastAdmin(id, tx);
        const all = attributes && (await attributesAfter(before.attributes, attributes, by, tx));
        const after = await accounts.update(before, { ...changes, ...(all && { attributes: all }) }, by, tx);
        const isLinked = await ssoIds.set(after, { before: before.ssoId, connectionId: ssoConnection }, by, tx);
        if (isLinked || changesLogin(before, after)) assertFreshProof(by, 'user.change-login', before.username);
        let account = names === undefined ? after : await changeRoles(after, names, by, tx);
        for (const group of await groupsNamed(services, addedGroups, by, tx, createsGroups))
          await groups.addMembers(group, [{ userId: id }], { by, tx });
        const isOther = isEnabled !== undefined && isEnabled !== before.isEnabled;
        if (isOther) await setState(before, isEnabled, by, tx);
        else await endByPeriod(endSession, id, [before, after], by, tx);
        if (isOther || addedGroups.length > 0) account = await find(id, tx);
        await onUpdated(account, tx);
        return { account, isLinked };
      });
      if (isLinked) {
        const connection = await ssoIds.connectionOf(account);
        await notifyOwner(account, connection === null ? 'identity-unlinked' : 'identity-linked', by.request);
      }
      return seenBy(account, by);
    },

    /** Makes these the roles of the user. */
    setRoles: (id: string, names: readonly string[], by: Actor, expected: Expected = 'any'): Promise<Account> =>
      transaction(db, async (tx) => {
        const account = await lockForChange(id, by, expected, tx, ASSIGN);
        if (account.source === 'file') throw ownedUser(account);
        return seenBy(await changeRoles(account, names, by, tx), by, tx);
      }),

    /** Replaces the picture. Throws invalid_input with a fault of the field `picture`. */
    async setPicture(id: string, bytes: Buffer, by: Actor): Promise<void> {
      await findManaged(id, by);
      await personPictures.set(id, bytes, by);
    },

    /** Returns the sessions that ended, and which applications are notified. */
    disable: (id: string, by: Actor): Promise<EndedAll> =>
      transaction(db, async (tx) => setState(await lockForChange(id, by, 'any', tx), false, by, tx)),

    /** Disabling ends every session. */
    setActive: (id: string, isEnabled: boolean, by: Actor, expected: Expected = 'any'): Promise<Account> =>
      transaction(db, async (tx) => {
        await setState(await lockForChange(id, by, expected, tx), isEnabled, by, tx);
        return seenBy(await find(id, tx), by, tx);
      }),

    remove: (id: string, by: Actor, expected: Expected = 'any'): Promise<void> =>
      transaction(db, async (tx) => {
        const account = await lockForChange(id, by, expected, tx);
        if (account.source === 'file') throw ownedUser(account);
        assertFreshProof(by, 'user.delete', account.username);
        await roles.assertNotLastAdmin(id, tx);
        await removeAccount(services, id, by, tx);
      }),
  };
}

/** An invitation is a link to the mailbox of the user, as a link to a new password is. */
const INVITE: readonly OwnPermission[] = ['gatehouse.users:reset-password', 'gatehouse.users:write'];

/** The password, and the mailed links with which the user sets it. */
function passwordActions(
  {
    credentials,
    mfa,
    endSession,
    notifyOwner,
    registration: { invitations },
    recovery: { passwordReset },
  }: UserServices,
  { findManaged }: UserLookup,
) {
  return {
    invite: async (id: string, by: Actor, message?: string): Promise<void> =>
      assertMailed(await invitations.invite(await findManaged(id, by, INVITE), by, { message })),

    /** Mails a link for a new password. */
    async sendPasswordReset(id: string, by: Actor): Promise<void> {
      const account = await findManaged(id, by, ['gatehouse.users:reset-password']);
      assertMailed(await passwordReset.sendLink(account, by));
    },

    /** Without a password a temporary password is generated and returned. Ends every session. */
    async setPassword(id: string, password: string | undefined, by: Actor): Promise<{ oneTimePassword?: string }> {
      const account = await findManaged(id, by);
      assertFreshProof(by, 'user.set-password', account.username);
      const plain = password ?? newOneTimePassword();
      const mustChange = password === undefined;
      const outcome = await credentials.setPassword(account, plain, { ...by, mustChange });
      if (outcome !== 'ok') throw passwordRejected(credentials, outcome, await mfa.factors.hasSecondFactor(id));
      await mfa.knownBrowsers.endTrust(id);
      await endSession.all(id, 'password-reset', by);
      await notifyOwner(account, 'password-changed-by-admin', by.request);
      return mustChange ? { oneTimePassword: plain } : {};
    },

    /** The password must be changed at the next sign-in. Ends every session, so that this comes soon. */
    async forcePasswordChange(id: string, by: Actor): Promise<void> {
      const { username } = await findManaged(id, by);
      assertFreshProof(by, 'user.force-password-change', username);
      await credentials.forceChange(id, by);
      await endSession.all(id, 'ended-by-admin', by);
    },
  };
}

export type UserFactor = Omit<FactorView, 'kind'> & { kind: FactorView['kind'] | 'email' };

function recoveryActions(services: UserServices, { find, findManaged }: UserLookup) {
  const {
    accounts,
    appPasswords,
    audit,
    authority,
    codeDelivery,
    mfa,
    lockout,
    endSession,
    notifyOwner,
    registration,
  } = services;

  /** The user can sign in here, at a connection, or as a directory says. */
  const hasWayIn = async ({ id, ssoId }: Account): Promise<boolean> =>
    ssoId !== null ||
    (await registration.invitations.hasCredentials(id)) ||
    (await accounts.directoriesOf([id])).has(id);

  return {
    async unlock(id: string, by: Actor): Promise<void> {
      await lockout.unlock(await findManaged(id, by, ['gatehouse.users:unlock']));
      await audit.record({ ...by, type: 'sign-in.unlocked', outcome: 'success', subjectId: id });
    },

    /** The second factors one by one; codes by email last, where the settings offer them. */
    async factorsOf(
      id: string,
      by: Actor,
      needs: OwnPermission = 'gatehouse.users:read',
    ): Promise<readonly UserFactor[]> {
      await authority.assertCovers(by, needs, id);
      const account = await find(id);
      const [own, list] = await Promise.all([mfa.factors.of(id), mfa.factors.list(id)]);
      const { email } = codeDelivery.channels(account, own);
      if (email === undefined) return list;
      return [...list, { id: 'email', kind: 'email', name: email, addedAt: null, lastUsedAt: null }];
    },

    /** Removes one of them, which no code by email is, and ends every session. Throws not_found. */
    async removeFactor(id: string, factor: string, by: Actor): Promise<void> {
      const account = await findManaged(id, by, ['gatehouse.users:reset-factors']);
      assertFreshProof(by, 'user.remove-factor', account.username);
      const method = (await mfa.factors.list(id)).find((one) => one.id === factor);
      if (!method || !(await mfa.factors.remove(id, factor, by))) throw notFound({ detail: { factor } });
      await mfa.knownBrowsers.endTrust(id);
      await endSession.all(id, 'ended-by-admin', by);
      const isLockedOut = !(await hasWayIn(account));
      await notifyOwner(account, 'factor-removed-by-admin', by.request, { method, isLockedOut });
    },

    async appPasswordsOf(id: string, by: Actor, needs: OwnPermission = 'gatehouse.users:read'): Promise<AppPassword[]> {
      await authority.assertCovers(by, needs, id);
      return appPasswords.list((await find(id)).id);
    },

    /** Throws not_found. */
    async revokeAppPassword(id: string, password: string, by: Actor): Promise<void> {
      const { username } = await findManaged(id, by, ['gatehouse.users:reset-factors']);
      assertFreshProof(by, 'user.revoke-app-password', username);
      if (!(await appPasswords.revoke(id, password, by))) throw notFound({ detail: { password } });
    },

    /** The applications and agents with access to the account. */
    async consentsOf(
      id: string,
      by: Actor,
      needs: OwnPermission = 'gatehouse.sessions:read',
    ): Promise<AllowedApplication[]> {
      await authority.assertCovers(by, needs, id);
      return allowedApplications(services, (await find(id)).id);
    },

    /** Removes the access of one of them. Throws not_found. */
    async removeConsent(id: string, application: string, by: Actor): Promise<void> {
      await authority.assertCovers(by, 'gatehouse.sessions:end', id);
      const { username } = await find(id);
      const found = (await allowedApplications(services, id)).find((one) => one.applicationId === application);
      if (!found) throw notFound({ detail: { application } });
      assertFreshProof(by, 'user.remove-consent', username);
      await removeAccess(services, id, found, by);
    },

    /** Removes every second factor and ends every session. */
    async resetFactors(id: string, by: Actor): Promise<void> {
      const account = await findManaged(id, by, ['gatehouse.users:reset-factors']);
      assertFreshProof(by, 'user.reset-factors', account.username);
      await mfa.factors.reset(id, by);
      await mfa.knownBrowsers.endTrust(id);
      await endSession.all(id, 'ended-by-admin', by);
      await notifyOwner(account, 'factors-reset', by.request, { isLockedOut: !(await hasWayIn(account)) });
    },

    /** Lets the user set up a first second factor (setting first_factor). */
    async allowFirstFactor(id: string, by: Actor): Promise<void> {
      const { username } = await findManaged(id, by, ['gatehouse.users:reset-factors']);
      assertFreshProof(by, 'user.allow-factor', username);
      await mfa.firstEnrolment.allow(id, by);
    },

    // It gives nobody anything, so it takes no more than the permission, also for users with more rights.
    async endSessions(id: string, by: Actor): Promise<EndedAll> {
      await authority.assertCovers(by, 'gatehouse.sessions:end', id);
      const { username } = await find(id);
      assertFreshProof(by, 'user.end-sessions', username);
      return endSession.all(id, 'ended-by-admin', by);
    },
  };
}

/** Who may see the user may read the notes, who may change the user may write and delete them. */
function noteActions({ db, authority, notes }: UserServices, { findManaged }: UserLookup) {
  return {
    /** With those who wrote them; undefined: the server, or an account that was deleted. */
    async notesOf(id: string, by: Actor) {
      await authority.assertCovers(by, 'gatehouse.users:read', id);
      const found = await notes.list(id);
      const ids = found.flatMap(({ authorId }) => authorId ?? []);
      const authors = await db.asStored.user.findMany({
        where: { id: { in: ids } },
        select: { id: true, username: true, name: true, givenName: true, familyName: true },
      });
      return found.map(({ authorId, ...note }) => ({ ...note, author: authors.find(({ id }) => id === authorId) }));
    },
    async addNote(id: string, text: string, by: Actor) {
      await findManaged(id, by);
      return notes.add(id, text, by);
    },
    async removeNote(id: string, noteId: string, by: Actor): Promise<void> {
      await findManaged(id, by);
      await notes.remove(id, noteId, by);
    },
  };
}
