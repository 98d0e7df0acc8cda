// The groups for which an account can sign in to an application (`ask_group`, and the parameter `group` at the authorization endpoint).
import { inChunks } from '../base/storage/chunks.ts';
import type { Db, Tx } from '../base/storage/database.ts';
import { isStorable } from '../base/storage/storable-text.ts';
import type { Account, AccountGroup, NamedGroup } from '../people/accounts/account.ts';
import { type AccountView, visibleGroups } from '../people/accounts/visible-roles.ts';
import { idsAbove, rolesConferred } from '../people/groups/rights.ts';
import { accessDecisionFilter, grantingGroups, grantingRoles, missingGroups } from './access-decision.ts';
import { type Application, fromRow, idsMarked, withAccess } from './application.ts';
import type { Access } from './fields/oidc-client.ts';

/** An account as it signs in for one of its groups. */
export type AccountInGroup = Account & { group?: { id: string; name: string } };

/** What of an application decides which groups it offers. */
export interface OfferingApplication {
  access: Access;
  metadata: AccountView;
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

/**
 * The ids of the applications that ask for a group and are open to this account, which is in none that they offer: it can't sign in to
 * them, so lists leave them out.
 */
export async function withoutGroupToChoose(account: Account, db: Db): Promise<string[]> {
  // Without a look at the groups of the account: nearly always there are none.
  const rows = await inChunks(await idsMarked('askGroup', db), (some) =>
    db.application.findMany({
      where: { AND: [accessDecisionFilter(account), { id: { in: some } }] },
      include: withAccess,
    }),
  );
  const ids: string[] = [];
  for (const application of rows.map(fromRow)) {
    if (application.protocol !== 'oidc' || application.metadata.ask_group !== true) continue;
    if ((await groupsToChoose(application, account, db)).length === 0) ids.push(application.id);
  }
  return ids;
}

/**
 * The names of the groups that would admit the account, which is in none of them: those of the access rule. Where the application asks for a
 * group, only those that it would offer.
 */
export async function groupsThatAdmit(
  application: Pick<Application, 'protocol' | 'access' | 'metadata'>,
  account: Account,
  db: Db,
): Promise<string[]> {
  const { protocol, access, metadata } = application;
  const names = missingGroups(access, account);
  if (names.length === 0 || protocol !== 'oidc' || !('ask_group' in metadata && metadata.ask_group)) return names;
  const rows = await db.asStored.group.findMany({
    where: { name: { in: names.filter(isStorable) } },
    select: { id: true, name: true, path: true },
  });
  const offered = rows.filter((row) => isVisible(row, { access, metadata }));
  return names.filter((name) => offered.some((row) => row.name === name));
}

/** By `groups_filter`, also where the application receives no list of groups. */
export const isVisible = (group: NamedGroup, { metadata }: OfferingApplication): boolean =>
  visibleGroups([group], { ...metadata, groups_direct: false }).length > 0;
