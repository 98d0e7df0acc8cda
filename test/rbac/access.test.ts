import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomId } from '../../src/platform/random.ts';
import { isRoleName, parsePermission } from '../../src/rbac/names.ts';
import { createPermissions, type Permissions } from '../../src/rbac/permissions.ts';
import { createRoles, type Roles } from '../../src/rbac/roles.ts';
import { openPeople, type People } from '../accounts/people.ts';

let people: People;
let roles: Roles;
let permissions: Permissions;
beforeAll(async () => {
  people = await openPeople();
  roles = createRoles(people);
  permissions = createPermissions(people);
});
afterAll(() => people.close());

const code = (expected: string) => expect.objectContaining({ code: expected });

describe('can (seed 2.5)', () => {
  test('when some role of the user is linked to a permission with that resource and action', async () => {
    await roles.create({ name: 'can-editor', permissions: ['articles:read', 'articles:write'] });
    await roles.create({ name: 'can-other', permissions: ['urn:x:reports:read'] });
    const { id } = await people.person();
    expect(await permissions.can(id, 'articles', 'read')).toBe(false);
    await roles.assign(id, 'can-editor');
    await roles.assign(id, 'can-other');
    expect(await permissions.can(id, 'articles', 'read')).toBe(true);
    expect(await permissions.holds(id, 'articles:write')).toBe(true);
    expect(await permissions.holds(id, 'urn:x:reports:read')).toBe(true);
    for (const no of ['articles:delete', 'Articles:read', 'reports:read', 'articles', '', ':', 'a\0:b']) {
      expect(await permissions.holds(id, no), no).toBe(false);
    }
    await roles.unassign(id, 'can-editor');
    expect(await permissions.can(id, 'articles', 'read')).toBe(false);
  });

  test('not for a disabled or missing account', async () => {
    await roles.create({ name: 'can-disabled', permissions: ['things:do'] });
    const { id } = await people.person();
    await roles.assign(id, 'can-disabled');
    await people.accounts.setActive(id, false);
    expect(await permissions.can(id, 'things', 'do')).toBe(false);
    expect(await permissions.can('nobody', 'things', 'do')).toBe(false);
  });
});

describe('access to an application', () => {
  const application = async (access: 'everyone' | 'roles', roleNames: string[] = [], enabled = true) => {
    const id = randomId();
    const row = { id, clientId: id, protocol: 'oidc', name: id, metadata: '{}', access, enabled };
    await people.db.application.create({ data: row });
    for (const name of roleNames) {
      const role = await roles.find(name);
      await people.db.applicationRole.create({ data: { applicationId: id, roleId: role?.id ?? '' } });
    }
    return id;
  };

  test('is for everyone, or for who has one of its roles', async () => {
    await roles.create({ name: 'staff' });
    await roles.create({ name: 'guests' });
    const member = await people.person();
    const stranger = await people.person();
    await roles.assign(member.id, 'staff');
    const open = await application('everyone');
    const restricted = await application('roles', ['staff', 'guests']);
    const nobody = await application('roles');
    const allowed = (id: string, userId: string) => permissions.accessAllowed(id, userId);
    expect([await allowed(open, member.id), await allowed(open, stranger.id)]).toEqual([true, true]);
    expect([await allowed(restricted, member.id), await allowed(restricted, stranger.id)]).toEqual([true, false]);
    expect([await allowed(nobody, member.id), await allowed(nobody, stranger.id)]).toEqual([false, false]);
    await roles.unassign(member.id, 'staff');
    expect(await allowed(restricted, member.id)).toBe(false);
  });

  test('is for nobody while the application or the account is disabled or missing', async () => {
    const { id } = await people.person();
    expect(await permissions.accessAllowed(await application('everyone', [], false), id)).toBe(false);
    expect(await permissions.accessAllowed('missing', id)).toBe(false);
    expect(await permissions.accessAllowed(await application('everyone'), 'missing')).toBe(false);
    const open = await application('everyone');
    await people.accounts.setActive(id, false);
    expect(await permissions.accessAllowed(open, id)).toBe(false);
  });
});

describe('names', () => {
  test.each([
    ['articles:read', { resource: 'articles', action: 'read' }],
    ['urn:example:api:read', { resource: 'urn:example:api', action: 'read' }],
    ['https://api.example.com/v1:write', { resource: 'https://api.example.com/v1', action: 'write' }],
    ['a:b', { resource: 'a', action: 'b' }],
  ])('%s parts at its last colon', (text, expected) => {
    expect(parsePermission(text)).toEqual(expected);
  });

  test.each([
    '',
    ':',
    'read',
    'articles:',
    ':read',
    'a b:c',
    'a:b c',
    'a\n:b',
    'a:b\0',
    'a:\u200b',
    `${'x'.repeat(300)}:y`,
  ])('%j is no permission', (text) => expect(parsePermission(text)).toBeUndefined());

  test('of roles are what people type and nothing that hides', () => {
    for (const name of ['editor', 'Équipe 7', 'a', 'ops/on-call', '編集者']) expect(isRoleName(name), name).toBe(true);
    for (const name of ['', ' a', 'a ', 'a\nb', 'a\u200bb', '<b>', 'x'.repeat(101)]) {
      expect(isRoleName(name), name).toBe(false);
    }
  });

  test('that exist are refused (seed 7: 409)', async () => {
    await roles.create({ name: 'once' });
    await expect(roles.create({ name: 'once' })).rejects.toEqual(code('role_name_taken'));
    await roles.create({ name: 'twice' });
    await expect(roles.update('twice', { name: 'once' })).rejects.toEqual(code('role_name_taken'));
    await expect(roles.create({ name: ' bad ' })).rejects.toEqual(code('invalid_input'));
    await expect(roles.create({ name: 'bad', permissions: ['nope'] })).rejects.toEqual(code('invalid_input'));
    expect(await roles.find('bad')).toBeUndefined();
  });
});
