// Groups of the upstream that give roles, and that are groups here. Each row has a MAC, so that a database writer cannot map a group to a role.

import { conflict, invalidInput } from '../../base/http/errors.ts';
import type { Tx } from '../../base/storage/database.ts';
import { fault } from '../../base/texts/faults.ts';
import { rolesConferred } from '../../people/groups/rights.ts';
import { isGenuineRole } from '../../people/rbac/protected-grants.ts';
import { findRole, isSensitiveRole } from '../../people/rbac/role.ts';
import type { Change, ConnectionsContext } from './context.ts';

export interface RoleMapping {
  group: string;
  roleId: string;
  role: string;
}

/** The mappings that this server wrote, by group and role. */
export async function listRoleMappings(connectionId: string, tx: Tx): Promise<RoleMapping[]> {
  const rows = await tx.connectionRoleMapping.findMany({
    where: { connectionId },
    select: { group: true, roleId: true, role: { select: { name: true } } },
    orderBy: [{ group: 'asc' }, { roleId: 'asc' }],
  });
  return rows.map(({ group, roleId, role }) => ({ group, roleId, role: role.name }));
}

/** As an entry declares them: group of the upstream -> names of roles or groups, sorted. */
export function declaredMappings(
  mappings: readonly (readonly [group: string, name: string])[],
): Record<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [group, name] of mappings) groups.set(group, [...(groups.get(group) ?? []), name].sort());
  return Object.fromEntries([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Makes these the mappings of a connection. Throws invalid_input (400) for an unknown role, and forbidden (403) for one that the
 * actor may not give: a mapping gives it to every member of the group.
 */
export async function setRoleMappings(
  context: ConnectionsContext,
  connectionId: string,
  declared: Record<string, readonly string[]>,
  { by = {} }: Change,
  tx: Tx,
): Promise<void> {
  const rows: { connectionId: string; group: string; roleId: string }[] = [];
  for (const [group, names] of Object.entries(declared)) {
    for (const name of new Set(names)) {
      const role = await findRole(name, tx);
      if (!role) {
        throw invalidInput([fault([`role_mappings.${group}`], 'unknown-role', { roles: name })]);
      }
      await context.assertMay(by, { what: 'role', role }, tx);
      if (!(await isGenuineRole(role, tx))) throw conflict('changed_outside');
      rows.push({ connectionId, group, roleId: role.id });
    }
  }
  await tx.connectionRoleMapping.deleteMany({ where: { connectionId } });
  if (rows.length > 0) await tx.connectionRoleMapping.createMany({ data: rows });
}

export interface GroupMapping {
  /** The name at the upstream. */
  upstream: string;
  groupId: string;
  group: string;
}

/** The mappings to groups that this server wrote. */
export async function listGroupMappings(connectionId: string, tx: Tx): Promise<GroupMapping[]> {
  const rows = await tx.connectionGroupMapping.findMany({
    where: { connectionId },
    select: { upstream: true, groupId: true, group: { select: { name: true } } },
    orderBy: [{ upstream: 'asc' }, { groupId: 'asc' }],
  });
  return rows.map(({ upstream, groupId, group }) => ({ upstream, groupId, group: group.name }));
}

/**
 * Makes these the mappings to groups. Throws invalid_input (400) for an unknown group, forbidden (403) as for its roles, and group_sensitive
 * (409) for one that gives a permission in Gatehouse.
 */
export async function setGroupMappings(
  context: ConnectionsContext,
  connectionId: string,
  declared: Record<string, readonly string[]>,
  { by = {} }: Change,
  tx: Tx,
): Promise<void> {
  const before = await listGroupMappings(connectionId, tx);
  const rows: { connectionId: string; upstream: string; groupId: string }[] = [];
  for (const [upstream, names] of Object.entries(declared))
    for (const name of new Set(names)) {
      const group = await tx.group.findFirst({ where: { name }, select: { id: true } });
      if (!group) throw invalidInput([fault([`group_mappings.${upstream}`], 'unknown-group', { groups: name })]);
      rows.push({ connectionId, upstream, groupId: group.id });
    }
  const keyOf = ({ upstream, groupId }: { upstream: string; groupId: string }) => `${groupId} ${upstream}`;
  const known = new Set(before.map(keyOf));
  for (const row of rows) {
    if (known.has(keyOf(row))) continue;
    const roles = await rolesConferred([row.groupId], tx);
    await context.assertMay(by, { what: 'group', roles }, tx);
    if (roles.some(isSensitiveRole)) throw conflict('group_sensitive');
    for (const role of roles) if (!(await isGenuineRole(role, tx))) throw conflict('changed_outside');
  }
  await tx.connectionGroupMapping.deleteMany({ where: { connectionId } });
  if (rows.length > 0) await tx.connectionGroupMapping.createMany({ data: rows });
}
