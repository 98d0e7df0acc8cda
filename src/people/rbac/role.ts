// A role as the rest of the code sees it, and how it is read from its rows.
import { notFound } from '../../base/http/errors.ts';
import type { Db, Tx } from '../../base/storage/database.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import { builtInRoles, isStaff } from './built-in.ts';

export type RoleSource = 'local' | 'file' | 'built-in';

export interface Role {
  id: string;
  name: string;
  description: string;
  source: RoleSource;
  /** `resource:action`, sorted. */
  permissions: string[];
}

export interface NewRole {
  name: string;
  description?: string;
  permissions?: readonly string[];
  source?: RoleSource;
}

/** It gives a permission in Gatehouse. */
export const isSensitiveRole = ({ name, permissions }: Pick<Role, 'name' | 'permissions'>): boolean =>
  isStaff({ roles: [name], permissions });

/** For pages: that of a built-in role is in the language of the page. */
export function descriptionOf({ name, description, source }: Role): PageText {
  const builtIn = source === 'built-in' ? builtInRoles.find((one) => one.name === name) : undefined;
  return builtIn?.description ?? description;
}

const withPermissions = { permissions: { select: { permission: true } } } as const;

export async function findRole(name: string, tx: Tx): Promise<Role | undefined> {
  const row = await tx.role.findUnique({ where: { name }, include: withPermissions });
  return row ? toRole(row) : undefined;
}

/** By name; throws not_found (404). */
export async function roleNamed(name: string, tx: Tx): Promise<Role> {
  const { mac: _mac, ...role } = await roleWithMac({ name }, tx);
  return role;
}

/** By id; throws not_found (404). */
export async function roleById(id: string, tx: Tx): Promise<Role> {
  const { mac: _mac, ...role } = await roleWithMac({ id }, tx);
  return role;
}

/** With the MAC of its row. Throws not_found (404). */
export async function roleWithMac(by: { id: string } | { name: string }, tx: Tx): Promise<Role & { mac: string }> {
  const row = await tx.role.findUnique({ where: by, include: withPermissions });
  if (row) return { ...toRole(row), mac: row.mac };
  if ('id' in by) throw notFound({ detail: { roleId: by.id } });
  throw notFound({ message: t('console.roles.error.unknown', by) });
}

/** Every role, by name. */
export async function listRoles(db: Db): Promise<Role[]> {
  const rows = await db.role.findMany({ include: withPermissions, orderBy: { name: 'asc' } });
  return rows.map(toRole);
}

function toRole(row: {
  id: string;
  name: string;
  description: string;
  source: string;
  permissions: { permission: { resource: string; action: string } }[];
}): Role {
  const { id, name, description, source } = row;
  const permissions = row.permissions.map(({ permission }) => `${permission.resource}:${permission.action}`).sort();
  return { id, name, description, source: source as RoleSource, permissions };
}
