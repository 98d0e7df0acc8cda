// The user whom a typed text names, such as in a field with suggestions. Every page and filter of the console looks users up here.

import { invalidInput } from '../../base/http/errors.ts';
import { fault, textFault } from '../../base/texts/faults.ts';
import { listOf, type PageText, type Text, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import type { Field } from '../console/blocks.ts';
import type { NamedField } from '../console/names.ts';
import type { UserAdmin } from '../users/actions.ts';

export interface TypedUser {
  account: Account | undefined;
  /** Where several users have the typed name: the usernames of the first ones. */
  sameName: readonly string[];
}

export type FindTypedUser = (text: string, by: Actor) => Promise<TypedUser>;

/** So many usernames are named at once. */
const MAX_NAMED = 5;

/**
 * Returns the function that finds a user by id, username or email address, then by a label such as `Bo Berg (bo@example.com)`, then
 * by the full name among the users that the actor may read.
 */
export function createTypedUsers({ accounts, users }: { accounts: Accounts; users: UserAdmin }): FindTypedUser {
  return async (text, by) => {
    const [, login] = /\(([^()]+)\)$/.exec(text) ?? [];
    const account =
      (await accounts.find(text)) ??
      (await accounts.findByLogin(text)) ??
      (login === undefined ? undefined : await accounts.findByLogin(login));
    if (account) return { account, sameName: [] };
    const named = (await users.list({ name: text, sort: 'name', limit: MAX_NAMED + 1 }, by)).accounts;
    const [only, ...others] = named;
    if (only && others.length === 0) return { account: await accounts.find(only.id), sameName: [] };
    return { account: undefined, sameName: named.map(({ username }) => username).sort() };
  };
}

/** The name with what tells the person from another one of that name, such as `Bo Berg (bo@example.com)`. */
function labelOfUser({ name, username, email }: Account): string {
  return name ? `${name} (${email ?? username})` : username;
}

/** What a field displays and sends after its text was looked up: the label and the username of the user, or the text where it names nobody. */
export function typedUserValue(text: string, found: TypedUser | undefined): NamedField {
  const account = found?.account;
  return account ? { value: labelOfUser(account), sends: account.username } : { value: text };
}

/** The filter of a list by a user. */
export const userFilter = (text: PageText, user: NamedField): Field => ({
  name: 'user',
  label: text,
  ...user,
  suggest: 'users',
  isLabelHidden: true,
  placeholder: text,
});

/** The user whom this text of a form names. Throws invalid_input for the field. */
export async function userNamed(
  find: FindTypedUser,
  text: string,
  by: Actor,
  path: readonly string[],
): Promise<Account> {
  if (text === '') throw invalidInput([fault([...path], 'empty')]);
  const found = await find(text, by);
  if (found.account) return found.account;
  const unknown = sameNameText(text, found) ?? t('console.groups.no-such-user', { user: text });
  throw invalidInput([textFault([...path], unknown)]);
}

/** What a page says about several users of that name; undefined where no user has it. */
export function sameNameText(user: string, { sameName }: TypedUser): Text | undefined {
  if (sameName.length === 0) return undefined;
  if (sameName.length > MAX_NAMED) return t('console.suggestions.same-name-many', { user, count: MAX_NAMED });
  return t('console.suggestions.same-name', { user, usernames: listOf(sameName) });
}
