// The MACs of roles, which cover their permissions, the rows of another table (base/storage/protected-rows.ts). people/accounts/account.ts
// verifies them, too.

import type { Tx } from '../../base/storage/database.ts';
import { type Role, roleById, roleWithMac } from './role.ts';

/** Stores the MAC of a role's name and permissions; call it after each change of either. */
export async function protectRole(
  { id, name, permissions }: Pick<Role, 'id' | 'name' | 'permissions'>,
  tx: Tx,
): Promise<void> {
  const mac = tx.macs.macOf('roles', { id, name, permissions });
  await tx.role.update({ where: { id }, data: { mac }, select: { id: true } });
}

/** A role before a change, and whether this server wrote it. */
export interface StoredRole {
  role: Role;
  isGenuine: boolean;
}

/** Throws not_found (404); raises an alarm for a role that another program wrote. */
export async function storedRole(by: { id: string } | { name: string }, tx: Tx): Promise<StoredRole> {
  const { mac, ...role } = await roleWithMac(by, tx);
  const { id, name, permissions } = role;
  return { role, isGenuine: tx.macs.isGenuine('roles', { id, name, permissions }, mac) };
}

/** Runs a change of the permissions of these roles, and stores the MACs of those that this server wrote before. */
export async function withNewRoleMacs(roleIds: readonly string[], tx: Tx, change: () => Promise<void>): Promise<void> {
  const genuine: string[] = [];
  for (const id of roleIds) if (await isGenuineRole(await roleById(id, tx), tx)) genuine.push(id);
  await change();
  for (const id of genuine) await protectRole(await roleById(id, tx), tx);
}

/** Whether this server wrote the role with these permissions; raises an alarm if not. */
export async function isGenuineRole({ id, name, permissions }: Role, tx: Tx): Promise<boolean> {
  const { mac } = await tx.role.findUniqueOrThrow({ where: { id }, select: { mac: true } });
  return tx.macs.isGenuine('roles', { id, name, permissions }, mac);
}
