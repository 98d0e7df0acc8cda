// `roles`: the roles and their permissions.
import { fault } from '../../base/texts/faults.ts';
import { lookAlike } from '../../people/rbac/names.ts';
import { missingReads, parseLimited } from '../../people/rbac/rights.ts';
import type { Role } from '../../people/rbac/roles.ts';
import { differences, type Planned, type Planning, planEntries, unknownRoles } from '../planning.ts';

export async function planRoles(planning: Planning): Promise<Planned> {
  const { roles, declared } = planning;
  const stored = await roles.list();
  const builtIn = stored.filter(({ source }) => source === 'built-in').map(({ name }) => name);
  return planEntries({
    section: 'roles',
    declared: declared.roles,
    stored: new Map(stored.map((role) => [role.name, role])),
    nameOf: ({ name }) => name,
    compare({ name, description, permissions: given }, take) {
      const existing = take(name);
      if (existing?.source === 'built-in') return { faults: [fault(['name'], 'built-in-role')] };
      const alike = lookAlike(name, builtIn);
      const permissions = [...new Set(given)].sort();
      const wanted = { description, permissions, source: 'file' as const };
      const before = existing ? { description: existing.description, permissions: existing.permissions } : {};
      return {
        name,
        faults: [
          ...(alike === undefined ? [] : [fault(['name'], 'like-built-in-role', { role: alike })]),
          ...given.flatMap((permission, index) => {
            const limit = parseLimited(permission)?.limit;
            return limit?.kind === 'role' ? unknownRoles([limit.name], planning, ['permissions', index]) : [];
          }),
        ],
        warnings: missingReads(permissions).map(
          ({ read, neededBy }) =>
            `the role ${name} has ${neededBy.join(', ')} without ${read}: its pages find nothing to act on`,
        ),
        fields: differences(before, { description, permissions }),
        store: (tx) => (existing ? roles.update(name, wanted, {}, tx) : roles.create({ name, ...wanted }, {}, tx)),
      };
    },
    remove: ({ name }, tx) => roles.remove(name, {}, tx),
  });
}

export function exportRoles(roles: readonly Role[]) {
  return roles
    .filter(({ source }) => source !== 'built-in')
    .map(({ name, description, permissions }) => ({
      name,
      ...(description !== '' && { description }),
      ...(permissions.length > 0 && { permissions }),
    }));
}
