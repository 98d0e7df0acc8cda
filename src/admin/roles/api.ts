// /api/admin/roles, and /api/admin/permissions with the roles that have each.

import { z } from 'zod';
import { faultMessage } from '../../base/platform/fault-messages.ts';
import { isRoleName, parsePermission, permissionSchema, roleNameSchema } from '../../people/rbac/names.ts';
import { isBrokenLimit, LIMIT_SYNTAX } from '../../people/rbac/rights.ts';
import type { Role } from '../../people/rbac/roles.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { byId, paged, pageOf } from '../api/parts.ts';
import type { RoleAdmin } from './actions.ts';

const tag = 'Roles';
const readPermissions = ['gatehouse.roles:read'] as const;
const writePermissions = ['gatehouse.roles:write'] as const;

const role = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    source: z.enum(['local', 'file', 'built-in']).describe('file: declared in the configuration file'),
    permissions: z.array(z.string()).describe('resource:action'),
  })
  .meta({ id: 'Role' });
const fields = z.strictObject({
  name: z.string().refine(isRoleName, faultMessage('role-name')).meta(roleNameSchema),
  description: z.string().max(1000).optional(),
  permissions: z
    .array(
      z
        .string()
        .refine((text) => parsePermission(text) !== undefined, faultMessage('permission'))
        .refine((text) => !isBrokenLimit(text), LIMIT_SYNTAX)
        .meta(permissionSchema),
    )
    .max(500)
    .optional(),
});
const permission = z.object({ permission: z.string(), roles: z.array(z.string()) });

/** /roles and /permissions. */
export function roleEndpoints(roles: RoleAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/roles',
      operationId: 'listRoles',
      tag,
      needs: readPermissions,
      summary: 'The roles, by name',
      query: z.object(paged),
      response: pageOf(role),
      handle: async ({ query }) => ({ body: pageBy(await roles.list(), ({ name }) => name, query) }),
    }),
    endpoint({
      method: 'post',
      path: '/roles',
      operationId: 'createRole',
      tag,
      needs: writePermissions,
      summary: 'A new role',
      description:
        'Its permissions may be any resource:action that the caller has too. To change or give it afterwards takes the role itself, or gatehouse.roles:manage.',
      body: fields,
      response: role,
      status: 201,
      versioned: 'shows',
      idempotent: true,
      async handle({ body, by, record }) {
        const created = (made: Role) => ({ ...answer(made), location: `/roles/${made.id}` });
        return created(await roles.create(body, by, (made, tx) => record(created(made), tx)));
      },
    }),
    ...singleRoleEndpoints(roles),
    endpoint({
      method: 'get',
      path: '/permissions',
      operationId: 'listPermissions',
      tag,
      needs: readPermissions,
      summary: 'Every permission that a role has',
      query: z.object(paged),
      response: pageOf(permission),
      handle: async ({ query }) => ({ body: pageBy(await roles.permissions(), (one) => one.permission, query) }),
    }),
  ];
}

/** /roles/{id}. */
function singleRoleEndpoints(roles: RoleAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/roles/{id}',
      operationId: 'getRole',
      tag,
      needs: readPermissions,
      summary: 'One role',
      params: byId,
      response: role,
      versioned: 'shows',
      handle: async ({ params }) => answer(await roles.get(params.id)),
    }),
    endpoint({
      method: 'patch',
      path: '/roles/{id}',
      operationId: 'updateRole',
      tag,
      needs: writePermissions,
      summary: 'Changes the given fields; permissions are replaced as a whole',
      params: byId,
      body: fields.partial(),
      response: role,
      versioned: 'changes',
      handle: async ({ params, body, by, version }) => answer(await roles.update(params.id, body, by, version)),
    }),
    endpoint({
      method: 'delete',
      path: '/roles/{id}',
      operationId: 'deleteRole',
      tag,
      needs: writePermissions,
      summary: 'Deletes the role and takes it from every user',
      params: byId,
      versioned: 'changes',
      status: 204,
      handle: async ({ params, by, version }) => void (await roles.remove(params.id, by, version)),
    }),
  ];
}

function answer(role: Role) {
  return { body: role, version: role };
}

/** One page of a list that is read as a whole; `keyOf` gives the unique key that it is sorted by. */
function pageBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): { items: Item[]; next: string | null } {
  const after = cursor === undefined ? undefined : Buffer.from(cursor, 'base64url').toString();
  const sorted = [...items].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const rest = after === undefined ? sorted : sorted.filter((item) => keyOf(item) > after);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return { items: page, next: rest.length > limit && last ? Buffer.from(keyOf(last)).toString('base64url') : null };
}
