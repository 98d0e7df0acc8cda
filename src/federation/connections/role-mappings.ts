// Groups of the upstream that give roles, and that are groups here. Each row has a MAC, so that a database writer cannot map a group to a role.

import { conflict, invalidInput } from '../../base/http/errors.ts';
import type { Tx } from '../../base/storage/database.ts';
import { fault } from '../../base/texts/faults.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { rolesConferred } from '../../people/groups/rights.ts';
import type { People } from '../../people/people.ts';
import { isGenuineRole } from '../../people/rbac/protected-grants.ts';
import { findRole, isSensitiveRole } from '../../people/rbac/role.ts';
import type { Change, ConnectionsContext } from './context.ts';

/** A group of the upstream, and a role or group here that it gives. */
export interface Mapping {
  upstream: string;
  id: string;
  name: string;
}

export interface Mappings {
  roleMappings: readonly Mapping[];
  groupMappings: readonly Mapping[];
}

/** The mappings that this server wrote, in the order of the groups of the upstream. */
export async function listMappings(connectionId: string, tx: Tx): Promise<Mappings> {
  const named = { select: { id: true, name: true } };
  const roles = await tx.connectionRoleMapping.findMany({
    where: { connectionId },
    select: { group: true, role: named },
    orderBy: [{ group: 'asc' }, { roleId: 'asc' }],
  });
  const groups = await tx.connectionGroupMapping.findMany({
    where: { connectionId },
    select: { upstream: true, group: named },
    orderBy: [{ upstream: 'asc' }, { groupId: 'asc' }],
  });
  return {
    roleMappings: roles.map(({ group: upstream, role }) => ({ upstream, ...role })),
    groupMappings: groups.map(({ upstream, group }) => ({ upstream, ...group })),
  };
}

/** As an entry declares them: group of the upstream -> names of roles or groups, sorted. */
export function declaredMappings(mappings: readonly Omit<Mapping, 'id'>[]): Record<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { upstream, name } of mappings) groups.set(upstream, [...(groups.get(upstream) ?? []), name].sort());
  return Object.fromEntries([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What these groups of the upstream give: names by identifier. */
export function mapped(groups: readonly string[], mappings: readonly Mapping[]): Map<string, string> {
  const held = new Set(groups);
  return new Map(mappings.filter(({ upstream }) => held.has(upstream)).map(({ id, name }) => [id, name]));
}

/** Sets the roles and groups that the user has by the connection to what these groups of the upstream give. True when that changed any. */
export async function giveMapped(
  { groups, setConnectionRoles }: People,
  { connectionId, userId }: { connectionId: string; userId: string },
  names: readonly string[],
  { roleMappings, groupMappings }: Mappings,
  by: Actor,
  tx: Tx,
): Promise<boolean> {
  const roleIds = [...mapped(names, roleMappings).keys()];
  const roles = await setConnectionRoles(userId, { connectionId, roleIds }, by, tx);
  const groupIds = [...mapped(names, groupMappings).keys()];
  const { request } = by; // the server decides, not the user
  const moved = await groups.setMemberships(userId, `connection:${connectionId}`, groupIds, { by: { request }, tx });
  return [roles, moved].some(({ added, removed }) => added.length + removed.length > 0);
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
  const { groupMappings: before } = await listMappings(connectionId, tx);
  const rows: { connectionId: string; upstream: string; groupId: string }[] = [];
  for (const [upstream, names] of Object.entries(declared))
    for (const name of new Set(names)) {
      const group = await tx.group.findFirst({ where: { name }, select: { id: true } });
      if (!group) throw invalidInput([fault([`group_mappings.${upstream}`], 'unknown-group', { groups: name })]);
      rows.push({ connectionId, upstream, groupId: group.id });
    }
  for (const { upstream, groupId } of rows) {
    if (before.some((one) => one.id === groupId && one.upstream === upstream)) continue;
    const roles = await rolesConferred([groupId], tx);
    await context.assertMay(by, { what: 'group', roles }, tx);
    if (roles.some(isSensitiveRole)) throw conflict('group_sensitive');
    for (const role of roles) if (!(await isGenuineRole(role, tx))) throw conflict('changed_outside');
  }
  await tx.connectionGroupMapping.deleteMany({ where: { connectionId } });
  if (rows.length > 0) await tx.connectionGroupMapping.createMany({ data: rows });
}
