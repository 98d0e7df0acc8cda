// A new user, with roles, a password, an imported hash or an invitation, in one transaction.

import { AppError, badRequest, conflict, forbidden, invalidInput, unprocessable } from '../../base/http/errors.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { fault, textFault } from '../../base/texts/faults.ts';
import { oneOf, t } from '../../base/texts/text.ts';
import { createAccountWithPassword } from '../../config-file/new-account.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { NewAccount } from '../../people/accounts/accounts.ts';
import type { Credentials } from '../../people/credentials/credentials.ts';
import type { PasswordFault } from '../../people/credentials/password-policy.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import type { UserServices } from '../admin-services.ts';
import type { OnCreated } from '../api/idempotency.ts';
import type { UserLookup } from './lookup.ts';

export interface NewUser extends NewAccount {
  roles?: readonly string[] | undefined;
  /** Names of groups. */
  groups?: readonly string[] | undefined;
  /** Those that do not exist are created. */
  createsGroups?: boolean | undefined;
  /** The connection at which `ssoId` is the user's subject. */
  ssoConnection?: string | null | undefined;
  /** When this and the next three are all absent, a temporary password is generated. */
  password?: string | undefined;
  passwordHash?: string | undefined;
  invite?: boolean | undefined;
  /** What the administrator adds to the invitation. */
  message?: string | undefined;
  /** The user sets a password by a mailed link. */
  withoutPassword?: boolean | undefined;
}

export interface CreatedUser {
  account: Account;
  oneTimePassword?: string;
}

const WRITE: readonly OwnPermission[] = ['gatehouse.users:write'];

/** Throws forbidden unless the actor may create a user with these roles, and unknown_role (422) to an actor who might give them. */
export async function assertMayCreate({ authority, roles }: UserServices, names: readonly string[], by: Actor) {
  const unknown: string[] = [];
  for (const name of names) {
    const role = await roles.find(name);
    // First, also for a name that no role has: who may not give it does not find out whether it exists.
    await authority.assertMay(by, { what: 'role', role: role ?? { name, permissions: [] } });
    if (!role) unknown.push(name);
  }
  const extent = await authority.extent(by, 'gatehouse.users:write');
  if (extent !== 'all' && !names.some((name) => extent.role.includes(name))) {
    // Nobody is in a group before the account exists.
    if (extent.role.length === 0) throw forbidden('forbidden', { message: t('console.users.error.group-only') });
    const message = t('console.users.error.roles-only', { roles: oneOf(extent.role) });
    throw forbidden('forbidden', { message });
  }
  if (unknown.length > 0)
    throw unprocessable('unknown_role', {
      message: t('console.users.error.unknown-roles', { roles: unknown.join(', ') }),
    });
}

/** With the given password, or a temporary password. */
export async function createUser(
  services: UserServices,
  lookup: UserLookup,
  user: NewUser,
  by: Actor,
  onCreated: OnCreated<CreatedUser>,
) {
  if (user.invite && (user.password ?? user.passwordHash) !== undefined) {
    throw invalidInput([textFault(['invite'], INVITED_WITH_PASSWORD)]);
  }
  if (user.invite || user.passwordHash !== undefined || user.withoutPassword) {
    return createWithoutPassword(services, lookup, user, by, onCreated);
  }
  const { roles: names = [], password, groups: _groups, createsGroups: _creates, ...rest } = user;
  const { passwordHash: _hash, invite: _invite, message: _message, ...profile } = rest;
  const created = await createAccountWithPassword(
    services,
    { ...profile, password, roles: names },
    by,
    async (created, tx) => {
      const { id } = created.account;
      await putInGroups(services, user, id, by, tx);
      if (user.groups?.length) created.account = await lookup.find(id, tx);
      await onCreated(created, tx);
    },
  );
  if (created.outcome === 'rejected') throw passwordRejected(services.credentials, created.faults, false);
  return created;
}

/** Throws forbidden unless the new user is one of those whom the actor may change. */
async function putInGroups(
  services: UserServices,
  { groups: names = [], createsGroups }: NewUser,
  userId: string,
  by: Actor,
  tx: Tx,
): Promise<void> {
  const { authority, groups } = services;
  for (const id of await groupsNamed(services, names, by, tx, createsGroups))
    await groups.addMembers(id, [{ userId }], { by, tx });
  await authority.assertMay(by, { what: 'user', id: userId, needs: WRITE }, tx);
}

/**
 * The ids of these groups. Throws forbidden unless the actor may put people in, and invalid_input for a name that no group has.
 * @param creates those that do not exist: in the transaction they are created, and before it they are left out
 */
export async function groupsNamed(
  { groups }: UserServices,
  names: readonly string[],
  by: Actor,
  tx?: Tx,
  creates = false,
): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) {
    const found = await groups.find(name, tx);
    const group = found ?? (creates && tx ? await groups.create({ name }, { by, tx }) : undefined);
    if (!group && creates) continue;
    // First, also for a name that no group has: who may not put people in does not find out whether it exists.
    await groups.assertMayPut(group?.id ?? '', 'direct', { by }, tx).catch((error: unknown) => {
      throw error instanceof AppError && error.status === 404
        ? invalidInput([fault(['groups'], 'unknown-group', { groups: name })])
        : error;
    });
    if (group) ids.push(group.id);
  }
  return ids;
}

/** With an imported password hash, an invitation, or neither. */
async function createWithoutPassword(
  services: UserServices,
  lookup: UserLookup,
  user: NewUser,
  by: Actor,
  onCreated: OnCreated<CreatedUser>,
): Promise<CreatedUser> {
  const { db, accounts, roles, credentials, registration } = services;
  const {
    roles: names = [],
    groups: _groups,
    createsGroups: _creates,
    passwordHash,
    invite,
    message,
    withoutPassword: _without,
    ...profile
  } = user;
  return transaction(db, async (tx) => {
    const account = await accounts.create(profile, by, tx);
    for (const name of names) await roles.assign(account.id, name, by, tx);
    await putInGroups(services, user, account.id, by, tx);
    if (passwordHash !== undefined) await credentials.importHash(account.id, passwordHash, by, tx);
    if (invite) assertMailed(await registration.invitations.invite(account, by, { tx, message }));
    const created = { account: await lookup.find(account.id, tx) };
    await onCreated(created, tx);
    return created;
  });
}

// What an administrator reads when a mail was not sent or a password is rejected.

type Mailed = 'sent' | 'no-address' | 'disabled' | 'has-credentials';

export const INVITED_WITH_PASSWORD = t('console.users.error.password-and-invitation');

const notSent = {
  disabled: t('console.users.error.mail-disabled'),
  'no-address': t('console.users.error.mail-no-address'),
  'has-credentials': t('console.users.error.mail-has-credentials'),
};

/** Throws conflict unless the mail was sent. */
export function assertMailed(outcome: Mailed): void {
  if (outcome === 'sent') return;
  throw conflict('conflict', { message: notSent[outcome] });
}

/** The error for a password with these faults. */
export function passwordRejected(credentials: Credentials, faults: readonly PasswordFault[], hasSecondFactor: boolean) {
  return badRequest('password_rejected', {
    faults: faults.map((one) => textFault(['password'], credentials.advice(one, hasSecondFactor))),
  });
}
