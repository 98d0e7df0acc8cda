// The roles, permissions and groups of an account that one application receives, and their names there. Applied before claims and
// attributes are built, so that OIDC and SAML deliver the same.
import type { Account, NamedGroup } from './account.ts';

export interface AccountView {
  /** Names, or patterns with a star such as `wiki-*`; all roles when absent. */
  roles_filter?: string[] | undefined;
  /** Keys are roles; values are the names that the application receives instead. */
  roles_rename?: Record<string, string> | undefined;
  /** The same for permissions (`resource:action`). When absent: all except the permissions for Gatehouse itself. */
  permissions_filter?: string[] | undefined;
  /** The same for groups, by what `groups_as` says. */
  groups_filter?: string[] | undefined;
  /** What names a group; its name when absent. */
  groups_as?: 'name' | 'path' | 'id' | undefined;
  /** Only the groups that the user is a member of, not those above them. */
  groups_direct?: boolean | undefined;
}

/** An account as one application sees it. */
export interface VisibleAccount extends Account {
  /** What the application receives of the groups; undefined: they are more than an answer may hold. */
  groupNames: string[] | undefined;
}

/**
 * The account with the roles, permissions and groups that the application receives.
 * @param mostGroups more are left out altogether and announced by `groups_overage`: a part of them would be a wrong answer
 */
export function withVisibleRoles(
  account: Account,
  view: AccountView | undefined,
  mostGroups = Number.POSITIVE_INFINITY,
): VisibleAccount {
  const groups = visibleGroups(account.groups, view);
  return {
    ...account,
    groupNames: groups.length > mostGroups ? undefined : groups,
    roles: visibleRoles(account.roles, view),
    permissions: account.permissions.filter((name) => isVisiblePermission(name, view?.permissions_filter)),
  };
}

/** The names that the application receives for these roles, sorted. */
export function visibleRoles(roles: readonly string[], view: AccountView | undefined): string[] {
  const { roles_filter, roles_rename = {} } = view ?? {};
  const visible = roles.filter((name) => matchesAny(name, roles_filter));
  const renamed = visible.map((name) => (Object.hasOwn(roles_rename, name) ? (roles_rename[name] ?? name) : name));
  return [...new Set(renamed)].sort();
}

/** What the application receives of these groups, sorted. A group is one of an account, or stands for itself. */
export function visibleGroups(
  groups: readonly (NamedGroup & { isDirect?: boolean })[],
  view: AccountView | undefined,
): string[] {
  const { groups_filter, groups_as = 'name', groups_direct = false } = view ?? {};
  const names = groups.filter(({ isDirect = true }) => isDirect || !groups_direct).map((group) => group[groups_as]);
  return [...new Set(names)].filter((name) => matchesAny(name, groups_filter)).sort();
}

/** Permissions for Gatehouse itself (people/rbac/built-in.ts). */
const GATEHOUSE = 'gatehouse.';

/**
 * Whether an application may receive this permission of a user. Permissions for Gatehouse itself identify accounts that are worth
 * an attack, so they need a pattern in its filter that names `gatehouse.`.
 */
export function isVisiblePermission(name: string, patterns: readonly string[] | undefined): boolean {
  if (!name.startsWith(GATEHOUSE)) return matchesAny(name, patterns);
  return matchesAny(name, patterns?.filter(isGatehousePattern) ?? []);
}

/** Whether the pattern of a filter matches permissions for Gatehouse itself. */
export const isGatehousePattern = (pattern: string): boolean => pattern.startsWith(GATEHOUSE);

/** Whether one of the patterns matches; without patterns everything matches. */
export function matchesAny(name: string, patterns: readonly string[] | undefined): boolean {
  if (!patterns) return true;
  return patterns.some((pattern) => {
    const star = pattern.indexOf('*');
    if (star < 0) return pattern === name;
    const [begin, end] = [pattern.slice(0, star), pattern.slice(star + 1)];
    return name.length >= begin.length + end.length && name.startsWith(begin) && name.endsWith(end);
  });
}
