// The access rule of an application, as a function and as a condition of a query.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessDecision, grantingRoles, missingRoles } from '../../src/applications/access-decision.ts';
import { fromRow, withAccess } from '../../src/applications/application.ts';
import { createApplicationReads } from '../../src/applications/read.ts';
import type { RuleFields } from '../../src/applications/rules/sign-in-rule.ts';
import { randomId } from '../../src/base/platform/random.ts';
import { createRoles, type Roles } from '../../src/people/rbac/roles.ts';
import { openPeople, type People } from '../accounts/fixture.ts';
import { servicesOf } from '../support/services-of.ts';

const ROLES = ['staff', 'guests', 'ops'];
/** Every set of roles, the empty one included. */
const ROLE_SETS = Array.from({ length: 2 ** ROLES.length }, (_, bits) => ROLES.filter((_role, at) => bits & (1 << at)));
/** Of each rule a value by which it closes the application to the people of the test, or may. */
const CLOSING: Record<keyof RuleFields, unknown> = {
  mfa: 'required',
  connections: [],
  local_sign_in: false,
  allowed_networks: ['192.0.2.0/24'],
  session_hours: 1,
};

describe('accessDecision', () => {
  const physics = { id: 'physics', name: 'Physics', path: '/Physics', isDirect: true, via: 'Physics', until: null };
  const member = { isActive: true, roles: ['staff'], groups: [physics] };

  it.each([
    [{ enabled: true, access: 'everyone' }, { isActive: true, roles: [], groups: [] }, true, 'everyone'],
    [{ enabled: true, access: { roles: ['guests', 'staff'] } }, member, true, 'role'],
    [{ enabled: true, access: { roles: ['guests'] } }, member, false, 'no_role'],
    [{ enabled: true, access: { roles: ['guests'], groups: ['Physics'] } }, member, true, 'group'],
    [{ enabled: true, access: { roles: ['staff'], groups: ['Physics'] } }, member, true, 'role'],
    [{ enabled: true, access: { roles: [], groups: ['Chemistry'] } }, member, false, 'no_role'],
    [{ enabled: true, access: { roles: [] } }, member, false, 'no_role'],
    [{ enabled: true, access: 'everyone' }, { ...member, isActive: false }, false, 'account_disabled'],
    [{ enabled: true, access: { roles: ['staff'] } }, { ...member, isActive: false }, false, 'account_disabled'],
    [{ enabled: false, access: 'everyone' }, member, false, 'application_disabled'],
    [{ enabled: false, access: { roles: ['staff'] } }, member, false, 'application_disabled'],
  ] as const)('decides for %j and %j: %s, because %s', (application, account, allowed, reason) => {
    const { access } = application;
    const groups = access !== 'everyone' && 'groups' in access ? { groups: [...access.groups] } : {};
    const mutable = access === 'everyone' ? access : { roles: [...access.roles], ...groups };
    expect(accessDecision({ ...application, access: mutable, metadata: {} }, account)).toEqual({ allowed, reason });
  });

  it('names the roles that grant the access', () => {
    expect(grantingRoles({ roles: ['guests', 'ops', 'staff'] }, { roles: ['staff', 'ops', 'other'] })).toEqual([
      'ops',
      'staff',
    ]);
    expect(grantingRoles('everyone', { roles: ['staff'] })).toEqual([]);
  });

  it('names the roles of which one is missing', () => {
    expect(missingRoles({ roles: ['guests', 'ops'] }, { roles: ['staff', 'ops'] })).toEqual(['guests']);
    expect(missingRoles('everyone', { roles: [] })).toEqual([]);
  });
});

describe('the list of the applications that are open to an account', () => {
  let people: People;
  let roles: Roles;
  beforeAll(async () => {
    people = await openPeople();
    roles = createRoles({ ...servicesOf(people), ...people });
    for (const name of ROLES) await roles.create({ name });
    for (const enabled of [true, false]) {
      await anApplication('everyone', ['staff'], enabled); // roles that were left behind grant nothing
      for (const set of ROLE_SETS) await anApplication('roles', set, enabled);
    }
    for (const [field, value] of Object.entries(CLOSING))
      await anApplication('everyone', [], true, JSON.stringify({ [field]: value }));
  });
  afterAll(() => people.close());

  async function anApplication(
    access: 'everyone' | 'roles',
    roleNames: string[],
    enabled: boolean,
    metadata = '{}',
  ): Promise<void> {
    const id = randomId();
    const about = { consent: 'explicit', source: 'local' };
    const row = { id, clientId: id, protocol: 'oidc', name: id, metadata, access, enabled, ...about };
    await people.db.application.create({ data: row });
    for (const name of roleNames) {
      const role = await roles.find(name);
      await people.db.applicationRole.create({ data: { applicationId: id, roleId: role?.id ?? '' } });
    }
  }

  const cases = ROLE_SETS.flatMap((set) => [true, false].map((isActive) => ({ set, isActive })));

  it.each(cases)(
    'agrees with accessDecision for an account with $set, active: $isActive',
    async ({ set, isActive }) => {
      const { id } = await people.person();
      await roles.setRoles(id, set);
      if (!isActive) await people.accounts.setActive(id, false);
      const account = await people.accounts.find(id);
      if (!account) throw new Error('the account is missing');
      const all = (await people.db.application.findMany({ include: withAccess })).map(fromRow);
      const decided = all.filter((application) => accessDecision(application, account).allowed);
      const { applications: found } = await createApplicationReads(people.db).openTo(account, { limit: 500 });
      expect(found.map(({ id }) => id).sort()).toEqual(decided.map(({ id }) => id).sort());
      expect(all).toHaveLength(2 * (ROLE_SETS.length + 1) + Object.keys(CLOSING).length);
    },
  );
});
