// The roles and permissions of an account that one application receives, and their names there. Applied before claims and
// attributes are built, so that OIDC and SAML deliver the same roles.
import type { Account } from './account.ts';

export interface AccountView {
  /** Names, or patterns with a star such as `wiki-*`; all roles when absent. */
  roles_filter?: string[] | undefined;
  /** Keys are roles; values are the names that the application receives instead. */
  roles_rename?: Record<string, string> | undefined;
  /** The same for permissions (`resource:action`). When absent: all except the permissions for Gatehouse itself. */
  permissions_filter?: string[] | undefined;
}

/** The account with the roles and permissions that the application receives. */
export function withVisibleRoles(account: Account, view: AccountView | undefined): Account {
  return {
    ...account,
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
