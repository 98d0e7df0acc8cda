// One group for a sign-in, as customers of a hosted application need it: the request names it (`group`), or the user chooses (`ask_group`).
// The engine stores the parameter `claims` with codes, device codes and tokens, so the id of the group is a member of it, as
// `claims_locales` is (scopes.ts). This server writes the member at each authorization; what a client sends under its name is dropped.
import { accessDecision, grantingGroups, grantingRoles } from '../../../applications/access-decision.ts';
import type { Access } from '../../../applications/fields/oidc-client.ts';
import type { Tx } from '../../../base/storage/database.ts';
import type { BrokenRule } from '../../../core/rejections/rules.ts';
import type { Account, AccountGroup } from '../../../people/accounts/account.ts';
import { type AccountView, visibleGroups } from '../../../people/accounts/visible-roles.ts';
import { idsAbove, rolesConferred } from '../../../people/groups/rights.ts';
import type { KoaContextWithOIDC } from '../engine/library.ts';
import type { ClientApplication } from '../store/clients.ts';

const MEMBER = 'chosen_group';

/** An account as it signs in for one of its groups. */
export type AccountInGroup = Account & { group?: { id: string; name: string } };

/** What of an application decides which groups it offers. */
export interface OfferingApplication {
  access: Access;
  metadata: AccountView;
}

/** The answer to the step "Continue as". */
export interface ChosenGroup {
  id: string;
  /** Who chose it: after it, another account may sign in. */
  accountId: string;
}

/** What a request comes to for this account: the account, for one group or for all; a choice to make; or a rejection. */
export type GroupChoice = { account: AccountInGroup } | { choices: AccountGroup[] } | { rule: BrokenRule };

/** The id of the group that a code or token was issued for. */
export function chosenGroupOf(source: object | undefined): string | undefined {
  const { claims } = (source ?? {}) as { claims?: Record<string, unknown> };
  const id = claims?.[MEMBER];
  return typeof id === 'string' ? id : undefined;
}

/** `claims` of a code or token for this group; undefined: for no single one. */
export function withChosenGroup(claims: object, id: string | undefined): object {
  const { [MEMBER]: _sent, ...others } = claims as Record<string, unknown>;
  return id === undefined ? others : { id_token: {}, ...others, [MEMBER]: id };
}

/**
 * The account with this group and those above it, and with the roles and permissions that they give; undefined for an account that is not in
 * it now.
 */
export async function inGroup(account: Account, groupId: string, tx: Tx): Promise<AccountInGroup | undefined> {
  const group = account.groups.find(({ id }) => id === groupId);
  if (!group) return undefined;
  const above = await idsAbove([groupId], tx);
  // What another program wrote is not among the roles of the account.
  const conferred = (await rolesConferred([groupId], tx)).filter(({ name }) => account.roles.includes(name));
  const permissions = new Set(conferred.flatMap((role) => role.permissions));
  return {
    ...account,
    roles: account.roles.filter((name) => conferred.some((role) => role.name === name)),
    permissions: account.permissions.filter((permission) => permissions.has(permission)),
    groups: account.groups.filter(({ id }) => above.includes(id)),
    group: { id: group.id, name: group.name },
  };
}

/**
 * The account for the group that the request names or the user chose. A named group that does not exist, that the account is not in, that
 * the application may not see or that does not open it is one rejection: the answer does not tell which.
 */
export async function chooseGroup(
  { oidc: { params, result } }: KoaContextWithOIDC,
  application: ClientApplication,
  account: Account,
  tx: Tx,
): Promise<GroupChoice> {
  if (application.protocol === 'saml') return { account };
  const wanted = params?.group;
  if (typeof wanted === 'string' && wanted !== '') {
    const seen = account.groups.filter((group) => isVisible(group, application));
    const named = seen.find(({ id }) => id === wanted) ?? seen.find(({ name }) => name === wanted);
    const member = named && (await inGroup(account, named.id, tx));
    return member && accessDecision(application, member).allowed ? { account: member } : rejected(wanted);
  }
  if (application.metadata.ask_group !== true) return { account };
  const choices = await groupsToChoose(application, account, tx);
  const [first] = choices;
  if (!first) return rejected(`${account.username} is in none`);
  const answer = result?.group as ChosenGroup | undefined;
  const chosen =
    choices.length === 1 ? first : choices.find(({ id }) => answer?.accountId === account.id && id === answer.id);
  if (!chosen) return { choices };
  const member = await inGroup(account, chosen.id, tx);
  return member ? { account: member } : { choices };
}

/**
 * The groups that the step offers, by name: those that the access rule names, and those that the account is a direct member of and whose
 * roles it names; of an application that is open to everyone, all that the account is a direct member of.
 */
export async function groupsToChoose(
  application: OfferingApplication,
  account: Account,
  tx: Tx,
): Promise<AccountGroup[]> {
  const { access } = application;
  const named = grantingGroups(access, account);
  const offered: AccountGroup[] = [];
  for (const group of account.groups) {
    if (!isVisible(group, application)) continue;
    const isOffered =
      access === 'everyone'
        ? group.isDirect
        : named.includes(group) || (await opensByRole(group, application, account, tx));
    if (isOffered) offered.push(group);
  }
  return offered;
}

async function opensByRole(group: AccountGroup, { access }: OfferingApplication, account: Account, tx: Tx) {
  if (!group.isDirect || grantingRoles(access, account).length === 0) return false;
  const member = await inGroup(account, group.id, tx);
  return member !== undefined && grantingRoles(access, member).length > 0;
}

/** By `groups_filter`, also where the application receives no list of groups. */
const isVisible = (group: AccountGroup, { metadata }: OfferingApplication): boolean =>
  visibleGroups([group], { ...metadata, groups_direct: false }).length > 0;

const rejected = (received: string): GroupChoice => ({
  rule: { rule: 'group', received, expected: 'a group of the user that opens the application' },
});
