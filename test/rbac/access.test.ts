import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPermissions, type Permissions } from '../../src/people/rbac/authority.ts';
import { isRoleName, parsePermission } from '../../src/people/rbac/names.ts';
import { createRoles, type Roles } from '../../src/people/rbac/roles.ts';
import { openPeople, type People } from '../accounts/fixture.ts';
import { servicesOf } from '../support/services-of.ts';

let people: People;
let roles: Roles;
let permissions: Permissions;
beforeAll(async () => {
  people = await openPeople();
  roles = createRoles({ ...servicesOf(people), ...people });
  permissions = createPermissions(people);
});
afterAll(() => people.close());

const code = (expected: string) => expect.objectContaining({ code: expected });

describe('a permission', () => {
  test('is held by a user with a role that contains it', async () => {
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

  test('is not held by a disabled or unknown account', async () => {
    await roles.create({ name: 'can-disabled', permissions: ['things:do'] });
    const { id } = await people.person();
    await roles.assign(id, 'can-disabled');
    await people.accounts.setActive(id, false);
    expect(await permissions.can(id, 'things', 'do')).toBe(false);
    expect(await permissions.can('nobody', 'things', 'do')).toBe(false);
  });
});

describe('names', () => {
  test.each([
    ['articles:read', { resource: 'articles', action: 'read' }],
    ['urn:example:api:read', { resource: 'urn:example:api', action: 'read' }],
    ['https://api.example.com/v1:write', { resource: 'https://api.example.com/v1', action: 'write' }],
    ['a:b', { resource: 'a', action: 'b' }],
  ])('are split at the last colon: %s', (text, expected) => {
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
  ])('are of no permission when they are %j', (text) => expect(parsePermission(text)).toBeUndefined());

  test('contain only printable characters when they are of roles', () => {
    for (const name of ['editor', 'Équipe 7', 'a', 'ops/on-call', '編集者']) expect(isRoleName(name), name).toBe(true);
    for (const name of ['', ' a', 'a ', 'a\nb', 'a\u200bb', '<b>', 'x'.repeat(101)]) {
      expect(isRoleName(name), name).toBe(false);
    }
  });

  test('are rejected when they exist already', async () => {
    await roles.create({ name: 'once' });
    await expect(roles.create({ name: 'once' })).rejects.toEqual(code('role_name_taken'));
    await roles.create({ name: 'twice' });
    await expect(roles.update('twice', { name: 'once' })).rejects.toEqual(code('role_name_taken'));
    await expect(roles.create({ name: ' bad ' })).rejects.toEqual(code('invalid_input'));
    await expect(roles.create({ name: 'bad', permissions: ['nope'] })).rejects.toEqual(code('invalid_input'));
    expect(await roles.find('bad')).toBeUndefined();
  });
});
