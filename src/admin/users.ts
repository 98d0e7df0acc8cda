// What administrators do with people. The API and the console call the same functions, so the same holds for both: nobody
// manages who may do more, the last administrator stays, and a change says which version it is made to.
import type { Account } from '../accounts/account.ts';
import type { Accounts, NewAccount } from '../accounts/accounts.ts';
import type { AccountPage, ListAccounts } from '../accounts/list.ts';
import type { Profile } from '../accounts/profile.ts';
import type { Audit, By } from '../audit/audit.ts';
import type { Credentials } from '../credentials/credentials.ts';
import { type PasswordFault, passwordAdvice } from '../credentials/password-policy.ts';
import type { Reset } from '../credentials/reset.ts';
import { badRequest, conflict, forbidden, notFound } from '../http/errors.ts';
import type { EndSession } from '../logout/end-session.ts';
import type { Tell } from '../mail/notices.ts';
import type { Factors, OwnFactors } from '../mfa/factors.ts';
import type { KnownBrowsers } from '../mfa/known-browsers.ts';
import type { DatabaseKind } from '../platform/database-url.ts';
import { type Db, type Tx, transaction } from '../platform/db.ts';
import { lockRow } from '../platform/lock.ts';
import { createAccountWithPassword, newOneTimePassword } from '../provisioning/new-account.ts';
import type { SignInGuard } from '../rate-limits/sign-in-guard.ts';
import type { Authority } from '../rbac/authority.ts';
import type { Roles } from '../rbac/roles.ts';
import type { Invitations } from '../self-service/invitation.ts';
import { assertVersion, type Expected } from './versions.ts';

export interface UserDetails {
  account: Account;
  password: { mustChange: boolean; changedAt: Date } | undefined;
  factors: OwnFactors;
  /** Seconds that a new browser has to wait after wrong passwords. */
  lockedSeconds: number;
}

export interface NewUser extends NewAccount {
  roles?: readonly string[] | undefined;
  /** Neither: a one-time password is made, or an invitation sent. */
  password?: string | undefined;
  passwordHash?: string | undefined;
  invite?: boolean | undefined;
  /** Nothing of the above: they set a password by a mailed link. */
  withoutPassword?: boolean | undefined;
}

export type Mailed = 'sent' | 'no-address' | 'disabled';

export interface UserAdmin {
  list(query: ListAccounts): Promise<AccountPage>;
  get(id: string): Promise<UserDetails>;
  create(user: NewUser, by: By): Promise<{ account: Account; oneTimePassword?: string }>;
  update(id: string, changes: Partial<Profile>, by: By, expected?: Expected): Promise<Account>;
  setRoles(id: string, names: readonly string[], by: By, expected?: Expected): Promise<Account>;
  /** Disabling ends every session. */
  setActive(id: string, isActive: boolean, by: By, expected?: Expected): Promise<Account>;
  remove(id: string, by: By, expected?: Expected): Promise<void>;
  invite(id: string, by: By): Promise<void>;
  /** Mails a link with which the person chooses a new password. */
  sendPasswordReset(id: string, by: By): Promise<void>;
  /** Without a password a one-time one is made and returned. Ends every session. */
  setPassword(id: string, password: string | undefined, by: By): Promise<{ oneTimePassword?: string }>;
  /** The password is to be changed at the next sign-in. Ends every session, so that there is one. */
  forcePasswordChange(id: string, by: By): Promise<void>;
  unlock(id: string, by: By): Promise<void>;
  /** Removes every second factor and ends every session. */
  resetFactors(id: string, by: By): Promise<void>;
  endSessions(id: string, by: By): Promise<number>;
}

export interface UserAdminNeeds {
  db: Db;
  kind: DatabaseKind;
  audit: Audit;
  accounts: Accounts;
  roles: Roles;
  authority: Authority;
  credentials: Credentials;
  mfa: { factors: Factors; knownBrowsers: KnownBrowsers };
  signInGuard: SignInGuard;
  endSession: Pick<EndSession, 'all'>;
  /** Mail to the owner about what was changed. */
  tell: Tell;
  invitations: Pick<Invitations, 'invite'>;
  reset: Pick<Reset, 'sendLink'>;
}

export function createUserAdmin(needs: UserAdminNeeds): UserAdmin {
  const { db, kind, audit, accounts, roles, authority, credentials, mfa, signInGuard, endSession, tell } = needs;

  async function found(id: string, tx?: Tx): Promise<Account> {
    const account = await accounts.find(id, tx);
    if (!account) throw notFound({ message: 'There is no such user.', detail: { accountId: id } });
    return account;
  }

  /** The account behind a lock, at the version that the caller knows, and one that the caller may manage. */
  async function changeable(id: string, by: By, expected: Expected, tx: Tx): Promise<Account> {
    await lockRow(tx, kind, 'users', id);
    const account = await found(id, tx);
    assertVersion(expected, versionOf(account));
    await authority.assertMayManage(by, id, tx);
    return account;
  }

  /** An account whose credentials the caller may handle. */
  async function managed(id: string, by: By): Promise<Account> {
    const account = await found(id);
    await authority.assertMayManage(by, id);
    return account;
  }

  async function createInvited(user: NewUser, by: By) {
    const { roles: names = [], passwordHash, invite, withoutPassword: _without, ...profile } = user;
    return transaction(db, async (tx) => {
      const account = await accounts.create(profile, by, tx);
      for (const name of names) await roles.assign(account.id, name, by, tx);
      if (passwordHash !== undefined) await credentials.importHash(account.id, passwordHash, by, tx);
      if (invite) mailed(await needs.invitations.invite(account, by, tx));
      return { account: await found(account.id, tx) };
    });
  }

  return {
    list: (query) => accounts.list(query),

    async get(id) {
      const account = await found(id);
      const [password, factors, byName, byEmail] = await Promise.all([
        credentials.status(id),
        mfa.factors.of(id),
        signInGuard.lockedSeconds(account.username),
        account.email ? signInGuard.lockedSeconds(account.email) : 0,
      ]);
      return { account, password, factors, lockedSeconds: Math.max(byName, byEmail) };
    },

    async create(user, by) {
      if (user.invite || user.passwordHash !== undefined || user.withoutPassword) return createInvited(user, by);
      const { roles: names = [], password, passwordHash: _hash, invite: _invite, ...profile } = user;
      const created = await createAccountWithPassword(
        { db, accounts, roles, credentials },
        { ...profile, password, roles: names },
        by,
      );
      if (created.outcome === 'refused') throw passwordRefused(created.faults, false);
      const { oneTimePassword } = created;
      const account = await found(created.account.id);
      return { account, ...(oneTimePassword === undefined ? {} : { oneTimePassword }) };
    },

    update: (id, changes, by, expected = 'any') =>
      transaction(db, async (tx) => {
        const { source } = await changeable(id, by, expected, tx);
        if (source === 'file') throw forbidden('owned_by_file');
        return accounts.update(id, changes, by, tx);
      }),

    setRoles: (id, names, by, expected = 'any') =>
      transaction(db, async (tx) => {
        const { source } = await changeable(id, by, expected, tx);
        if (source === 'file') throw forbidden('owned_by_file');
        await roles.setRoles(id, [...new Set(names)], by, tx);
        return found(id, tx);
      }),

    setActive: (id, isActive, by, expected = 'any') =>
      transaction(db, async (tx) => {
        await changeable(id, by, expected, tx);
        if (!isActive) await roles.assertNotLastAdmin(id, tx);
        const changed = await accounts.setActive(id, isActive, by, tx);
        if (changed && !isActive) await endSession.all(id, 'account-disabled', by, tx);
        return found(id, tx);
      }),

    remove: (id, by, expected = 'any') =>
      transaction(db, async (tx) => {
        const { source } = await changeable(id, by, expected, tx);
        if (source === 'file') throw forbidden('owned_by_file');
        await roles.assertNotLastAdmin(id, tx);
        await endSession.all(id, 'account-deleted', by, tx);
        await accounts.remove(id, by, tx);
      }),

    invite: async (id, by) => mailed(await needs.invitations.invite(await managed(id, by), by)),

    sendPasswordReset: async (id, by) => mailed(await needs.reset.sendLink(await managed(id, by), by)),

    async setPassword(id, password, by) {
      const account = await managed(id, by);
      const plain = password ?? newOneTimePassword();
      const mustChange = password === undefined;
      const outcome = await credentials.setPassword(account, plain, { ...by, mustChange });
      if (outcome !== 'ok') throw passwordRefused(outcome, await mfa.factors.hasSecondFactor(id));
      await mfa.knownBrowsers.endTrust(id);
      await endSession.all(id, 'password-reset', by);
      await tell(account, 'password-changed', by.request, 'admin');
      return mustChange ? { oneTimePassword: plain } : {};
    },

    async forcePasswordChange(id, by) {
      await managed(id, by);
      await credentials.forceChange(id, by);
      await endSession.all(id, 'ended-by-admin', by);
    },

    async unlock(id, by) {
      await signInGuard.unlock(await found(id));
      await audit.record({ ...by, type: 'sign-in.unlocked', outcome: 'success', subjectId: id });
    },

    async resetFactors(id, by) {
      const account = await managed(id, by);
      await mfa.factors.reset(id, by);
      await mfa.knownBrowsers.endTrust(id);
      await endSession.all(id, 'ended-by-admin', by);
      await tell(account, 'factors-reset', by.request);
    },

    async endSessions(id, by) {
      await found(id);
      return endSession.all(id, 'ended-by-admin', by);
    },
  };
}

/** What a version of a user is made of: everything that an administrator can edit. */
export function versionOf({
  permissions: _permissions,
  createdAt: _at,
  updatedAt: _changed,
  ...account
}: Account): unknown {
  return Object.entries(account).sort(([a], [b]) => (a < b ? -1 : 1));
}

function mailed(outcome: Mailed): void {
  if (outcome === 'sent') return;
  const message =
    outcome === 'disabled' ? 'This account is disabled, so no mail was sent.' : 'This user has no e-mail address.';
  throw conflict('conflict', { message });
}

function passwordRefused(faults: readonly PasswordFault[], hasSecondFactor: boolean) {
  const fields = faults.map((fault) => ({ field: 'password', message: passwordAdvice(fault, hasSecondFactor) }));
  return badRequest('password_refused', { fields });
}
