// /api/admin/groups: every operation, paging, versions and repeated requests, and who may do what.
import { beforeAll, describe, expect, it } from 'vitest';
import { aClient, aUser } from '../../support/factories.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { type ApiCaller, aPerson, aService, aTool } from '../support.ts';

const anyVersion = { 'if-match': '*' };
let idp: TestIdp;
let admin: ApiCaller;
let count = 0;
const fresh = (what: string) => `api-${what}-${++count}`;

beforeAll(async () => {
  idp = await sharedIdp();
  admin = await aService(idp);
});

async function ok<T = Record<string, unknown>>(
  method: string,
  path: string,
  body?: unknown,
  {
    status = 200,
    headers = {},
    by = admin,
  }: { status?: number; headers?: Record<string, string>; by?: ApiCaller } = {},
): Promise<T & { etag: string }> {
  const page = await by.send(method, path, body, headers);
  expect(page.status, `${method} ${path} ${page.text}`).toBe(status);
  return { ...(page.text ? page.json<T & object>() : ({} as T)), etag: page.headers.etag ?? '' };
}
type Created = { id: string; name: string };
const aGroup = (name = fresh('group'), more = {}) => ok<Created>('POST', '/groups', { name, ...more }, { status: 201 });
const aRole = async (permissions: string[] = []) =>
  (await idp.services.roles.create({ name: fresh('role'), permissions })).name;
const in204 = { status: 204 };

describe('a group', () => {
  it('is made once for a repeated request, read, changed by its version, and deleted after its losses were read', async () => {
    const name = fresh('lab');
    const headers = { 'idempotency-key': name };
    const made = await ok<Created>('POST', '/groups', { name, description: 'x' }, { status: 201, headers });
    const again = await ok<Created>('POST', '/groups', { name, description: 'x' }, { status: 201, headers });
    expect(again.id).toBe(made.id);
    expect(made).toMatchObject({ name, path: `/${name}`, accepts_requests: false, source: 'local', roles: [] });
    const path = `/groups/${made.id}`;
    const changed = await ok('PATCH', path, { accepts_requests: true }, { headers: { 'if-match': made.etag } });
    expect(changed).toMatchObject({ accepts_requests: true, description: 'x' });
    await ok('PATCH', path, { description: 'y' }, { status: 412, headers: { 'if-match': made.etag } });
    await ok('DELETE', path, undefined, { status: 412, headers: { 'if-match': made.etag } });
    await ok('POST', '/groups', { name: name.toUpperCase() }, { status: 409 });
    await ok('POST', '/groups', { name: 'a/b' }, { status: 400 });
    await ok('POST', '/groups', { name: 'x'.repeat(10_000) }, { status: 400 });
    const { account } = await aUser(idp.services);
    await ok('POST', `${path}/members`, { members: [{ user: account.id }] });
    expect(await ok('GET', `${path}/losses`)).toMatchObject({ members: 1, children: 0, roles: [], applications: [] });
    await ok('DELETE', path, undefined, { status: 204, headers: anyVersion });
    await ok('GET', path, undefined, { status: 404 });
  });

  it('is found by part of its name, a page at a time', async () => {
    const names = [];
    for (const letter of ['c', 'a', 'b']) names.push((await aGroup(`Paged ${letter}`)).name);
    const first = await ok<{ items: Created[]; next: string }>('GET', '/groups?search=paged&limit=2');
    const second = await ok<{ items: Created[]; next: null }>(
      'GET',
      `/groups?search=paged&limit=2&cursor=${first.next}`,
    );
    expect([...first.items, ...second.items].map(({ name }) => name)).toEqual(names.sort());
    expect(second.next).toBeNull();
  });

  it('has children, roles and owners; no cycle', async () => {
    const [science, physics] = [await aGroup(), await aGroup()];
    const role = await aRole();
    await ok('PUT', `/groups/${science.id}/children/${physics.id}`, undefined, in204);
    await ok('PUT', `/groups/${science.id}/roles/${role}`, undefined, in204);
    await ok('PUT', `/groups/${physics.id}/children/${science.id}`, undefined, { status: 400 });
    expect(await ok('GET', `/groups/${science.id}`)).toMatchObject({
      children: [{ id: physics.id, name: physics.name }],
      roles: [role],
    });
    expect(await ok('GET', `/groups/${physics.id}`)).toMatchObject({ path: `/${science.name}/${physics.name}` });
    const { account } = await aUser(idp.services);
    const owners = `/groups/${science.id}/owners`;
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await ok('PUT', `${owners}/${account.id}`, { until }, in204);
    expect(await ok('GET', owners)).toMatchObject({ items: [{ user: account.id, until, confirmed: true }] });
    await ok('PUT', `/groups/${physics.id}/roles/${await aRole()}`, undefined, in204);
    expect(await ok('GET', owners)).toMatchObject({ items: [{ confirmed: false }] });
    await ok('DELETE', `${owners}/${account.id}`, undefined, in204);
    await ok('DELETE', `/groups/${science.id}/children/${physics.id}`, undefined, in204);
    await ok('DELETE', `/groups/${science.id}/roles/${role}`, undefined, in204);
    expect(await ok('GET', `/groups/${science.id}`)).toMatchObject({ children: [], roles: [] });
  });

  it('has members with a beginning and an end, added all or none', async () => {
    const { id } = await aGroup();
    const path = `/groups/${id}/members`;
    const users = [];
    for (let at = 0; at < 3; at += 1) users.push((await aUser(idp.services)).account.id);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const members = users.map((user) => ({ user, until }));
    const wrong = await ok('POST', path, { members: [...members, { user: 'nobody' }] }, { status: 400 });
    expect(wrong).toMatchObject({ errors: [{ path: 'members[3].user' }] });
    const twice = { members: [...members, { user: users[1] }] };
    expect(await ok('POST', path, twice, { status: 400 })).toMatchObject({ errors: [{ path: 'members[3].user' }] });
    const unknown = await ok('POST', path, { members: [{ user: 'nobody' }] }, { status: 400 });
    expect(unknown).toMatchObject({ errors: [{ path: 'members[0].user' }] });
    expect(await ok('GET', path)).toMatchObject({ items: [] });
    const headers = { 'idempotency-key': fresh('members') };
    expect(await ok('POST', path, { members }, { headers })).toMatchObject({ changed: 3 });
    expect(await ok('POST', path, { members }, { headers })).toMatchObject({ changed: 3 });
    expect(await ok('POST', path, { members })).toMatchObject({ changed: 0 });
    const past = new Date(Date.now() - 1000).toISOString();
    // One row is a list too.
    const refused = await admin.send('POST', path, { members: [{ user: users[0], until: past }] });
    expect(refused.json()).toMatchObject({ status: 400, errors: [{ path: 'members[0].until', code: 'end-passed' }] });
    type List = { items: { user: string; until: string; source: string }[]; next: string | null };
    const first = await ok<List>('GET', `${path}?limit=2`);
    const second = await ok<List>('GET', `${path}?limit=2&cursor=${first.next}`);
    const found = [...first.items, ...second.items];
    expect(found.map(({ user }) => user).sort()).toEqual([...users].sort());
    expect(found).toMatchObject(users.map(() => ({ until, source: 'direct' })));
    expect(second.next).toBeNull();
    await ok('DELETE', `${path}/${users[0]}`, undefined, in204);
    expect((await ok<List>('GET', path)).items).toHaveLength(2);
  });

  it('says by which way each person came in, and of which domain or connection', async () => {
    const { id } = await aGroup();
    const { account } = await aUser(idp.services);
    await ok('POST', `/groups/${id}/members`, { members: [{ user: account.id }] });
    for (const way of ['domain:corp.example', 'connection:corp'] as const)
      await idp.services.groups.setMemberships(account.id, way, [id]);
    const ways = [
      { source: 'connection', source_id: 'corp' },
      { source: 'direct', source_id: null },
      { source: 'domain', source_id: 'corp.example' },
    ].map((way) => ({ ...way, user: account.id, username: account.username }));
    type List = { items: unknown[]; next: string | null };
    const first = await ok<List>('GET', `/groups/${id}/members?limit=2`);
    const second = await ok<List>('GET', `/groups/${id}/members?limit=2&cursor=${first.next}`);
    expect([...first.items, ...second.items]).toMatchObject(ways);
  });
});

it('has requests, which an administrator decides with an end', async () => {
  const { groups, groupRequests, accounts } = idp.services;
  const group = await aGroup(fresh('asked'), { accepts_requests: true });
  const [owner, ann] = [await aUser(idp.services), await aUser(idp.services)];
  await groups.appointOwner(group.id, { userId: owner.account.id });
  const access = { roles: [], groups: [group.name] };
  const { applicationId } = await aClient(idp.services, {
    client_name: 'Asked wiki',
    redirect_uris: ['https://wiki.example.com/cb'],
    access,
  });
  const wish = { userId: ann.account.id, groupId: group.id, applicationId, until: null };
  await groupRequests.ask({ ...wish, reason: 'Spring' });
  const path = `/groups/${group.id}/requests`;
  const { items } = await ok<{ items: { id: string }[] }>('GET', path);
  expect(items).toMatchObject([
    { user: ann.account.id, reason: 'Spring', until: null, application: { id: applicationId, name: 'Asked wiki' } },
  ]);
  const decision = `${path}/${items[0]?.id}/decision`;
  await ok('POST', decision, { decision: 'perhaps' }, { status: 400 });
  await ok(
    'POST',
    `/groups/${(await aGroup()).id}/requests/${items[0]?.id}/decision`,
    { decision: 'approve' },
    { status: 404 },
  );
  const until = '2099-01-01T00:00:00.000Z';
  await ok('POST', decision, { decision: 'approve', until }, in204);
  expect((await accounts.find(ann.account.id))?.groups).toMatchObject([{ id: group.id, until: new Date(until) }]);
  await ok('POST', decision, { decision: 'decline' }, { status: 409 });
  expect(await ok('GET', path)).toMatchObject({ items: [] });
});

describe('an administrator without a role', () => {
  it('can neither put people in a group that gives it, nor take them out, nor change that group, by any endpoint', async () => {
    const { roles, accounts } = idp.services;
    const manager = await aRole(['gatehouse.groups:read', 'gatehouse.groups:write', 'gatehouse.users:read']);
    const by = await aPerson(idp, [manager], { tool: await aTool(idp) });
    const secret = await aRole(['payroll:read']);
    const [above, group, free] = [await aGroup(), await aGroup(), await aGroup()];
    await ok('PUT', `/groups/${above.id}/roles/${secret}`, undefined, in204);
    await ok('PUT', `/groups/${above.id}/children/${group.id}`, undefined, in204);
    const [member, other] = [(await aUser(idp.services)).account.id, (await aUser(idp.services)).account.id];
    await ok('POST', `/groups/${group.id}/members`, { members: [{ user: member }] });
    const before = await ok('GET', `/groups/${group.id}`);
    const path = `/groups/${group.id}`;
    const calls: [string, string, unknown?][] = [
      ['POST', `${path}/members`, { members: [{ user: other }] }],
      ['DELETE', `${path}/members/${member}`],
      ['PUT', `/groups/${above.id}/children/${free.id}`],
      ['DELETE', `/groups/${above.id}/children/${group.id}`],
      ['PUT', `/groups/${free.id}/roles/${secret}`],
      ['DELETE', `/groups/${above.id}/roles/${secret}`],
      ['PUT', `${path}/owners/${other}`, {}],
      ['DELETE', `${path}/owners/${other}`],
      ['PATCH', path, { name: fresh('renamed') }],
      ['DELETE', path],
    ];
    for (const [method, at, body] of calls) {
      const answer = await by.send(method, at, body, anyVersion);
      expect(answer.status, `${method} ${at} ${answer.text}`).toBe(403);
    }
    expect(await ok('GET', path)).toEqual(before);
    expect((await accounts.find(member))?.roles).toEqual([secret]);
    expect((await accounts.find(other))?.roles).toEqual([]);
    // A group of its own is no way around.
    await ok('POST', `/groups/${free.id}/members`, { members: [{ user: other }] }, { by });
    await roles.assign(by.user?.account.id ?? '', secret);
    await ok('POST', `${path}/members`, { members: [{ user: other }] }, { by });
    expect((await accounts.find(other))?.roles).toEqual([secret]);
  });

  it('reads groups with the right to read them, and who is in them with the right to read users too', async () => {
    const reader = await aRole(['gatehouse.groups:read']);
    const by = await aPerson(idp, [reader], { tool: await aTool(idp) });
    const { id } = await aGroup();
    await ok('GET', `/groups/${id}`, undefined, { by });
    for (const path of ['members', 'owners', 'requests'])
      await ok('GET', `/groups/${id}/${path}`, undefined, { by, status: 403 });
    await ok('POST', '/groups', { name: fresh('no') }, { by, status: 403 });
  });
});

it('keeps the last administrator, and requires one for a group of administrators', async () => {
  const { id } = await aGroup();
  await ok('PUT', `/groups/${id}/roles/admin`, undefined, in204);
  const { account } = await aUser(idp.services);
  await ok('PUT', `/groups/${id}/owners/${account.id}`, {}, { status: 409 });
  await ok('PATCH', `/groups/${id}`, { accepts_requests: true }, { status: 409, headers: anyVersion });
});

describe('the access rule of an API', () => {
  it('is set, read and changed, and takes the rights of the groups and roles that it names', async () => {
    const [group, role] = [await aGroup(), await aRole()];
    const identifier = `https://${fresh('api')}.example`;
    const access = { roles: [role], groups: [group.name] };
    const made = await ok('POST', '/resources', { identifier, scopes: ['read'], access }, { status: 201 });
    expect(made).toMatchObject({ access });
    const path = `/resources/${encodeURIComponent(identifier)}`;
    expect(await ok('GET', `/groups/${group.id}/losses`)).toMatchObject({ apis: [identifier] });
    await ok('PATCH', path, { access: { groups: ['nobody-here'] } }, { status: 400, headers: anyVersion });
    await ok('PATCH', path, { access: { roles: [] } }, { status: 400, headers: anyVersion });
    await ok('PATCH', path, { access: { groups: [group.name] } }, { status: 412, headers: { 'if-match': '"x"' } });
    expect(await ok('PATCH', path, { scopes: ['read', 'write'] }, { headers: anyVersion })).toMatchObject({ access });

    const manager = await aPerson(idp, ['application-manager']);
    const as = { by: manager, headers: anyVersion };
    for (const other of ['everyone', { groups: [group.name] }, { roles: [role] }])
      await ok('PATCH', path, { access: other }, { ...as, status: 403 });
    await ok('PATCH', path, { scopes: ['read'] }, as);
    await ok('DELETE', path, undefined, { ...as, status: 403 });
    const another = { identifier: `${identifier}/x`, access: { groups: [group.name] } };
    await ok('POST', '/resources', another, { by: manager, status: 403 });
    await ok('PATCH', path, { access: 'everyone' }, { headers: anyVersion });
    await ok('DELETE', path, undefined, { ...as, status: 204 });
  });
});
