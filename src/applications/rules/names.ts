// Where a registration names a role or a group: in rules for paths, in filters of what it receives, and in its own names for roles. The access
// rule refers to them by id (setAccess in applications.ts).

import type { NameChanged } from '../../people/rbac/assign-roles.ts';
import type { OidcMetadata } from '../fields/oidc-client.ts';
import type { ProxiedSettings } from '../fields/proxied-application.ts';

type Metadata = Partial<OidcMetadata> & Partial<ProxiedSettings>;

/**
 * The registration with the new name, or without the old one, whose next holder is another role or group. A rule for a path that names
 * nothing any more lets nobody in. Patterns with a star stay as they are.
 */
export function withChangedName<T extends Metadata>(
  metadata: T,
  { kind, before, after }: Parameters<NameChanged>[0],
): T {
  const changed = (name: string) => (name === before ? (after ?? []) : name);
  const list = (names: readonly string[]) => [...new Set(names.flatMap(changed))];
  const { paths, roles_filter, roles_rename, groups_filter, groups_as } = metadata;
  const key = kind === 'role' ? 'roles' : 'groups';
  const next: Metadata = {};
  if (paths)
    next.paths = paths.map((one) =>
      typeof one.rule === 'string' ? one : { ...one, rule: { ...one.rule, [key]: list(one.rule[key]) } },
    );
  if (kind === 'role') {
    if (roles_filter) next.roles_filter = list(roles_filter);
    if (roles_rename) next.roles_rename = withChangedKey(roles_rename, before, after);
  } else if (groups_filter && groups_as !== 'id') {
    next.groups_filter = groups_as === 'path' ? pathPatterns(groups_filter, before, after) : list(groups_filter);
  }
  return { ...metadata, ...next };
}

function withChangedKey(names: Readonly<Record<string, string>>, before: string, after: string | undefined) {
  const { [before]: own, ...others } = names;
  if (own === undefined || after === undefined) return others;
  return { ...others, [after]: own };
}

/** The parts of `/Science/Physics`, each the name of a group; a deleted group is in no path. */
function pathPatterns(patterns: readonly string[], before: string, after: string | undefined): string[] {
  return patterns.flatMap((pattern) => {
    const parts = pattern.split('/');
    if (!parts.includes(before)) return pattern;
    return after === undefined ? [] : parts.map((part) => (part === before ? after : part)).join('/');
  });
}

/** Whether a rule for a path names this role or group. */
export function isNamedByPaths({ paths = [] }: Metadata, kind: 'role' | 'group', name: string): boolean {
  const key = kind === 'role' ? 'roles' : 'groups';
  return paths.some(({ rule }) => typeof rule !== 'string' && rule[key].includes(name));
}
