// A program that can write to the database, but has no data key, gives itself rights by SQL.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAuthority, createPermissions, type Permissions } from '../../src/people/rbac/authority.ts';
import { createRoles, type Roles } from '../../src/people/rbac/roles.ts';
import { openPeople, type People } from '../accounts/fixture.ts';
import { servicesOf } from '../support/services-of.ts';

let people: People;
let roles: Roles;
let permissions: Permissions;
let attacker: string;
beforeAll(async () => {
  people = await openPeople();
  roles = createRoles({ ...servicesOf(people), ...people });
  permissions = createPermissions(people);
  await roles.ensureBuiltInRoles();
  await roles.create({ name: 'reader', permissions: ['articles:read'] });
});
afterAll(() => people.close());
beforeEach(async () => {
  attacker = (await people.person()).id;
  people.alarms.length = 0;
});

const idOf = async (name: string) => (await roles.find(name))?.id ?? '';
const rights = async () => {
  const account = await people.accounts.find(attacker);
  const everything = await createAuthority(people).rightsOfUser(attacker);
  return { roles: account?.roles, permissions: account?.permissions, everything };
};
const none = { roles: [], permissions: [], everything: [] };

describe('a grant in the database', () => {
  test('gives no right and raises an alarm when another program wrote it', async () => {
    await people.db.asStored.userRole.create({ data: { userId: attacker, roleId: await idOf('admin') } });
    expect(await rights()).toEqual(none);
    expect(await permissions.holds(attacker, 'gatehouse.users:write')).toBe(false);
    expect(people.alarms).toContain(`a row of user_roles was written by another program: ${attacker}`);
  });

  test('gives no right when it was copied from another user or moved to another role', async () => {
    const admin = await people.person();
    await roles.assign(admin.id, 'admin');
    const { mac } = await people.db.asStored.userRole.findFirstOrThrow({ where: { userId: admin.id } });
    await people.db.asStored.userRole.create({ data: { userId: attacker, roleId: await idOf('admin'), mac } });
    expect(await rights()).toEqual(none);
    await roles.assign(attacker, 'reader');
    expect(await rights()).toMatchObject({ roles: ['reader'] });
    await people.db.userRole.deleteMany({ where: { userId: attacker, roleId: await idOf('admin') } });
    await people.db.asStored.userRole.updateMany({
      where: { userId: attacker },
      data: { roleId: await idOf('admin') },
    });
    expect(await rights()).toEqual(none);
  });

  test('becomes genuine when it was forged and an administrator assigns the role', async () => {
    await people.db.asStored.userRole.create({ data: { userId: attacker, roleId: await idOf('reader') } });
    expect(await roles.assign(attacker, 'reader')).toBe(true);
    expect(await rights()).toMatchObject({ roles: ['reader'], permissions: ['articles:read'] });
  });
});

describe('a role in the database', () => {
  const restore = () => roles.update('reader', { permissions: ['articles:read'], description: String(people.now()) });

  test('gives no right when another program added a permission to it', async () => {
    await roles.assign(attacker, 'reader');
    const permission = await people.db.permission.findFirstOrThrow({
      where: { resource: 'gatehouse.users', action: 'write' },
    });
    await people.db.rolePermission.create({ data: { roleId: await idOf('reader'), permissionId: permission.id } });
    expect(await rights()).toEqual(none);
    expect(people.alarms).toContain(`a row of roles was written by another program: ${await idOf('reader')}`);
    await roles.update('reader', { description: 'another text' });
    expect(await rights()).toMatchObject({ permissions: [] });
    await restore();
    expect(await rights()).toMatchObject({ roles: ['reader'], permissions: ['articles:read'] });
  });

  test('gives no right when another program gave it the name of the role for administrators', async () => {
    await roles.assign(attacker, 'reader');
    const [admin, reader] = [await idOf('admin'), await idOf('reader')];
    await people.db.role.update({ where: { id: admin }, data: { name: 'was-admin' } });
    await people.db.role.update({ where: { id: reader }, data: { name: 'admin' } });
    expect(await rights()).toEqual(none);
    await people.db.role.update({ where: { id: reader }, data: { name: 'reader' } });
    await people.db.role.update({ where: { id: admin }, data: { name: 'admin' } });
  });

  test('gives no right when another program renamed its permission', async () => {
    await roles.assign(attacker, 'reader');
    const where = { resource_action: { resource: 'articles', action: 'read' } };
    await people.db.permission.update({ where, data: { resource: 'gatehouse.keys', action: 'wipe' } });
    expect(await rights()).toEqual(none);
    const renamed = { resource_action: { resource: 'gatehouse.keys', action: 'wipe' } };
    await people.db.permission.update({ where: renamed, data: { resource: 'articles', action: 'read' } });
    expect(await rights()).toMatchObject({ permissions: ['articles:read'] });
  });
});
