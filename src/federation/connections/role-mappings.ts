// Groups of the upstream that give roles. Each row has a MAC, so that a database writer cannot map a group to a role.

import { conflict, invalidInput } from '../../base/http/errors.ts';
import type { Tx } from '../../base/storage/database.ts';
import { fault } from '../../base/texts/faults.ts';
import { isGenuineRole } from '../../people/rbac/protected-grants.ts';
import { findRole } from '../../people/rbac/role.ts';
import type { Change, ConnectionsContext } from './context.ts';

export interface RoleMapping {
  group: string;
  roleId: string;
  role: string;
}

type MappingsContext = Pick<ConnectionsContext, 'assertMay'>;

/** The mappings that this server wrote, by group and role. */
export async function listRoleMappings(connectionId: string, tx: Tx): Promise<RoleMapping[]> {
  const rows = await tx.connectionRoleMapping.findMany({
    where: { connectionId },
    select: { group: true, roleId: true, role: { select: { name: true } } },
    orderBy: [{ group: 'asc' }, { roleId: 'asc' }],
  });
  return rows.map(({ group, roleId, role }) => ({ group, roleId, role: role.name }));
}

/** As an entry declares them: group -> roles, sorted. */
export function declaredMappings(mappings: readonly RoleMapping[]): Record<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { group, role } of mappings) groups.set(group, [...(groups.get(group) ?? []), role].sort());
  return Object.fromEntries([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Makes these the mappings of a connection. Throws invalid_input (400) for an unknown role, and forbidden (403) for one that the
 * actor may not give: a mapping gives it to every member of the group.
 */
export async function setRoleMappings(
  context: MappingsContext,
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
