import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEnds, type Ends } from '../../src/people/groups/ends.ts';
import { createGroups, type Groups } from '../../src/people/groups/groups.ts';
import type { Group } from '../../src/people/groups/read.ts';
import { createAuthority } from '../../src/people/rbac/authority.ts';
import { createRoles, type Roles } from '../../src/people/rbac/roles.ts';
import { openPeople, type People } from '../accounts/fixture.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { servicesOf } from '../support/services-of.ts';

let people: People;
let roles: Roles;
let groups: Groups;
let ends: Ends;
const signedOut: string[] = [];
let signsOut = false;
beforeAll(async () => {
  people = await openPeople();
  const settings = { latest: () => ({ sign_out_on_role_change: signsOut }) };
  const services = {
    ...servicesOf(people),
    ...people,
    settings: settings as never,
    authority: createAuthority(people),
    outbox: { send: async () => {} } as never,
    logoutOnRoleChange: async (userIds: readonly string[]) => void signedOut.push(...userIds),
  };
  roles = createRoles(services);
  groups = createGroups(services);
  ends = createEnds(services);
  await roles.ensureBuiltInRoles();
});
afterAll(() => people.close());

const code = (expected: string) => expect.objectContaining({ code: expected });
const fault = (expected: string) => expect.objectContaining({ faults: [expect.objectContaining({ code: expected })] });
const account = async (id: string) => (await people.accounts.find(id)) ?? expect.fail('no account');

let count = 0;
function newName(kind: string): string {
  count += 1;
  return `${kind}${count}`;
}
const aGroup = (name = newName('group')) => groups.create({ name });

/** An actor with these permissions, and with roles. */
async function actorWith(permissions: string[], roleNames: string[] = []) {
  const role = newName('actor');
  await roles.create({ name: role, permissions });
  const { id } = await people.person();
  for (const name of [role, ...roleNames]) await roles.assign(id, name);
  return { actorId: id };
}

describe('a group', () => {
  test('gives the people in it and below it its roles, until they leave', async () => {
    await roles.create({ name: 'lab-user', permissions: ['lab:use'] });
    const [science, physics] = [await aGroup('Science'), await aGroup('Physics')];
    await groups.addChild(science.id, physics.id);
    await groups.addRole(science.id, 'lab-user');
    const { id } = await people.person();
    expect(await account(id)).toMatchObject({ roles: [], groups: [] });
    expect(await groups.addMembers(physics.id, [{ userId: id }])).toBe(1);
    expect(await account(id)).toMatchObject({ roles: ['lab-user'], permissions: ['lab:use'] });
    expect((await account(id)).groups).toEqual([
      { id: physics.id, name: 'Physics', path: '/Science/Physics', isDirect: true, via: 'Physics', until: null },
      { id: science.id, name: 'Science', path: '/Science', isDirect: false, via: 'Physics', until: null },
    ]);
    await groups.update(science.id, { name: 'Sciences' });
    expect((await account(id)).groups.map(({ path }) => path)).toEqual(['/Sciences/Physics', '/Sciences']);
    expect(await groups.removeMembers(physics.id, [id])).toBe(1);
    expect(await account(id)).toMatchObject({ roles: [], permissions: [], groups: [] });
  });

  test('is not in itself, and at most eight are one below the other', async () => {
    const chain: Group[] = [];
    for (let level = 1; level <= 9; level += 1) chain.push(await aGroup());
    const idAt = (level: number) => chain[level - 1]?.id ?? '';
    for (let level = 1; level < 8; level += 1) await groups.addChild(idAt(level), idAt(level + 1));
    await expect(groups.addChild(idAt(8), idAt(9))).rejects.toEqual(fault('group-depth'));
    await expect(groups.addChild(idAt(9), idAt(1))).rejects.toEqual(fault('group-depth'));
    await expect(groups.addChild(idAt(8), idAt(1))).rejects.toEqual(fault('group-cycle'));
    await expect(groups.addChild(idAt(2), idAt(2))).rejects.toEqual(fault('group-cycle'));
    const { children } = await groups.relations(idAt(8));
    expect(children).toEqual([]);
  });

  test('gets no cycle from two changes at the same time', async () => {
    const [one, other] = [await aGroup(), await aGroup()];
    const results = await Promise.allSettled([groups.addChild(one.id, other.id), groups.addChild(other.id, one.id)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('a name of a group', () => {
  test('is unique, also among names that look alike', async () => {
    await aGroup('Admins of Lab');
    for (const name of ['Admins of Lab', 'admins of lab', 'Аdmins of Lab', 'Admins  of Lab'])
      await expect(groups.create({ name }), name).rejects.toEqual(code('group_name_taken'));
  });

  itOnSqlite.each(['a/b', '', ' a', 'a\tb', 'a\nb', 'a\u200bb', 'Lab\u202e'])('is not %j', async (name) => {
    await expect(groups.create({ name })).rejects.toEqual(fault('group-name-form'));
  });

  test('of 10,000 characters is no name, and is found nowhere', async () => {
    await expect(groups.create({ name: 'a'.repeat(10_000) })).rejects.toEqual(fault('group-name-form'));
    expect(await groups.find('a'.repeat(10_000))).toBeUndefined();
  });
});

describe('a membership', () => {
  const hours = (count: number) => new Date(people.now().getTime() + count * 3_600_000);

  test('begins and ends on read, without the job', async () => {
    const group = await aGroup();
    await roles.create({ name: 'timed', permissions: ['timed:use'] });
    await groups.addRole(group.id, 'timed');
    const { id } = await people.person();
    await groups.addMembers(group.id, [{ userId: id, since: hours(1), until: hours(2) }]);
    const rolesNow = async () => (await account(id)).roles;
    expect(await rolesNow()).toEqual([]);
    people.clock.advance({ hours: 1 });
    expect(await rolesNow()).toEqual(['timed']);
    expect((await people.accounts.list({ role: 'timed' })).accounts.map((one) => one.id)).toEqual([id]);
    people.clock.advance({ hours: 1 });
    expect(await rolesNow()).toEqual([]);
    expect((await people.accounts.list({ role: 'timed' })).accounts).toEqual([]);
    expect(await people.db.groupMember.count({ where: { userId: id } })).toBe(1);
  });

  test('is deleted by the job after its end, which records it and signs the user out', async () => {
    const group = await aGroup();
    const { id } = await people.person();
    await groups.addMembers(group.id, [{ userId: id, until: hours(1) }]);
    await roles.create({ name: 'deputy' });
    await roles.assign(id, 'deputy', {}, undefined, { until: hours(1) });
    expect(await account(id)).toMatchObject({ roles: ['deputy'] });
    people.clock.advance({ hours: 1 });
    expect(await account(id)).toMatchObject({ roles: [], groups: [] });
    signedOut.length = 0;
    await ends.tidy();
    expect(signedOut.filter((one) => one === id)).toHaveLength(2);
    expect(await people.db.groupMember.count({ where: { userId: id } })).toBe(0);
    expect(await people.db.userRole.count({ where: { userId: id } })).toBe(0);
    const [event] = await people.audit.list({ types: ['group.member-expired'], partyId: id });
    expect(event).toMatchObject({ subjectId: id, data: { groupId: group.id, via: 'direct' } });
  });

  itOnSqlite('does not end in the past or before it begins', async () => {
    const group = await aGroup();
    const { id } = await people.person();
    for (const times of [{ until: hours(-1) }, { until: hours(0) }, { since: hours(2), until: hours(1) }])
      await expect(groups.addMembers(group.id, [{ userId: id, ...times }])).rejects.toEqual(fault('end-passed'));
    await expect(roles.assign(id, 'timed', {}, undefined, { until: hours(-1) })).rejects.toEqual(fault('end-passed'));
  });

  test('of several ways in lasts as long as the longest', async () => {
    const [parent, one, other] = [await aGroup(), await aGroup(), await aGroup()];
    await groups.addChild(parent.id, one.id);
    await groups.addChild(parent.id, other.id);
    const { id } = await people.person();
    await groups.addMembers(one.id, [{ userId: id, until: hours(5) }]);
    await groups.addMembers(other.id, [{ userId: id, until: hours(9) }]);
    const found = (await account(id)).groups.find((group) => group.id === parent.id);
    expect(found).toMatchObject({ via: other.name, until: hours(9), isDirect: false });
    await groups.addMembers(parent.id, [{ userId: id, until: hours(1) }]);
    const both = (await account(id)).groups.find((group) => group.id === parent.id);
    expect(both).toMatchObject({ via: other.name, until: hours(9), isDirect: true });
  });

  test('by a connection comes and goes beside the own one', async () => {
    const group = await aGroup();
    const { id } = await people.person();
    await groups.addMembers(group.id, [{ userId: id }]);
    expect(await groups.setMemberships(id, 'connection:ldap', [group.id])).toEqual({ added: [group.id], removed: [] });
    expect(await groups.setMemberships(id, 'connection:ldap', [])).toEqual({ added: [], removed: [group.id] });
    expect((await account(id)).groups).toHaveLength(1);
    expect(await groups.removeMembers(group.id, [id])).toBe(1);
    expect((await account(id)).groups).toEqual([]);
  });

  test('that another program wrote counts as none, as do its roles, its group and its place in the graph', async () => {
    const [group, below] = [await aGroup(), await aGroup()];
    await roles.create({ name: 'forged-by-group' });
    await groups.addRole(group.id, 'forged-by-group');
    const { id } = await people.person();
    const row = { groupId: group.id, userId: id, source: 'direct' };
    await people.db.asStored.groupMember.create({ data: { ...row, mac: 'x.y' } });
    expect(await account(id)).toMatchObject({ roles: [], groups: [] });
    await people.db.groupMember.deleteMany({ where: row });
    await groups.addMembers(below.id, [{ userId: id }]);
    await people.db.asStored.groupAncestor.create({ data: { groupId: below.id, ancestorId: group.id } });
    expect(await account(id)).toMatchObject({ roles: [], groups: [{ name: below.name }] });
    const role = await roles.create({ name: 'forged-role' });
    await people.db.asStored.groupRole.create({ data: { groupId: below.id, roleId: role.id } });
    expect(await account(id)).toMatchObject({ roles: [] });
    await people.db.asStored.group.update({ where: { id: below.id }, data: { name: 'Grafana admins' } });
    expect(await account(id)).toMatchObject({ groups: [] });
  });
});

describe('who puts people in a group', () => {
  test('may give every role of it and of the groups above it', async () => {
    const [parent, child] = [await aGroup(), await aGroup()];
    await groups.addChild(parent.id, child.id);
    for (const name of ['of-parent', 'of-child']) await roles.create({ name });
    await groups.addRole(parent.id, 'of-parent');
    await groups.addRole(child.id, 'of-child');
    const { id: userId } = await people.person();
    const add = (by: object) => groups.addMembers(child.id, [{ userId }], { by });
    const write = ['gatehouse.groups:write'];
    await expect(add(await actorWith([], ['of-parent', 'of-child']))).rejects.toEqual(code('forbidden'));
    await expect(add(await actorWith(write, ['of-child']))).rejects.toEqual(code('forbidden'));
    await expect(add(await actorWith(write, ['of-parent']))).rejects.toEqual(code('forbidden'));
    expect(await add(await actorWith(write, ['of-parent', 'of-child']))).toBe(1);
    const lesser = { by: await actorWith(write, ['of-child']) };
    await expect(groups.removeMembers(child.id, [userId], lesser)).rejects.toEqual(code('forbidden'));
    await expect(groups.remove(parent.id, lesser)).rejects.toEqual(code('forbidden'));
    await expect(groups.update(parent.id, { name: 'other' }, lesser)).rejects.toEqual(code('forbidden'));
    await expect(groups.addRole(child.id, 'of-parent', lesser)).rejects.toEqual(code('forbidden'));
    await expect(groups.removeChild(parent.id, child.id, lesser)).rejects.toEqual(code('forbidden'));
    const { id: other } = await aGroup();
    await expect(groups.addChild(parent.id, other, lesser)).rejects.toEqual(code('forbidden'));
    await expect(groups.appointOwner(parent.id, { userId }, lesser)).rejects.toEqual(code('forbidden'));
  });

  itOnSqlite('of a role for Gatehouse has its rights; of the administrators is one', async () => {
    const [support, admins] = [await aGroup(), await aGroup()];
    await groups.addRole(support.id, 'support');
    await groups.addRole(admins.id, 'admin');
    const { id: userId } = await people.person();
    const by = await actorWith(['gatehouse.groups:write', 'gatehouse.roles:manage']);
    for (const id of [support.id, admins.id])
      await expect(groups.addMembers(id, [{ userId }], { by })).rejects.toEqual(code('forbidden'));
    const above = await aGroup();
    await expect(groups.addChild(admins.id, above.id, { by })).rejects.toEqual(code('forbidden'));
    await expect(groups.addRole(above.id, 'admin', { by })).rejects.toEqual(code('forbidden'));
  });

  test('as an owner does so in this group and below it, as long as the ownership lasts', async () => {
    const [group, below, sibling] = [await aGroup(), await aGroup(), await aGroup()];
    await groups.addChild(group.id, below.id);
    const [owner, member] = [await people.person(), await people.person()];
    const until = new Date(people.now().getTime() + 3_600_000);
    await groups.appointOwner(group.id, { userId: owner.id, until });
    const by = { actorId: owner.id };
    const add = (id: string) => groups.addMembers(id, [{ userId: member.id }], { by, via: 'owner' });
    expect([await add(group.id), await add(below.id)]).toEqual([1, 1]);
    const first = await groups.ownedBy(owner.id, { limit: 1 });
    const second = await groups.ownedBy(owner.id, { limit: 1, after: first.next });
    expect([...first.groups, ...second.groups].map(({ id }) => id)).toEqual([group.id, below.id]);
    expect([first.total, second.next]).toEqual([2, undefined]);
    // A row of another program makes nobody an owner.
    const other = await aGroup();
    await people.db
      .$executeRaw`INSERT INTO group_ancestors (group_id, ancestor_id, mac) VALUES (${other.id}, ${group.id}, 'x')`;
    expect((await groups.ownedBy(owner.id, { limit: 9 })).groups.map(({ id }) => id)).toEqual([group.id, below.id]);
    await people.db.$executeRaw`DELETE FROM group_ancestors WHERE group_id = ${other.id} AND ancestor_id = ${group.id}`;
    await expect(add(sibling.id)).rejects.toEqual(code('forbidden'));
    await expect(groups.addMembers(group.id, [{ userId: member.id }], { by })).rejects.toEqual(code('forbidden'));
    await expect(groups.addRole(group.id, 'timed', { by })).rejects.toEqual(code('forbidden'));
    await expect(groups.update(group.id, { name: 'mine' }, { by })).rejects.toEqual(code('forbidden'));
    people.clock.advance({ hours: 1 });
    await expect(add(group.id)).rejects.toEqual(code('forbidden'));
    await ends.tidy();
    expect(await groups.owners(group.id)).toEqual([]);
  });

  itOnSqlite('as an owner waits for a confirmation when the group has got a role since', async () => {
    const [parent, group] = [await aGroup(), await aGroup()];
    await roles.create({ name: 'later' });
    const [owner, member] = [await people.person(), await people.person()];
    await groups.appointOwner(group.id, { userId: owner.id });
    const add = () => groups.addMembers(group.id, [{ userId: member.id }], { by: { actorId: owner.id }, via: 'owner' });
    await groups.addRole(parent.id, 'later');
    await groups.addChild(parent.id, group.id);
    await expect(add()).rejects.toEqual(code('group_unconfirmed'));
    // Who left the team leaves the group, confirmed or not.
    await groups.addMembers(group.id, [{ userId: member.id }]);
    const byOwner = { by: { actorId: owner.id }, via: 'owner' } as const;
    expect(await groups.removeMembers(group.id, [member.id], byOwner)).toBe(1);
    await groups.appointOwner(group.id, { userId: owner.id });
    expect(await add()).toBe(1);
  });

  itOnSqlite('is no owner, nobody who asks and no domain where the group gives rights in Gatehouse', async () => {
    const [sensitive, owned, open] = [await aGroup(), await aGroup(), await aGroup()];
    await groups.addRole(sensitive.id, 'support');
    const { id: userId } = await people.person();
    await expect(groups.appointOwner(sensitive.id, { userId })).rejects.toEqual(code('group_sensitive'));
    await expect(groups.update(sensitive.id, { acceptsRequests: true })).rejects.toEqual(code('group_sensitive'));
    await groups.appointOwner(owned.id, { userId });
    await groups.update(open.id, { acceptsRequests: true });
    for (const { id } of [owned, open]) {
      await expect(groups.addRole(id, 'support')).rejects.toEqual(code('group_sensitive'));
      await expect(groups.addChild(sensitive.id, id)).rejects.toEqual(code('group_sensitive'));
    }
    await roles.create({ name: 'harmless' });
    await groups.addRole(owned.id, 'harmless');
    await groups.appointOwner(owned.id, { userId });
    const later = { permissions: ['gatehouse.users:read'] };
    await expect(roles.update('harmless', later)).rejects.toEqual(code('group_sensitive'));
    await groups.addRole(open.id, 'harmless');
    await groups.dismissOwner(owned.id, userId);
    await expect(roles.update('harmless', later)).rejects.toEqual(code('group_sensitive'));
    await groups.removeRole(open.id, 'harmless');
    await roles.update('harmless', later);
    await expect(groups.appointOwner(owned.id, { userId })).rejects.toEqual(code('group_sensitive'));
    // The file may declare it: that stops owners at once.
    await roles.update('harmless', { permissions: [] });
    await groups.appointOwner(owned.id, { userId });
    await roles.update('harmless', { ...later, source: 'file' });
    const by = { actorId: userId };
    const member = await people.person();
    const added = groups.addMembers(owned.id, [{ userId: member.id }], { by, via: 'owner' });
    await expect(added).rejects.toEqual(code('group_sensitive'));
    const moved = await groups.setMemberships(member.id, 'domain:example.com', [owned.id]);
    expect(moved).toEqual({ added: [], removed: [] });
  });
});

describe('the last administrator', () => {
  test('is not lost through a group', async () => {
    for (const row of await people.db.userRole.findMany({ where: { role: { name: 'admin' } } }))
      await people.db.userRole.deleteMany({ where: row });
    await people.db.groupRole.deleteMany({ where: { role: { name: 'admin' } } });
    const [top, group] = [await aGroup(), await aGroup()];
    await groups.addRole(top.id, 'admin');
    await groups.addChild(top.id, group.id);
    const { id } = await people.person();
    await groups.addMembers(group.id, [{ userId: id }]);
    expect((await account(id)).roles).toEqual(['admin']);
    const until = new Date(people.now().getTime() + 3_600_000);
    const lost = [
      () => groups.removeMembers(group.id, [id]),
      () => groups.addMembers(group.id, [{ userId: id, until }]),
      () => groups.removeChild(top.id, group.id),
      () => groups.removeRole(top.id, 'admin'),
      () => groups.remove(group.id),
      () => groups.remove(top.id),
      () => roles.assertNotLastAdmin(id, people.db),
    ];
    for (const change of lost) await expect(change()).rejects.toEqual(code('last_admin'));
    expect((await account(id)).roles).toEqual(['admin']);
    const { id: other } = await people.person();
    await roles.assign(other, 'admin', {}, undefined, { until });
    await expect(groups.removeMembers(group.id, [id])).rejects.toEqual(code('last_admin'));
    await roles.assign(other, 'admin');
    await expect(roles.assign(id, 'admin', {}, undefined, { until })).resolves.toBe(true);
    expect(await groups.removeMembers(group.id, [id])).toBe(1);
    await expect(roles.assign(other, 'admin', {}, undefined, { until })).rejects.toEqual(code('last_admin'));
  });
});

describe('a group of the configuration file', () => {
  itOnSqlite('is changed by the file only; its members too unless it leaves them to others', async () => {
    const file = { source: 'file' } as const;
    const group = await groups.create({ name: 'of-file' }, file);
    const { id: userId } = await people.person();
    await expect(groups.update(group.id, { name: 'mine' })).rejects.toEqual(code('owned_by_file'));
    await expect(groups.remove(group.id)).rejects.toEqual(code('owned_by_file'));
    expect(await groups.addMembers(group.id, [{ userId }])).toBe(1);
    await groups.update(group.id, { fileMembers: true }, file);
    await expect(groups.removeMembers(group.id, [userId])).rejects.toEqual(code('owned_by_file'));
    await groups.remove(group.id, file);
  });
});

describe('many members', () => {
  test('join and leave in one change, and a mistake among them changes nothing', async () => {
    const group = await aGroup();
    const [one, other] = [await people.person(), await people.person()];
    const unknown = [{ userId: one.id }, { userId: 'nobody' }];
    await expect(groups.addMembers(group.id, unknown)).rejects.toEqual(code('not_found'));
    expect(await people.db.groupMember.count({ where: { groupId: group.id } })).toBe(0);
    const both = [{ userId: one.id }, { userId: other.id }, { userId: one.id }];
    expect(await groups.addMembers(group.id, both)).toBe(2);
    expect(await groups.addMembers(group.id, both)).toBe(0);
    for (let at = 0; at < 25; at += 1) {
      const name = `lost-${String(at).padStart(2, '0')}`;
      await roles.create({ name });
      await groups.addRole(group.id, name);
    }
    const { roles: named, totals, ...lost } = await groups.losses(group.id);
    expect(lost).toMatchObject({ members: 2, children: 0, owners: 0 });
    expect([named.length, named[0], totals.roles]).toEqual([20, 'lost-00', 25]);
    expect(await groups.removeMembers(group.id, [one.id, other.id])).toBe(2);
  });

  itOnSqlite('are signed out when the roles of the group change, if the settings say so', async () => {
    const group = await aGroup();
    const { id } = await people.person();
    await groups.addMembers(group.id, [{ userId: id }]);
    await roles.create({ name: 'signs-out' });
    signedOut.length = 0;
    await groups.addRole(group.id, 'signs-out');
    expect(signedOut).toEqual([]);
    signsOut = true;
    await groups.removeRole(group.id, 'signs-out');
    signsOut = false;
    expect(signedOut).toEqual([id]);
  });

  itOnSqlite('are signed out when they join or leave a group without roles, not when the end changes', async () => {
    const group = await aGroup();
    const [{ id }, { id: later }] = [await people.person(), await people.person()];
    const hours = (count: number) => new Date(people.now().getTime() + count * 3_600_000);
    signedOut.length = 0;
    const own = () => signedOut.filter((one) => [id, later].includes(one));
    await groups.addMembers(group.id, [{ userId: id }, { userId: later, since: hours(1), until: hours(2) }]);
    expect(own()).toEqual([id]);
    await groups.addMembers(group.id, [{ userId: id, until: hours(3) }]);
    expect(own()).toEqual([id]);
    await groups.removeMembers(group.id, [id]);
    expect(own()).toEqual([id, id]);
    people.clock.advance({ hours: 1 });
    await ends.tidy();
    expect(own()).toEqual([id, id, later]);
    people.clock.advance({ hours: 1 });
    await ends.tidy();
    expect(own()).toEqual([id, id, later, later]);
  });
});
