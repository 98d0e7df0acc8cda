// Who can open an application: the list, which SQL finds, against the access rule, for generated people, roles, groups and applications.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessDecision, grantingGroups, grantingRoles } from '../../src/applications/access-decision.ts';
import type { Access } from '../../src/applications/fields/oidc-client.ts';
import { type ApplicationPeople, createApplicationPeople } from '../../src/applications/people.ts';
import type { RuleFields } from '../../src/applications/rules/sign-in-rule.ts';
import { pageQuery } from '../../src/people/accounts/account-list.ts';
import { createGroups, type Groups } from '../../src/people/groups/groups.ts';
import { createRoles, type Roles } from '../../src/people/rbac/roles.ts';
import { openPeople, type People } from '../accounts/fixture.ts';
import fc, { numRuns } from '../support/property.ts';
import { servicesOf } from '../support/services-of.ts';

const ROLES = ['staff', 'guests', 'ops'];
const GROUPS = ['Science', 'Physics', 'Lab', 'Library', 'Visitors'];
/** Physics and the library are in Science, the lab is in Physics; the visitors have no other group. */
const BELOW = [
  ['Science', 'Physics'],
  ['Science', 'Library'],
  ['Physics', 'Lab'],
] as const;
const GIVEN = [
  ['Physics', 'ops'],
  ['Visitors', 'guests'],
] as const;
const HOUR = 3_600_000;

let people: People;
let roles: Roles;
let groups: Groups;
let applicationPeople: ApplicationPeople;
const roleIds = new Map<string, string>();
const groupIds = new Map<string, string>();
beforeAll(async () => {
  people = await openPeople();
  const settings = { latest: () => ({ sign_out_on_role_change: false }) };
  const services = {
    ...servicesOf(people),
    ...people,
    settings: settings as never,
    logoutOnRoleChange: async () => {},
  };
  roles = createRoles(services);
  groups = createGroups(services);
  applicationPeople = createApplicationPeople(services);
  for (const name of ROLES) roleIds.set(name, (await roles.create({ name })).id);
  for (const name of GROUPS) groupIds.set(name, (await groups.create({ name })).id);
  for (const [parent, child] of BELOW) await groups.addChild(idOf(parent), idOf(child));
  for (const [group, role] of GIVEN) await groups.addRole(idOf(group), role);
}, 60_000);
afterAll(() => people.close());

const idOf = (name: string) => groupIds.get(name) ?? '';
const at = (hours: number | null) => (hours === null ? null : new Date(people.now().getTime() + hours * HOUR));

/** In hours from now: one that has ended is made with an end to come, before the clock moves on. */
const period = fc.record({
  since: fc.constantFrom(null, 1, 5),
  until: fc.constantFrom(null, 6, 20),
});
const aPerson = fc.record({
  isActive: fc.boolean(),
  roles: fc.uniqueArray(fc.tuple(fc.constantFrom(...ROLES), period), { selector: ([name]) => name, maxLength: 2 }),
  groups: fc.uniqueArray(fc.tuple(fc.constantFrom(...GROUPS), period), { selector: ([name]) => name, maxLength: 2 }),
});
/** Of each rule the values by which it may close an application. */
const rules: Record<keyof RuleFields, fc.Arbitrary<unknown>> = {
  mfa: fc.constantFrom(undefined, 'required'),
  connections: fc.constantFrom(undefined, []),
  local_sign_in: fc.constantFrom(undefined, false),
  allowed_networks: fc.constantFrom(undefined, ['192.0.2.0/24']),
  session_hours: fc.constantFrom(undefined, 1),
};
const anApplication = fc.record({
  metadata: fc.record(rules) as fc.Arbitrary<RuleFields>,
  enabled: fc.boolean().map((isOff) => !isOff),
  access: fc.oneof(
    { weight: 1, arbitrary: fc.constant('everyone' as const) },
    {
      weight: 5,
      arbitrary: fc.record({ roles: fc.subarray(ROLES), groups: fc.subarray(GROUPS) }),
    },
  ),
});

describe('the people who can open an application', () => {
  it('are those for whom accessDecision says so, at any time, with every reason', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(aPerson, { minLength: 1, maxLength: 6 }),
        fc.array(anApplication, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(0, 2, 10, 30),
        async (persons, applications, hours) => {
          for (const { isActive, roles: held, groups: joined } of persons) {
            const { id } = await people.person();
            for (const [name, { since, until }] of held)
              await roles.assign(id, name, undefined, undefined, { since: at(since), until: at(until) });
            for (const [name, { since, until }] of joined)
              await groups.addMembers(idOf(name), [{ userId: id, since: at(since), until: at(until) }]);
            if (!isActive) await people.accounts.setActive(id, false);
          }
          people.clock.advance({ hours });
          const everybody = await people.db.user.findMany({ select: { id: true } });
          const accounts = await Promise.all(everybody.map(({ id }) => people.accounts.find(id)));
          for (const application of applications) {
            const expected = accounts.flatMap((account) =>
              account && accessDecision(application, account).allowed ? [account.id] : [],
            );
            const found = await everyPage(application);
            const { count } = await applicationPeople.list(application);
            expect(await count()).toEqual({ count: expected.length, isMore: false });
            expect(found.map(({ account }) => account.id).sort()).toEqual(expected.sort());
            const times = found.map(({ account }) => account.createdAt.getTime());
            expect(times).toEqual([...times].sort((one, other) => other - one));
            if (application.enabled)
              for (const how of [{}, { isSet: true }, { isNear: true }])
                expect((await foundOfMany(application.access, how)).sort()).toEqual(expected.sort());
            for (const { account, ways } of found) {
              const named = (by: string) =>
                [...new Set(ways.flatMap((way) => (way.by === by ? [way.name] : [])))].sort();
              expect(named('role')).toEqual(grantingRoles(application.access, account).sort());
              expect(named('group')).toEqual(grantingGroups(application.access, account).map(({ name }) => name));
              expect(ways.length).toBeGreaterThan(0);
              for (const { until } of ways) expect(until === null || until > people.now()).toBe(true);
            }
          }
        },
      ),
      { numRuns: numRuns(25) },
    );
  }, 120_000);

  /** As where so many have the role that each person is looked at, or all of them are read at once. */
  async function foundOfMany(access: Access, { isSet = false, isNear = false }): Promise<string[]> {
    const members = access === 'everyone' ? [] : [{ ...idsOf(access), count: Number.POSITIVE_INFINITY, isSet }];
    const { db, sql } = people;
    const query = pageQuery(sql.dialect, { state: 'active', limit: 1000 }, { members, isNear, now: people.now() });
    return (await db.$queryRaw<{ id: string }[]>(query)).map(({ id }) => id);
  }

  const idsOf = ({ roles: named, groups: joined = [] }: Exclude<Access, 'everyone'>) => ({
    roleIds: named.map((name) => roleIds.get(name) ?? ''),
    groupIds: joined.map(idOf),
  });

  /** In pages of three. */
  async function everyPage(application: Parameters<ApplicationPeople['list']>[0]) {
    const found = [];
    let after: string | undefined;
    do {
      const page = await applicationPeople.list(application, { limit: 3, ...(after && { after }) });
      found.push(...page.people);
      after = page.next;
    } while (after);
    return found;
  }
});
