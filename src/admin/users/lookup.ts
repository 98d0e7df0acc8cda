// Finds the user that an administrator acts on, with the checks that all those actions share.

import { notFound } from '../../base/http/errors.ts';
import type { Tx } from '../../base/storage/database.ts';
import { lockRow } from '../../base/storage/row-lock.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import { textFieldNames } from '../../people/accounts/profile-fields.ts';
import { type Audience, attributesFor, changedBy, isFor } from '../../people/accounts/simple-attributes.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import type { UserServices } from '../admin-services.ts';
import { assertVersion, type Expected } from '../api/versions.ts';

const WRITE: readonly OwnPermission[] = ['gatehouse.users:write'];

export type UserLookup = ReturnType<typeof createUserLookup>;

/** Finds the user that an action is about. All throw not_found. */
export function createUserLookup({ db, sql, accounts, authority, ssoIds, settings }: UserServices) {
  /** Who may change settings sees and changes every attribute of a user. */
  const audienceOf = async (by: Actor, tx?: Tx): Promise<Audience> =>
    (await authority.extent(by, 'gatehouse.settings:write', tx)) === 'all' ? 'administrator' : 'desk';

  /** Accounts with the attributes that the actor may see. */
  async function allSeenBy<A extends { attributes: Record<string, unknown> }>(accounts: A[], by: Actor, tx?: Tx) {
    const [schema, audience] = [settings.latest().user_attributes, await audienceOf(by, tx)];
    return accounts.map((one): A => ({ ...one, attributes: attributesFor(audience, schema, one.attributes) }));
  }

  async function seenBy<A extends { attributes: Record<string, unknown> }>(account: A, by: Actor, tx?: Tx): Promise<A> {
    const [seen = account] = await allSeenBy([account], by, tx);
    return seen;
  }

  /** The own fields that the actor may not see. */
  async function hiddenFields(by: Actor): Promise<string[]> {
    const [schema, audience] = [settings.latest().user_attributes, await audienceOf(by)];
    return Object.keys(schema.properties ?? {}).filter((name) => !isFor(audience, schema, name, 'visible_to'));
  }

  /** The attributes after a change by the actor. Throws invalid_input. */
  const attributesAfter = async (before: Record<string, unknown>, after: Record<string, unknown>, by: Actor, tx?: Tx) =>
    changedBy(await audienceOf(by, tx), settings.latest().user_attributes, before, after);

  // Not from the cache, which has an old `lastSeenAt`.
  async function find(id: string, tx: Tx = db): Promise<Account> {
    const account = await accounts.find(id, tx);
    if (!account) throw notFound({ message: t('console.person.unknown'), detail: { accountId: id } });
    return account;
  }

  /** The account, its row locked. Throws unless the actor may change it and it has the expected version. */
  async function lockForChange(id: string, by: Actor, expected: Expected, tx: Tx, needs = WRITE): Promise<Account> {
    await lockRow(tx, sql, 'users', id);
    const account = await find(id, tx);
    await authority.assertMay(by, { what: 'user', id, needs }, tx);
    if (expected !== 'any')
      assertVersion(expected, versionOf(await seenBy(account, by, tx), await ssoIds.connectionOf(account, tx)));
    return account;
  }

  /** The account. Throws unless the actor may change it with one of these permissions. */
  async function findManageable(id: string, by: Actor, needs = WRITE): Promise<Account> {
    const account = await find(id);
    await authority.assertMay(by, { what: 'user', id, needs });
    return account;
  }

  return {
    find,
    lockForChange,
    findManaged: findManageable,
    audienceOf,
    allSeenBy,
    seenBy,
    hiddenFields,
    attributesAfter,
  };
}

/** What the ETag of a user is made of: everything that an administrator can edit. */
export function versionOf(
  {
    permissions: _permissions,
    createdAt: _at,
    updatedAt: _changed,
    termsVersion: _terms,
    termsAcceptedAt: _accepted,
    lastSeenAt: _seen,
    state: _state,
    isActive: _active,
    deleteAt: _deleted,
    ...account
  }: Account,
  ssoConnection: string | null,
): unknown {
  return Object.entries({ ...account, ssoConnection }).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Every other field of an account affects how its user signs in, or what applications let the user do. */
const HARMLESS: readonly string[] = [...textFieldNames, 'address', 'roles', 'permissions', 'updatedAt', 'lastSeenAt'];

/** Whether the accounts differ in the username, the email address, the attributes, or another field that is not harmless. */
export function changesLogin(before: Account, after: Account): boolean {
  const rest = (account: Account) =>
    Object.entries(account)
      .filter(([name]) => !HARMLESS.includes(name))
      .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(rest(before)) !== JSON.stringify(rest(after));
}
