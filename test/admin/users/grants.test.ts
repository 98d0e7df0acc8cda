// The roles and groups of one user with their ends, on the page and by the API: who gives, changes and takes them.
import { beforeAll, expect, it } from 'vitest';
import { aUser } from '../../support/factories.ts';
import type { HttpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { consoleOf, staff } from '../console/support.ts';
import { type ApiCaller, aPerson, aService } from '../support.ts';

let idp: TestIdp;
let admin: HttpClient;
let api: ApiCaller;
let count = 100;
const fresh = (what: string) => `grants-${what}-${++count}`;
const aRole = async (permissions: string[] = []) =>
  (await idp.services.roles.create({ name: fresh('role'), permissions })).name;
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const mainOf = (text: string) => textOf(/<main[\s\S]*<\/main>/.exec(text)?.[0] ?? '');

beforeAll(async () => {
  idp = await sharedIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  api = await aService(idp);
});

it('gives a deputy a role for two weeks with one form, changes the end and takes the role', async () => {
  const [{ account }, role] = [await aUser(idp.services), await aRole()];
  const at = `/admin/users/${account.id}`;
  const until = inDays(14);
  const given = await admin.submit(await admin.get(`${at}/roles/give`), { role, until });
  const page = await admin.follow(given);
  expect(mainOf(page.text)).toMatch(
    new RegExp(`was given the role ${role}.*${role} Given directly .*Expires in 14 days`),
  );
  expect((await idp.services.accounts.find(account.id))?.roles).toEqual([role]);
  const held = () => idp.services.db.userRole.findFirst({ where: { userId: account.id } });
  expect((await held())?.until).toEqual(new Date(`${until}T23:59:59Z`));

  const timed = await admin.submit(await admin.get(`${at}/role/${role}`), { until, 'until.time': '18:30' });
  expect(timed.status).toBe(303);
  expect((await held())?.until).toEqual(new Date(`${until}T18:30:00Z`));
  expect((await admin.get(`${at}/role/${role}`)).forms.at(-1)?.fields).toMatchObject({ until, 'until.time': '18:30' });
  const timeless = await admin.submit(await admin.get(`${at}/role/${role}`), { until: '', 'until.time': '18:30' });
  expect([timeless.status, mainOf(timeless.text)]).toEqual([400, expect.stringContaining('must be a day')]);

  const again = await admin.submit(await admin.get(`${at}/role/${role}`));
  expect(mainOf((await admin.follow(again)).text)).toContain('Nothing changed.');
  const passed = await admin.submit(await admin.get(`${at}/role/${role}`), { until: '2001-01-01' });
  expect(passed.status).toBe(400);
  await admin.submit(await admin.get(`${at}/role/${role}`), { since: inDays(2), until: '', 'until.time': '' });
  expect(await held()).toMatchObject({ since: new Date(`${inDays(2)}T00:00:00Z`), until: null });
  expect((await idp.services.accounts.find(account.id))?.roles).toEqual([]);
  const later = await admin.get(`${at}/roles`);
  expect(mainOf(later.text)).toContain('Not yet');
  expect(later.text).toContain(`${at}/role/${role}/remove`);
  await admin.submit(await admin.get(`${at}/role/${role}/remove`));
  expect(await held()).toBeNull();
});

it('adds a person to a group with an end, and says which roles and groups come from where', async () => {
  const { groups, accounts } = idp.services;
  const [{ account }, role, below] = [await aUser(idp.services), await aRole(), await aRole()];
  const [science, physics] = [
    await groups.create({ name: fresh('Science') }),
    await groups.create({ name: fresh('P') }),
  ];
  await groups.addChild(science.id, physics.id);
  await groups.addRole(science.id, role);
  await groups.addRole(physics.id, below);
  const at = `/admin/users/${account.id}`;
  const unknown = await admin.submit(await admin.get(`${at}/groups/join`), { group: 'no such group' });
  expect(mainOf(unknown.text)).toContain('This group doesn’t exist.');
  const joined = await admin.submit(await admin.get(`${at}/groups/join`), { group: physics.name, until: inDays(20) });
  const page = await admin.follow(joined);
  const text = mainOf(page.text);
  expect(text).toContain(`${role} Group ${science.name}`);
  expect(text).toContain(`${below} Group ${physics.name}`);
  expect(text).toMatch(new RegExp(`${physics.name} /${science.name}/${physics.name} Administrator `));
  expect(text).toContain(`${science.name} Through the group ${physics.name}`);
  // What a group below gives is changed there.
  expect(page.text).not.toContain(`/group/${science.id}/remove`);
  const change = await admin.get(`${at}/group/${physics.id}`);
  await admin.submit(change, { until: inDays(40) });
  expect((await accounts.find(account.id))?.groups[0]?.until).toEqual(new Date(`${inDays(40)}T23:59:59Z`));
  // Opened from the group, the same form leads back there.
  const home = `/admin/groups/${physics.id}`;
  const link = linksOf((await admin.get(home)).text, idp.issuer).find(({ href }) => href.includes('/members/'));
  const ofGroup = await admin.get(link?.href ?? expect.fail('no link'));
  const back = linksOf(ofGroup.text, idp.issuer).filter(({ label }) => label === 'Cancel' || label === physics.name);
  expect(back.map(({ href }) => href)).toEqual([`${idp.issuer}${home}`, `${idp.issuer}${home}`]);
  expect((await admin.submit(ofGroup, { until: inDays(50) })).location).toBe(`${idp.issuer}${home}`);
  expect((await accounts.find(account.id))?.groups[0]?.until).toEqual(new Date(`${inDays(50)}T23:59:59Z`));
  await admin.submit(await admin.get(`${at}/group/${physics.id}/remove`));
  expect((await accounts.find(account.id))?.groups).toEqual([]);
});

it('names who added a person, and nobody where no person did', async () => {
  const { groups } = idp.services;
  const [{ account }, adder] = [await aUser(idp.services), await aPerson(idp, ['admin'])];
  const [first, second] = [
    await groups.create({ name: fresh('added') }),
    await groups.create({ name: fresh('added-by-none') }),
  ];
  await adder.send('PUT', `/users/${account.id}/groups/${first.id}`, {});
  await groups.addMembers(second.id, [{ userId: account.id }]);
  const { id: user, username, name } = adder.user?.account ?? expect.fail('no user');
  expect((await adder.get(`/users/${account.id}/groups`)).json()).toMatchObject({
    items: [
      { group: first.id, added_by: { user, username, name } },
      { group: second.id, added_by: null },
    ],
  });
  const page = await admin.get(`/admin/users/${account.id}/roles`);
  expect(mainOf(page.text)).toContain(username);
});

it('offers and does nothing that the administrator has no right to', async () => {
  const { groups, roles, accounts } = idp.services;
  const [secret, user, group] = [await aRole(), await aUser(idp.services), await groups.create({ name: fresh('Pay') })];
  await groups.addRole(group.id, secret);
  await groups.addMembers(group.id, [{ userId: user.account.id }]);
  const name = fresh('manager');
  const permissions = [
    'gatehouse.groups:read',
    'gatehouse.groups:write',
    'gatehouse.users:read',
    'gatehouse.users:write',
  ];
  await roles.create({ name, permissions });
  const manager = await staff(idp, name);
  const client = await consoleOf(idp, manager);
  const self = `/admin/users/${manager.account.id}`;
  expect(mainOf((await client.get(`${self}/roles`)).text)).not.toContain(secret);
  const { _csrf = '' } = (await client.get('/admin/groups/new')).forms.at(-1)?.fields ?? {};
  const posts: [string, Record<string, string>][] = [
    [`${self}/roles/give`, { role: secret }],
    [`${self}/groups/join`, { group: group.name }],
    [`/admin/users/${user.account.id}/group/${group.id}`, { until: inDays(1) }],
    [`/admin/users/${user.account.id}/group/${group.id}/remove`, {}],
  ];
  for (const [at, fields] of posts) {
    const sent = await client.post(at, { form: { _csrf, ...fields } });
    expect(sent.status, `${at} ${textOf(sent.text)}`).toBe(403);
  }
  expect((await accounts.find(manager.account.id))?.roles).toEqual([name]);
  expect((await accounts.find(user.account.id))?.groups).toMatchObject([{ until: null }]);

  const caller = await aPerson(idp, [name]);
  for (const [method, path] of [
    ['PUT', `/users/${user.account.id}/groups/${group.id}`],
    ['DELETE', `/users/${user.account.id}/groups/${group.id}`],
    ['PUT', `/users/${user.account.id}/roles/${secret}`],
  ] as const)
    expect((await caller.send(method, path, method === 'PUT' ? {} : undefined)).status, path).toBe(403);
});

it('has the same in the API', async () => {
  const { groups } = idp.services;
  const [{ account }, role, inherited] = [await aUser(idp.services), await aRole(), await aRole()];
  const [above, group] = [await groups.create({ name: fresh('Above') }), await groups.create({ name: fresh('Lab') })];
  await groups.addChild(above.id, group.id);
  await groups.addRole(above.id, inherited);
  const at = `/users/${account.id}`;
  const until = '2040-01-01T00:00:00.000Z';
  const send = async (method: string, path: string, body?: unknown) => {
    const page = await api.send(method, `${at}${path}`, body);
    expect(page.status, `${path} ${page.text}`).toBeLessThan(300);
    return page;
  };
  await send('PUT', `/roles/${role}`, { until });
  await send('PUT', `/roles/${role}`, { until });
  await send('PUT', `/groups/${group.id}`, { until });
  const items = async (path: string) => (await send('GET', path)).json<{ items: object[] }>().items;
  expect(await items('/roles')).toEqual([
    { role, source: 'direct', source_id: null, since: null, until },
    { role: inherited, source: 'group', source_id: above.id, since: null, until },
  ]);
  expect(await items('/groups')).toMatchObject([
    { group: above.id, source: 'below', below: group.name, until },
    { group: group.id, source: 'direct', source_id: null, below: null, path: `/${above.name}/${group.name}`, until },
  ]);
  // The list of roles leaves the end of one that stays.
  const page = await api.send('PUT', `${at}/roles`, { roles: [role] }, { 'if-match': '*' });
  expect(page.status).toBe(200);
  expect(await items('/roles')).toMatchObject([{ role, until }, { role: inherited }]);
  await send('DELETE', `/roles/${role}`);
  await send('DELETE', `/groups/${group.id}`);
  expect([...(await items('/roles')), ...(await items('/groups'))]).toEqual([]);
});
