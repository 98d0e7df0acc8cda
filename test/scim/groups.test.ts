// Groups by SCIM: their members as deltas, what a connection takes over, and what it may not give.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { declarationOf } from '../../src/protocols/scim/connections.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { aConnection, type Connection, GROUP, USER } from './support.ts';

let idp: TestIdp;
let hr: Connection;
let people: string[];
beforeAll(async () => {
  idp = await startIdp();
  hr = await aConnection(idp, { mappings: { attributes: {}, groups: { 'Lab (cloud)': 'Lab' } } });
  people = [];
  for (let index = 0; index < 60; index += 1)
    people.push(String((await hr.ok('POST', '/Users', { schemas: [USER], userName: `member${index}` })).id));
});
afterAll(() => idp?.stop());

const member = (value: string | undefined) => ({ value: String(value) });
const newGroup = (displayName: string, members: readonly object[] = []) =>
  hr
    .ok('POST', '/Groups', { schemas: [GROUP], displayName, externalId: displayName, members })
    .then(({ id }) => String(id));
const membersOf = async (id: string, connection = hr) =>
  ((await connection.ok('GET', `/Groups/${id}`)).members as { value: string }[] | undefined)
    ?.map(({ value }) => value)
    .sort() ?? [];

it('a group has the members that the client puts in, with their roles', async () => {
  const { accounts, groups } = idp.services;
  const [ann = '', bob = ''] = people;
  await idp.services.roles.create({ name: 'builder' });
  const id = await newGroup('Builders', [member(ann)]);
  await groups.addRole(id, 'builder');
  expect((await accounts.find(ann))?.roles).toEqual(['builder']);
  const patched = await hr.patch(`/Groups/${id}`, { op: 'add', path: 'members', value: [member(bob)] });
  expect([patched.status, patched.text]).toEqual([204, '']);
  expect(await membersOf(id)).toEqual([ann, bob].sort());
  expect(await hr.ok('GET', `/Users/${bob}`)).toMatchObject({
    groups: [{ value: id, display: 'Builders', type: 'direct', $ref: `${idp.issuer}/scim/v2/Groups/${id}` }],
  });
  await hr.patch(`/Groups/${id}`, { op: 'Remove', path: 'members', value: [member(ann)] });
  expect(await membersOf(id)).toEqual([bob]);
  await hr.patch(`/Groups/${id}`, { op: 'remove', path: `members[value eq "${bob}"]` });
  expect((await accounts.find(bob))?.roles).toEqual([]);
});

it('a group changes nothing of the version of its members, which clients send back (If-Match)', async () => {
  const userName = 'versioned';
  const { id, meta } = await hr.ok('POST', '/Users', { schemas: [USER], userName });
  const { version } = meta as { version: string };
  await newGroup('Version', [member(String(id))]);
  const body = { schemas: [USER], userName, displayName: 'Other' };
  const replaced = await hr.send('PUT', `/Users/${id}`, body, { 'if-match': version });
  expect([replaced.status, replaced.json()]).toEqual([200, expect.objectContaining({ displayName: 'Other' })]);
  expect((await hr.send('PUT', `/Users/${id}`, body, { 'if-match': version })).status).toBe(412);
});

it('fifty requests at the same moment lose no member', async () => {
  const id = await newGroup('Parallel');
  const some = people.slice(0, 50);
  // A busy machine answers 503, and a directory sends the request again.
  const add = async (one: string, tries = 10): Promise<number> => {
    const value = [{ ...member(one), $ref: null }];
    const { status } = await hr.patch(`/Groups/${id}`, { op: 'Add', path: 'members', value });
    return status === 503 && tries > 1 ? add(one, tries - 1) : status;
  };
  const answers = await Promise.all(some.map((one) => add(one)));
  expect(answers).toEqual(some.map(() => 204));
  expect(await membersOf(id)).toEqual([...some].sort());
});

it('one request renames, adds and removes, or does nothing at all', async () => {
  const [ann, bob, eve] = people;
  const id = await newGroup('Whole', [member(ann)]);
  const steps = [
    { op: 'replace', value: { id, displayName: 'Whole again' } },
    { op: 'add', path: 'members', value: [member(bob)] },
    { op: 'remove', path: `members[value eq "${ann}"]` },
  ];
  expect(
    (await hr.patch(`/Groups/${id}`, ...steps, { op: 'add', path: 'members', value: [member('nobody')] })).status,
  ).toBe(400);
  expect(await hr.ok('GET', `/Groups/${id}`)).toMatchObject({ displayName: 'Whole', members: [{ value: ann }] });
  expect((await hr.patch(`/Groups/${id}`, ...steps)).status).toBe(204);
  expect(await hr.ok('GET', `/Groups/${id}`)).toMatchObject({ displayName: 'Whole again', members: [{ value: bob }] });
  expect(await idp.services.groups.get(id)).toMatchObject({ name: 'Whole again' });
  const put = await hr.ok('PUT', `/Groups/${id}`, { displayName: 'Whole', members: [member(eve)] });
  expect(put).toMatchObject({ displayName: 'Whole', members: [{ value: eve }] });
});

it('a member that an administrator added stays, and is not shown to the client', async () => {
  const [ann = '', bob = ''] = people;
  const id = await newGroup('Shared', [member(ann)]);
  await idp.services.groups.addMembers(id, [{ userId: bob }]);
  expect(await membersOf(id)).toEqual([ann]);
  await hr.patch(`/Groups/${id}`, { op: 'replace', path: 'members', value: [] });
  expect((await idp.services.accounts.find(bob))?.groups.map(({ name }) => name)).toContain('Shared');
});

it('a connection gives no right in Gatehouse, and takes over groups only by choice', async () => {
  const { groups } = idp.services;
  const { id: desk } = await groups.create({ name: 'Desk' });
  await groups.addRole(desk, 'support');
  const { id: lab } = await groups.create({ name: 'Lab' });
  const body = { displayName: 'Desk', members: [member(people[0])] };
  expect((await hr.fails('POST', '/Groups', body)).status).toBe(409);
  const adopting = await aConnection(idp, { adopt: 'owned_domains' });
  expect(await adopting.fails('POST', '/Groups', { displayName: 'Desk' })).toMatchObject({ status: 409 });
  expect(await newGroup('Lab (cloud)', [member(people[1])])).toBe(lab);
  expect((await groups.get(lab)).name).toBe('Lab');
  await expect(groups.addRole(lab, 'support')).rejects.toMatchObject({ code: 'group_sensitive' });
});

it('a connection takes over no other group, and neither renames nor deletes one that it did not create', async () => {
  const { groups, roles, scimConnections } = idp.services;
  const { id: local } = await groups.create({ name: 'Net admins' });
  await roles.create({ name: 'net' });
  await groups.addRole(local, 'net');
  const { id: lab } = await groups.create({ name: 'Mapped' });
  const other = await aConnection(idp, {
    adopt: 'owned_domains',
    mappings: { attributes: {}, groups: { 'Mapped (cloud)': 'Mapped', 'Mapped again': 'Mapped' } },
  });
  const { id: userId } = await other.ok('POST', '/Users', { schemas: [USER], userName: 'climber' });
  const members = [{ value: String(userId) }];
  for (const displayName of ['Net admins', 'NET ADMINS', 'Net  admins'])
    expect(await other.fails('POST', '/Groups', { displayName, members })).toMatchObject({
      status: 409,
      detail: expect.stringContaining('mappings.groups'),
    });
  expect((await idp.services.accounts.find(String(userId)))?.roles).toEqual([]);
  expect(await other.ok('POST', '/Groups', { displayName: 'Mapped (cloud)', members })).toMatchObject({ id: lab });
  expect((await other.fails('POST', '/Groups', { displayName: 'Mapped again' })).status).toBe(409);
  const path = `/Groups/${lab}`;
  const rename = (value: string) => other.patch(path, { op: 'replace', path: 'displayName', value });
  expect((await rename('Renamed')).status).toBe(204);
  const unmapped = { ...declarationOf(other.connection), mappings: { attributes: {}, groups: {} } };
  await scimConnections.update(other.connection.id, unmapped, {});
  expect((await rename('Renamed again')).status).toBe(204);
  expect(await other.ok('GET', path)).toMatchObject({ displayName: 'Renamed again', members });
  expect(await groups.get(lab)).toMatchObject({ name: 'Mapped' });
  expect((await other.send('DELETE', path)).status).toBe(204);
  expect(await groups.get(lab)).toMatchObject({ name: 'Mapped' });
});

it('a deleted group goes where nothing else uses it, and stays with what it has otherwise', async () => {
  const { groups, roles } = idp.services;
  const unused = await newGroup('Unused', [member(people[0])]);
  expect((await hr.send('DELETE', `/Groups/${unused}`)).status).toBe(204);
  await expect(groups.get(unused)).rejects.toMatchObject({ status: 404 });
  const used = await newGroup('Used', [member(people[0])]);
  await roles.create({ name: 'user-of-it' });
  await groups.addRole(used, 'user-of-it');
  await hr.send('DELETE', `/Groups/${used}`);
  expect((await hr.fails('GET', `/Groups/${used}`)).status).toBe(404);
  expect(await groups.get(used)).toMatchObject({ name: 'Used' });
  expect((await idp.services.accounts.find(people[0] ?? ''))?.groups.map(({ name }) => name)).not.toContain('Used');
});

it('groups of others do not exist for a connection', async () => {
  const other = await aConnection(idp);
  const id = await newGroup('Mine');
  expect((await other.fails('GET', `/Groups/${id}`)).status).toBe(404);
  expect((await other.patch(`/Groups/${id}`, { op: 'remove', path: 'members' })).status).toBe(404);
  expect((await other.send('DELETE', `/Groups/${id}`)).status).toBe(404);
  expect((await other.fails('POST', '/Groups', { displayName: 'Theirs', members: [member(people[0])] })).status).toBe(
    400,
  );
});
