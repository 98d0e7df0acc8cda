// `roles`: the roles and their permissions.

import type { Db } from '../../base/storage/database.ts';
import { fault } from '../../base/texts/faults.ts';
import { lookAlike } from '../../people/rbac/names.ts';
import { missingReads, parseLimited } from '../../people/rbac/rights.ts';
import { type Role, withGroupNames } from '../../people/rbac/roles.ts';
import { differences, type Planned, type Planning, planEntries, unknownRoles } from '../planning.ts';
import { role as roleSchema, withoutDefaults } from '../schema.ts';

export async function planRoles(planning: Planning): Promise<Planned> {
  const { db, roles, declared } = planning;
  const stored: Role[] = [];
  for (const role of await roles.list())
    stored.push({ ...role, permissions: await withGroupNames(role.permissions, db) });
  const groups = new Set((await db.group.findMany({ select: { name: true } })).map(({ name }) => name));
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
      // A permission that is limited to a group waits until the file has made the group.
      const ready = permissions.filter((text) => {
        const limit = parseLimited(text)?.limit;
        return limit?.kind !== 'group' || groups.has(limit.name);
      });
      return {
        name,
        faults: [
          ...(alike === undefined ? [] : [fault(['name'], 'like-built-in-role', { role: alike })]),
          ...given.flatMap((permission, index) => {
            const limit = parseLimited(permission)?.limit;
            if (limit?.kind === 'group' && !planning.groupNames.has(limit.name))
              return [fault(['permissions', index], 'unknown-group', { groups: limit.name })];
            return limit?.kind === 'role' ? unknownRoles([limit.name], planning, ['permissions', index]) : [];
          }),
        ],
        warnings: missingReads(permissions).map(
          ({ read, neededBy }) =>
            `the role ${name} has ${neededBy.join(', ')} without ${read}: its pages find nothing to act on`,
        ),
        fields: differences(before, { description, permissions }),
        store(tx) {
          const now = { ...wanted, permissions: ready };
          return existing ? roles.update(name, now, {}, tx) : roles.create({ name, ...now }, {}, tx);
        },
        ...(ready.length < permissions.length && { afterwards: [(tx) => roles.update(name, wanted, {}, tx)] }),
      };
    },
    remove: ({ name }, tx) => roles.remove(name, {}, tx),
  });
}

export async function exportRoles(roles: readonly Role[], db: Db) {
  const written: Role[] = [];
  for (const role of roles) written.push({ ...role, permissions: await withGroupNames(role.permissions, db) });
  return written
    .filter(({ source }) => source !== 'built-in')
    .map(({ name, description, permissions }) => ({
      name,
      ...withoutDefaults({ description, permissions }, roleSchema.parse({ name })),
    }));
}
