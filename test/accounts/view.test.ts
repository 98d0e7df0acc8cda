import { describe, expect, it } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { attributesFor, claimsFor } from '../../src/accounts/claims.ts';
import { isShown, seenBy } from '../../src/accounts/view.ts';

const account = {
  id: 'a',
  username: 'ann',
  roles: ['admin', 'wiki-editor', 'wiki-reader'],
  permissions: ['articles:read', 'articles:write', 'gatehouse.users:read'],
  attributes: {},
  updatedAt: new Date(0),
} as unknown as Account;

describe('what an application is shown of roles and permissions', () => {
  it('is all of them unless it says otherwise', () => {
    expect(seenBy(account, undefined)).toBe(account);
    expect(seenBy(account, {})).toBe(account);
  });

  it('is what its filters let through, under the names it knows', () => {
    const seen = seenBy(account, {
      roles_filter: ['wiki-*'],
      roles_rename: { 'wiki-editor': 'Editors', admin: 'Bosses' },
      permissions_filter: ['articles:*'],
    });
    expect(claimsFor(seen, ['roles', 'permissions'])).toEqual({
      sub: 'a',
      roles: ['Editors', 'wiki-reader'],
      permissions: ['articles:read', 'articles:write'],
    });
    expect(attributesFor(seen, { groups: 'roles' })).toEqual({ groups: ['Editors', 'wiki-reader'] });
  });

  it('merges roles that get one name, and shows nothing to an empty filter', () => {
    const roles_rename = { 'wiki-editor': 'Wiki', 'wiki-reader': 'Wiki' };
    expect(seenBy(account, { roles_rename }).roles).toEqual(['Wiki', 'admin']);
    expect(seenBy(account, { roles_filter: [] }).roles).toEqual([]);
  });

  it('reads a star as anything, and everything else literally', () => {
    expect(isShown('abc', ['a*c'])).toBe(true);
    expect(isShown('ac', ['a*c'])).toBe(true);
    expect(isShown('aba', ['ab*ba'])).toBe(false);
    expect(isShown('a.c', ['abc', 'a.c'])).toBe(true);
    expect(isShown('abc', ['a.c', 'A*', ''])).toBe(false);
    expect(isShown('constructor', ['toString'])).toBe(false);
    expect(seenBy({ ...account, roles: ['toString'] }, { roles_rename: { a: 'b' } }).roles).toEqual(['toString']);
  });
});
