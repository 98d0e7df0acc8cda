import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transaction } from '../../src/base/storage/database.ts';
import { createAuthority, createPermissions, type Permissions } from '../../src/people/rbac/authority.ts';
import { ownPermissions } from '../../src/people/rbac/built-in.ts';
import { createSetConnectionRoles, takeConnectionRoles } from '../../src/people/rbac/connection-roles.ts';
import { createRoles, type Roles } from '../../src/people/rbac/roles.ts';
import { openPeople, type People, together } from '../accounts/fixture.ts';
import { servicesOf } from '../support/services-of.ts';

let people: People;
let roles: Roles;
let permissions: Permissions;
beforeAll(async () => {
  people = await openPeople();
  roles = createRoles({ ...servicesOf(people), ...people });
  permissions = createPermissions(people);
  await roles.ensureBuiltInRoles();
});
afterAll(() => people.close());

const code = (expected: string) => expect.objectContaining({ code: expected });
const rolesOf = async (id: string) => (await people.accounts.find(id))?.roles;

describe('a role', () => {
  test('is created, changed and removed with its permissions, and each change is audited', async () => {
    await roles.create({ name: 'life', description: 'A life', permissions: ['life-b:x', 'life-a:x', 'life-a:x'] });
    expect(await roles.find('life')).toMatchObject({ source: 'local', permissions: ['life-a:x', 'life-b:x'] });
    await roles.update('life', { permissions: ['life-b:x', 'life-c:x'], description: 'Changed' });
    expect(await roles.find('life')).toMatchObject({ description: 'Changed', permissions: ['life-b:x', 'life-c:x'] });
    await roles.update('life', { name: 'afterlife' });
    const { id } = await people.person();
    await roles.assign(id, 'afterlife');
    await roles.remove('afterlife');
    expect(await roles.find('afterlife')).toBeUndefined();
    expect(await rolesOf(id)).toEqual([]);
    const left = await people.db.permission.count({ where: { resource: { in: ['life-a', 'life-b', 'life-c'] } } });
    expect(left).toBe(0);
    const events = await people.audit.list({ types: ['role.created', 'role.updated', 'role.deleted'], limit: 4 });
    expect(events.map(({ type }) => type)).toEqual(['role.deleted', 'role.updated', 'role.updated', 'role.created']);
  });

  test('does not change when the same change is applied twice', async () => {
    const role = { name: 'same', description: 'x', permissions: ['b:y', 'a:y'] };
    await roles.create(role);
    const events = (await people.audit.list({ types: ['role.updated'] })).length;
    await roles.update('same', role);
    expect((await people.audit.list({ types: ['role.updated'] })).length).toBe(events);
  });

  test('counts once when granted directly and by a connection, and the grant of the connection stays', async () => {
    const role = await roles.create({ name: 'twice', permissions: ['twice:read'] });
    const { id } = await people.person();
    await roles.assign(id, 'twice');
    await people.db.userRole.create({
      data: { userId: id, roleId: role.id, via: 'connection:1', since: null, until: null },
    });
    expect(await people.accounts.find(id)).toMatchObject({ roles: ['twice'], permissions: ['twice:read'] });
    expect((await people.accounts.list({ role: 'twice' })).accounts.map((one) => one.roles)).toEqual([['twice']]);
    expect(await roles.unassign(id, 'twice')).toBe(true);
    expect(await roles.unassign(id, 'twice')).toBe(false);
    await roles.setRoles(id, []);
    expect(await rolesOf(id)).toEqual(['twice']);
    await roles.remove('twice');
    expect(await rolesOf(id)).toEqual([]);
  });

  test('is assigned and unassigned once', async () => {
    await roles.create({ name: 'given' });
    const { id } = await people.person();
    expect(await roles.assign(id, 'given')).toBe(true);
    expect(await roles.assign(id, 'given')).toBe(false);
    expect(await roles.unassign(id, 'given')).toBe(true);
    expect(await roles.unassign(id, 'given')).toBe(false);
    await expect(roles.assign(id, 'missing')).rejects.toEqual(code('not_found'));
    await expect(roles.assign('missing', 'given')).rejects.toEqual(code('not_found'));
    await roles.create({ name: 'kept' });
    await roles.setRoles(id, ['kept', 'given']);
    await roles.setRoles(id, ['kept', 'support']);
    expect(await rolesOf(id)).toEqual(['kept', 'support']);
  });
});

describe('the built-in roles', () => {
  test('are created once, also by instances that start together, and updated at later starts', async () => {
    const fresh = await openPeople();
    const theirs = createRoles({ ...servicesOf(fresh), ...fresh });
    await together(4, () => theirs.ensureBuiltInRoles());
    expect((await theirs.list()).map(({ name, source }) => [name, source])).toEqual([
      ['admin', 'built-in'],
      ['application-manager', 'built-in'],
      ['auditor', 'built-in'],
      ['support', 'built-in'],
      ['user-manager', 'built-in'],
    ]);
    // A permission that a newer version adds.
    await fresh.db.rolePermission.deleteMany({ where: { role: { name: 'auditor' } } });
    await theirs.ensureBuiltInRoles();
    expect((await theirs.find('auditor'))?.permissions).toContain('gatehouse.audit:read');
    await fresh.close();
  });

  test('have least privilege, and cannot be renamed or removed', async () => {
    const { id } = await people.person();
    await roles.assign(id, 'auditor');
    expect(await permissions.holds(id, 'gatehouse.users:read')).toBe(true);
    expect(await permissions.holds(id, 'gatehouse.users:write')).toBe(false);
    await expect(roles.remove('auditor')).rejects.toEqual(code('conflict'));
    await expect(roles.update('auditor', { name: 'spy' })).rejects.toEqual(code('conflict'));
    await expect(roles.update('admin', { permissions: [] })).rejects.toEqual(code('conflict'));
  });
});

describe('an actor', () => {
  test('cannot grant permissions that it lacks by assigning, creating or extending a role', async () => {
    const { id: supporter } = await people.person();
    const { id: friend } = await people.person();
    await roles.assign(supporter, 'support');
    const by = { actorId: supporter };
    await expect(roles.assign(friend, 'admin', by)).rejects.toEqual(code('forbidden'));
    await expect(roles.assign(supporter, 'auditor', by)).rejects.toEqual(code('forbidden'));
    const wide = roles.create({ name: 'wide', permissions: ['gatehouse.keys:write'] }, by);
    await expect(wide).rejects.toEqual(code('forbidden'));
    await roles.create({ name: 'narrow', permissions: ['gatehouse.audit:read'] }, by);
    await expect(roles.update('narrow', { permissions: ['x:y'] }, by)).rejects.toEqual(code('forbidden'));
    // It has every permission of the role, and yet not the role.
    await expect(roles.assign(friend, 'narrow', by)).rejects.toEqual(code('forbidden'));
    await roles.assign(supporter, 'narrow');
    expect(await roles.assign(friend, 'narrow', by)).toBe(true);
    expect(await rolesOf(friend)).toEqual(['narrow']);
  });

  test('cannot take permissions that it lacks from others', async () => {
    const { id: supporter } = await people.person();
    const { id: keeper } = await people.person();
    await roles.assign(supporter, 'support');
    await roles.create({ name: 'keeper', permissions: ['gatehouse.keys:write'] });
    await roles.assign(keeper, 'keeper');
    const by = { actorId: supporter };
    await expect(roles.unassign(keeper, 'keeper', by)).rejects.toEqual(code('forbidden'));
    await expect(roles.update('keeper', { permissions: [] }, by)).rejects.toEqual(code('forbidden'));
    await expect(roles.remove('keeper', by)).rejects.toEqual(code('forbidden'));
    expect(await rolesOf(keeper)).toEqual(['keeper']);
  });

  test('is limited to the permissions of its token, whatever its roles are', async () => {
    const { id: admin } = await people.person();
    await roles.assign(admin, 'admin');
    const by = { actorId: admin, grantedRights: ['gatehouse.roles:write'] };
    await expect(roles.assign(admin, 'support', by)).rejects.toEqual(code('forbidden'));
    await roles.create({ name: 'scribe', permissions: ['gatehouse.roles:write'] }, by);
    expect(await roles.assign(admin, 'scribe', { grantedRights: 'everything' })).toBe(true);
  });

  test('cannot manage an account with more permissions', async () => {
    const [admin, supporter, plain] = [await people.person(), await people.person(), await people.person()];
    await roles.assign(admin.id, 'admin');
    await roles.assign(supporter.id, 'support');
    const authority = createAuthority(people);
    const needs = ['gatehouse.users:unlock'] as const;
    const may = (actorId: string, id: string) => authority.assertMay({ actorId }, { what: 'user', id, needs });
    await expect(may(supporter.id, admin.id)).rejects.toEqual(code('forbidden'));
    await expect(may(plain.id, supporter.id)).rejects.toEqual(code('not_found'));
    await may(supporter.id, plain.id);
    await may(admin.id, supporter.id);
    await may(supporter.id, supporter.id);
    await authority.assertMay({}, { what: 'user', id: admin.id, needs });
    const all = { grantedRights: ownPermissions };
    await expect(authority.assertMay(all, { what: 'user', id: admin.id, needs })).rejects.toEqual(code('forbidden'));
    await authority.assertMay(all, { what: 'user', id: supporter.id, needs });
  });

  test('grants any permission as an administrator', async () => {
    const { id: admin } = await people.person();
    await roles.assign(admin, 'admin');
    await roles.create({ name: 'app-editor', permissions: ['pages:edit'] }, { actorId: admin });
    const { id } = await people.person();
    expect(await roles.assign(id, 'app-editor', { actorId: admin })).toBe(true);
    await people.accounts.setActive(admin, false);
    await expect(roles.assign(admin, 'app-editor', { actorId: admin })).rejects.toEqual(code('forbidden'));
  });
});

describe('the last administrator', () => {
  test('cannot be removed or disabled, while one of two can', async () => {
    const own = await openPeople();
    const theirs = createRoles({ ...servicesOf(own), ...own });
    await theirs.ensureBuiltInRoles();
    const [one, two, off] = [await own.person(), await own.person(), await own.person()];
    for (const { id } of [one, two, off]) await theirs.assign(id, 'admin');
    await own.accounts.setActive(off.id, false);
    await theirs.unassign(two.id, 'admin');
    await expect(theirs.unassign(one.id, 'admin')).rejects.toEqual(code('last_admin'));
    await expect(theirs.setRoles(one.id, ['support'])).rejects.toEqual(code('last_admin'));
    expect((await own.accounts.find(one.id))?.roles).toEqual(['admin']);
    await expect(transaction(own.db, (tx) => theirs.assertNotLastAdmin(one.id, tx))).rejects.toEqual(
      code('last_admin'),
    );
    await transaction(own.db, (tx) => theirs.assertNotLastAdmin(two.id, tx));
    await own.close();
  });

  test.each<[string, object, boolean]>([
    ['for good', {}, true],
    ['until tomorrow', { until: new Date('2026-03-02T12:00:00Z') }, false],
    ['from tomorrow on', { since: new Date('2026-03-02T12:00:00Z') }, false],
    ['by a row that another program wrote', { mac: 'forged' }, false],
  ])(
    'keeps the role that a connection gave beside one %s only where that is not enough',
    async (_, other, isEnough) => {
      const own = await openPeople();
      const services = { ...servicesOf(own), ...own, logoutOnRoleChange: async () => {} };
      const theirs = createRoles(services);
      await theirs.ensureBuiltInRoles();
      const set = createSetConnectionRoles(services);
      const { id: userId } = await own.person();
      const { id: roleId = '' } = (await theirs.find('admin')) ?? {};
      await set(userId, { connectionId: 'corp', roleIds: [roleId] });
      const direct = { userId, roleId, via: '', since: null, until: null, ...other };
      await ('mac' in other ? own.db.asStored : own.db).userRole.create({ data: direct });
      const deleted = transaction(own.db, (tx) => takeConnectionRoles(services, 'corp', {}, tx));
      if (isEnough) await deleted;
      else await expect(deleted).rejects.toEqual(code('last_admin'));
      await set(userId, { connectionId: 'corp', roleIds: [roleId] });
      const removed = isEnough ? ['admin'] : [];
      expect(await set(userId, { connectionId: 'corp', roleIds: [] })).toEqual({ added: [], removed });
      own.clock.advance({ days: 2 });
      expect((await own.accounts.find(userId))?.roles).toEqual(['admin']);
      await own.close();
    },
  );

  test('remains when two administrators remove each other at the same moment', async () => {
    const own = await openPeople();
    const theirs = createRoles({ ...servicesOf(own), ...own });
    await theirs.ensureBuiltInRoles();
    const admins = [await own.person(), await own.person(), await own.person()];
    for (const { id } of admins) await theirs.assign(id, 'admin');
    const results = await Promise.allSettled(admins.map(({ id }) => theirs.unassign(id, 'admin')));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect((await own.accounts.list({ role: 'admin' })).accounts).toHaveLength(1);
    await own.close();
  });
});
