// Which roles and permissions of an account one application sees, and under which names. Applied before claims and
// attributes are built, so that OIDC, SAML and every claim that contains roles agree.
import type { Account } from './account.ts';

export interface AccountView {
  /** Names, or patterns with a star such as `wiki-*`; all roles when absent. */
  roles_filter?: string[] | undefined;
  /** Keys are roles; values are the names that the application sees instead. */
  roles_rename?: Record<string, string> | undefined;
  /** The same for permissions (`resource:action`). When absent: all but the permissions in Gatehouse itself. */
  permissions_filter?: string[] | undefined;
}

/** The account as the application sees it. */
export function withVisibleRoles(account: Account, view: AccountView | undefined): Account {
  const { roles_filter, roles_rename = {}, permissions_filter } = view ?? {};
  const roles = account.roles.filter((name) => matchesAny(name, roles_filter));
  const renamed = roles.map((name) => (Object.hasOwn(roles_rename, name) ? (roles_rename[name] ?? name) : name));
  return {
    ...account,
    roles: [...new Set(renamed)].sort(),
    permissions: account.permissions.filter((name) => isVisiblePermission(name, permissions_filter)),
  };
}

/** Permissions in Gatehouse itself (rbac/built-in.ts). */
const GATEHOUSE = 'gatehouse.';

/**
 * Whether an application may learn of this permission of a user. Those in Gatehouse itself would tell it whom to attack: it learns
 * of them only by a pattern of its filter that names `gatehouse.`.
 */
export function isVisiblePermission(name: string, patterns: readonly string[] | undefined): boolean {
  if (!name.startsWith(GATEHOUSE)) return matchesAny(name, patterns);
  return matchesAny(name, patterns?.filter(isGatehousePattern) ?? []);
}

/** Whether the pattern of a filter shows permissions in Gatehouse itself. */
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
