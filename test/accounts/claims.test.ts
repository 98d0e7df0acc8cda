// OIDC claims and SAML attributes of an account.
import { describe, expect, test } from 'vitest';
import {
  attributesFor,
  claimsByScope,
  claimsFor,
  customClaims,
  isUserField,
} from '../../src/people/accounts/claims.ts';
import { emptyProfile } from '../../src/people/accounts/profile-fields.ts';
import type { VisibleAccount } from '../../src/people/accounts/visible-roles.ts';

const ann: VisibleAccount = {
  ...emptyProfile,
  id: 'sub-of-ann',
  username: 'ann',
  email: 'ann@example.com',
  emailVerified: true,
  emailProven: false,
  name: 'Ann Example',
  givenName: 'Ann',
  zoneinfo: 'Europe/Berlin',
  phoneNumber: '+491234',
  attributes: { department: 'R&D', groups: ['a', 'b'], level: 3, empty: '', nested: { x: 1 } },
  ssoId: null,
  isActive: true,
  state: 'active' as const,
  wasUnused: false,
  isEnabled: true,
  activeFrom: null,
  activeUntil: null,
  lastSeenAt: new Date(0),
  source: 'local',
  termsVersion: null,
  termsAcceptedAt: null,
  deleteAt: null,
  createdAt: new Date(0),
  updatedAt: new Date(1_700_000_000_999),
  roles: ['editor', 'reader'],
  permissions: ['articles:read'],
  groups: [],
  groupNames: [],
};

/** The claims of these scopes, as the engine filters them. */
function claimsOfScopes(account: VisibleAccount, scopes: (keyof typeof claimsByScope)[]) {
  const names = ['sub', ...scopes.flatMap((scope): readonly string[] => claimsByScope[scope])];
  return Object.fromEntries(Object.entries(claimsFor(account)).filter(([name]) => names.includes(name)));
}

describe('claimsFor', () => {
  test('makes the name of given and family name where there is none', () => {
    const named = (fields: object) => claimsFor({ ...ann, name: null, ...fields }).name;
    expect(named({ familyName: 'Example' })).toBe('Ann Example');
    expect(named({})).toBe('Ann');
    expect(named({ givenName: null })).toBeUndefined();
    expect(attributesFor({ ...ann, name: null, familyName: 'Example' }, { cn: 'name' })).toEqual({
      cn: ['Ann Example'],
    });
  });

  test('gives the claims of the scopes and nothing else', () => {
    expect(claimsOfScopes(ann, ['openid'])).toEqual({ sub: 'sub-of-ann' });
    expect(claimsOfScopes(ann, ['openid', 'email'])).toEqual({
      sub: 'sub-of-ann',
      email: 'ann@example.com',
      email_verified: true,
    });
    expect(claimsOfScopes(ann, ['profile'])).toEqual({
      sub: 'sub-of-ann',
      name: 'Ann Example',
      given_name: 'Ann',
      preferred_username: 'ann',
      zoneinfo: 'Europe/Berlin',
      updated_at: 1_700_000_000,
    });
    expect(claimsOfScopes(ann, ['roles', 'permissions', 'phone'])).toEqual({
      sub: 'sub-of-ann',
      roles: ['editor', 'reader'],
      permissions: ['articles:read'],
      phone_number: '+491234',
      phone_number_verified: false,
    });
  });

  test('gives no claim under a name outside the scope table', () => {
    const names: string[] = Object.values(claimsByScope).flat();
    expect(Object.keys(claimsFor(ann)).filter((name) => !names.includes(name))).toEqual([]);
  });

  test('omits email_verified without an address', () => {
    expect(claimsOfScopes({ ...ann, email: null, emailVerified: false }, ['email'])).toEqual({ sub: 'sub-of-ann' });
  });

  test('adds custom claims, but never another sub', () => {
    const custom = { dept: 'attributes.department', sub: 'username', level: 'attributes.level', none: 'attributes.no' };
    expect(customClaims(ann, custom)).toEqual({ dept: 'R&D', level: 3 });
  });
});

describe('attributesFor', () => {
  test('names user fields by the mapping of the service provider, as lists of texts', () => {
    const mapping = {
      email: 'email',
      displayName: 'name',
      role: 'roles',
      givenName: 'givenName',
      uid: 'username',
      'urn:oid:1.2.3': 'attributes.groups',
      department: 'attributes.department',
      level: 'attributes.level',
      verified: 'email_verified',
      nested: 'attributes.nested',
    };
    expect(attributesFor(ann, mapping)).toEqual({
      email: ['ann@example.com'],
      displayName: ['Ann Example'],
      role: ['editor', 'reader'],
      givenName: ['Ann'],
      uid: ['ann'],
      'urn:oid:1.2.3': ['a', 'b'],
      department: ['R&D'],
      level: ['3'],
      verified: ['true'],
      nested: ['{"x":1}'],
    });
  });

  test('leaves out fields without a value', () => {
    const mapping = { a: 'family_name', b: 'attributes.empty', c: 'attributes.missing', d: 'attributes.constructor' };
    expect(attributesFor({ ...ann, roles: [] }, { ...mapping, e: 'roles', f: 'constructor', g: 'unknown' })).toEqual(
      {},
    );
  });
});

test.each([
  ['email', true],
  ['givenName', true],
  ['roles', true],
  ['attributes.department', true],
  ['attributes.', false],
  ['attributes', false],
  ['password', false],
  ['constructor', false],
])('isUserField(%j) is %s', (path, expected) => {
  expect(isUserField(path)).toBe(expected);
});
