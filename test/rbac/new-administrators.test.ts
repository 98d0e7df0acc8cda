// Every way to permissions in Gatehouse leaves one event for each new administrator.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGroups, type Groups } from '../../src/people/groups/groups.ts';
import { createAuthority } from '../../src/people/rbac/authority.ts';
import { createSetConnectionRoles } from '../../src/people/rbac/connection-roles.ts';
import { createRoles, type Roles } from '../../src/people/rbac/roles.ts';
import { openPeople, type People } from '../accounts/fixture.ts';
import { servicesOf } from '../support/services-of.ts';

let people: People;
let roles: Roles;
let groups: Groups;
let services: Parameters<typeof createRoles>[0] & Parameters<typeof createGroups>[0];
beforeAll(async () => {
  people = await openPeople();
  services = {
    ...servicesOf(people),
    ...people,
    settings: { latest: () => ({ sign_out_on_role_change: false }) } as never,
    authority: createAuthority(people),
    logoutOnRoleChange: async () => {},
  };
  roles = createRoles(services);
  groups = createGroups(services);
  await roles.ensureBuiltInRoles();
});
afterAll(() => people.close());

let seen = 0;
/** The new administrators since the last call, with how they became it. */
async function added() {
  const events = await services.audit.list({ types: ['administrator.added'], after: seen, isOldestFirst: true });
  seen = events.at(-1)?.id ?? seen;
  return events.map(({ subjectId, data }) => ({ subjectId, ...data }));
}

test('a role, a group, a group above and a role that gains permissions make an administrator once', async () => {
  const [{ id: one }, { id: two }] = [await people.person(), await people.person()];
  await roles.create({ name: 'plain' });
  await roles.assign(one, 'plain');
  expect(await added()).toEqual([]);
  await roles.assign(one, 'support');
  expect(await added()).toEqual([{ subjectId: one, roleName: 'support' }]);

  const desk = await groups.create({ name: 'Desk' });
  const of = { groupId: desk.id, groupName: 'Desk' };
  await groups.addRole(desk.id, 'support');
  await groups.addMembers(desk.id, [{ userId: one }, { userId: two }]);
  expect(await added()).toEqual([{ subjectId: two, roleName: 'support', ...of }]);
  await groups.addRole(desk.id, 'plain');
  await groups.addMembers(desk.id, [{ userId: one, until: new Date(Date.now() + 1e9) }]);
  expect(await added()).toEqual([]);
  await groups.addRole(desk.id, 'auditor');
  const both = [one, two].map((subjectId) => ({ subjectId, roleName: 'auditor', ...of }));
  expect(await added()).toEqual(expect.arrayContaining(both));

  const { id: three } = await people.person();
  const top = await groups.create({ name: 'Top' });
  await groups.addRole(top.id, 'admin');
  const below = await groups.create({ name: 'Below' });
  await groups.addMembers(below.id, [{ userId: three }]);
  await groups.addChild(top.id, below.id);
  expect(await added()).toEqual([{ subjectId: three, roleName: 'admin', groupId: top.id, groupName: 'Top' }]);

  const { id: four } = await people.person();
  await groups.addRole((await groups.create({ name: 'Plain people' })).id, 'plain');
  await roles.assign(four, 'plain');
  await roles.update('plain', { permissions: ['gatehouse.users:read'] });
  const now = await added();
  expect(now.map(({ subjectId }) => subjectId).sort()).toEqual([one, two, four].sort());
  await roles.update('plain', { permissions: ['gatehouse.users:read', 'gatehouse.audit:read'] });
  expect(await added()).toEqual([]);
});

test('a role by a connection makes an administrator', async () => {
  const { id } = await people.person();
  const set = createSetConnectionRoles(services);
  const role = await roles.find('support');
  await set(id, { connectionId: 'corp', roleIds: [role?.id ?? ''] });
  await set(id, { connectionId: 'corp', roleIds: [role?.id ?? ''] });
  expect(await added()).toEqual([{ subjectId: id, roleName: 'support' }]);
});

test('many by one change have one event with their number', async () => {
  const crowd = await groups.create({ name: 'Crowd' });
  const members: { userId: string }[] = [];
  for (let i = 0; i < 101; i += 1) members.push({ userId: (await people.person()).id });
  await groups.addMembers(crowd.id, members);
  await groups.addRole(crowd.id, 'support');
  const event = { subjectId: null, roleName: 'support', groupId: crowd.id, groupName: 'Crowd', count: 101 };
  expect(await added()).toEqual([event]);
});
