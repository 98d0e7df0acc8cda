// Plans the roles and their permissions: the file's declarations against the stored ones.
import { inTurns } from '../../base/platform/turns.ts';
import { lookAlike } from '../../people/rbac/names.ts';
import { missingReads, parseLimited } from '../../people/rbac/rights.ts';
import type { Role, Roles } from '../../people/rbac/roles.ts';
import type { DeclaredRole } from '../schema.ts';
import { differences, nothingPlanned, type Planned, type Step, takeOver } from './steps.ts';

export async function planRoles(
  declared: readonly DeclaredRole[],
  stored: readonly Role[],
  roles: Roles,
): Promise<Planned> {
  const plan = nothingPlanned();
  const remaining = stored.filter(({ source }) => source !== 'file');
  const known = new Set([...declared, ...remaining].map(({ name }) => name));
  const builtInNames = stored.filter(({ source }) => source === 'built-in').map(({ name }) => name);
  const left = new Map(stored.map((role) => [role.name, role]));
  for await (const [index, { name, description, permissions: given }] of inTurns(declared.entries())) {
    const existing = left.get(name);
    left.delete(name);
    if (existing?.source === 'built-in') {
      plan.faults.push({
        path: ['roles', index, 'name'],
        message: 'is a built-in role: it exists without being declared',
      });
      continue;
    }
    const builtIn = lookAlike(name, builtInNames);
    if (builtIn !== undefined)
      plan.faults.push({ path: ['roles', index, 'name'], message: `looks like the built-in role ${builtIn}` });
    const permissions = [...new Set(given)].sort();
    for (const [at, permission] of given.entries()) {
      const limit = parseLimited(permission)?.limit;
      if (limit?.kind !== 'role' || known.has(limit.name)) continue;
      plan.faults.push({
        path: ['roles', index, 'permissions', at],
        message: `this role doesn’t exist: ${limit.name}`,
      });
    }
    for (const { read, neededBy } of missingReads(permissions))
      plan.warnings.push(
        `the role ${name} has ${neededBy.join(', ')} without ${read}: its pages find nothing to act on`,
      );
    const wanted = { description, permissions, source: 'file' as const };
    const before = existing ? { description: existing.description, permissions: existing.permissions } : {};
    const fields = [...differences(before, { description, permissions }), ...takeOver(existing?.source ?? 'file')];
    if (existing && fields.length === 0) {
      plan.unchanged += 1;
      continue;
    }
    const run: Step['run'] = async (tx) => {
      if (existing) await roles.update(name, wanted, {}, tx);
      else await roles.create({ name, ...wanted }, {}, tx);
    };
    plan.steps.push({ kind: existing ? 'change' : 'create', section: 'roles', name, fields, run });
  }
  for (const { name, source } of left.values()) {
    if (source !== 'file') continue;
    const run: Step['run'] = (tx) => roles.remove(name, {}, tx);
    plan.steps.push({ kind: 'delete', section: 'roles', name, fields: [], run });
  }
  return plan;
}
