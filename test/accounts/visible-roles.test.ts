// The roles and permissions that one application sees.
import { describe, expect, it } from 'vitest';
import type { Account } from '../../src/people/accounts/account.ts';
import { attributesFor, claimsFor } from '../../src/people/accounts/claims.ts';
import { matchesAny, withVisibleRoles } from '../../src/people/accounts/visible-roles.ts';

const account = {
  id: 'a',
  username: 'ann',
  roles: ['admin', 'wiki-editor', 'wiki-reader'],
  permissions: ['articles:read', 'articles:write', 'gatehouse.users:read'],
  attributes: {},
  groups: [],
  updatedAt: new Date(0),
} as unknown as Account;

describe('the roles and permissions that an application sees', () => {
  it('are all but the permissions of Gatehouse itself by default', () => {
    const seen = { ...account, permissions: ['articles:read', 'articles:write'], groupNames: [] };
    expect(withVisibleRoles(account, undefined)).toEqual(seen);
    expect(withVisibleRoles(account, {})).toEqual(seen);
  });

  it.each([
    [['*'], ['articles:read', 'articles:write']],
    [['g*', 'gatehouse*'], []],
    [['gatehouse.*'], ['gatehouse.users:read']],
    [
      ['articles:read', 'gatehouse.users:*'],
      ['articles:read', 'gatehouse.users:read'],
    ],
    [['gatehouse.keys:*'], []],
  ])(
    'include permissions of Gatehouse only by a filter that names them, not by %j',
    (permissions_filter, permissions) => {
      expect(withVisibleRoles(account, { permissions_filter }).permissions).toEqual(permissions);
    },
  );

  it('are those that its filters match, under its own names for them', () => {
    const seen = withVisibleRoles(account, {
      roles_filter: ['wiki-*'],
      roles_rename: { 'wiki-editor': 'Editors', admin: 'Bosses' },
      permissions_filter: ['articles:*'],
    });
    const { sub, roles, permissions } = claimsFor(seen);
    expect({ sub, roles, permissions }).toEqual({
      sub: 'a',
      roles: ['Editors', 'wiki-reader'],
      permissions: ['articles:read', 'articles:write'],
    });
    expect(attributesFor(seen, { groups: 'roles' })).toEqual({ groups: ['Editors', 'wiki-reader'] });
  });

  it('are merged when they get the same name, and are none for an empty filter', () => {
    const roles_rename = { 'wiki-editor': 'Wiki', 'wiki-reader': 'Wiki' };
    expect(withVisibleRoles(account, { roles_rename }).roles).toEqual(['Wiki', 'admin']);
    expect(withVisibleRoles(account, { roles_filter: [] }).roles).toEqual([]);
  });

  it('match a star with any text, and everything else literally', () => {
    expect(matchesAny('abc', ['a*c'])).toBe(true);
    expect(matchesAny('ac', ['a*c'])).toBe(true);
    expect(matchesAny('aba', ['ab*ba'])).toBe(false);
    expect(matchesAny('a.c', ['abc', 'a.c'])).toBe(true);
    expect(matchesAny('abc', ['a.c', 'A*', ''])).toBe(false);
    expect(matchesAny('constructor', ['toString'])).toBe(false);
    expect(withVisibleRoles({ ...account, roles: ['toString'] }, { roles_rename: { a: 'b' } }).roles).toEqual([
      'toString',
    ]);
  });
});
