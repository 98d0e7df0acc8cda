// Who can open an application: the list by API and as CSV, the applications of a user, and the pages that give and take access.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aClient, aUser } from '../support/factories.ts';
import type { HttpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { linksOf, textOf } from '../support/pages/html.ts';
import { consoleOf, staff } from './console/support.ts';
import { type ApiCaller, aService } from './support.ts';

let idp: TestIdp;
let admin: HttpClient;
let api: ApiCaller;
let count = 0;
const fresh = (what: string) => `people-${what}-${++count}`;
const aRole = async (permissions: string[] = []) =>
  (await idp.services.roles.create({ name: fresh('role'), permissions })).name;
const aGroup = () => idp.services.groups.create({ name: fresh('group') });
const anApp = async (access: object | 'everyone') => {
  const client = await aClient(idp.services, {
    client_name: fresh('app'),
    redirect_uris: ['https://a.example.com/cb'],
    access,
  });
  return { ...client, at: `/admin/applications/${client.applicationId}` };
};

afterAll(() => idp?.stop());
beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  api = await aService(idp);
});

/** An application that a role, a group, and by a group above it another group open, each with a person, and one without access. */
async function aTeam() {
  const { groups, roles } = idp.services;
  const [role, science, physics] = [await aRole(), await aGroup(), await aGroup()];
  await groups.addChild(science.id, physics.id);
  const app = await anApp({ roles: [role], groups: [science.name] });
  const [direct, member, outside] = [await aUser(idp.services), await aUser(idp.services), await aUser(idp.services)];
  await idp.services.accounts.update(direct.account.id, { name: null, givenName: 'Jon', familyName: 'Test' });
  const until = new Date('2040-01-01T00:00:00Z');
  await roles.assign(direct.account.id, role);
  await groups.addMembers(physics.id, [{ userId: member.account.id, until }]);
  return { role, science, physics, app, direct, member, outside, until };
}

it('lists who can open an application and why, page by page, and finds a person by name', async () => {
  const { role, science, physics, app, direct, member, until } = await aTeam();
  const path = `/applications/${app.applicationId}/people`;
  const first = await api.get(`${path}?limit=1`);
  const second = await api.get(`${path}?limit=1&cursor=${first.json<{ next: string }>().next}`);
  const [newest, oldest] = [first.json<{ items: object[] }>(), second.json<{ items: object[] }>()];
  const none = { given_by: null, via: null, connection: null, until: null };
  expect(newest.items).toMatchObject([
    {
      user: member.account.id,
      ways: [{ ...none, by: 'group', name: science.name, via: physics.name, until: until.toISOString() }],
    },
  ]);
  expect(oldest).toMatchObject({
    items: [{ user: direct.account.id, name: 'Jon Test', ways: [{ ...none, by: 'role', name: role }] }],
    next: null,
  });
  const found = await api.get(`${path}?search=${direct.account.username}`);
  expect(found.json<{ items: object[] }>().items).toMatchObject([{ username: direct.account.username }]);
  await idp.services.applications.setEnabled(app.applicationId, false);
  expect((await api.get(path)).json()).toEqual({ items: [], next: null });
});

it('exports the same list as CSV, with a row for each way, and audits it', async () => {
  const { role, science, physics, app, direct, member, until } = await aTeam();
  await idp.services.roles.assign(member.account.id, role);
  const { text, headers } = await api.get(`/applications/${app.applicationId}/people/export`);
  expect(headers['content-type']).toContain('text/csv');
  const lines = text.trimEnd().split('\r\n');
  expect(lines[0]).toBe('id,username,name,by,role_or_group,given_by,via,connection,until');
  expect(lines.at(-1)).toContain(',Jon Test,role,');
  expect(lines.slice(1).map((line) => line.split(',').filter((_, at) => at !== 2))).toEqual([
    [member.account.id, member.account.username, 'role', role, '', '', '', ''],
    [member.account.id, member.account.username, 'group', science.name, '', physics.name, '', until.toISOString()],
    [direct.account.id, direct.account.username, 'role', role, '', '', '', ''],
  ]);
  const where = { type: 'users.exported', clientId: app.clientId };
  expect(await idp.services.db.auditEvent.count({ where })).toBe(1);
});

it('lists the applications of a user with the same reasons', async () => {
  const { role, science, physics, app, member, outside } = await aTeam();
  const { groups } = idp.services;
  await groups.addRole(science.id, role);
  const items = async (id: string) =>
    (await api.get(`/users/${id}/applications`)).json<{ items: { id: string; ways: object[] }[] }>().items;
  const found = (await items(member.account.id)).find(({ id }) => id === app.applicationId);
  expect(found?.ways).toMatchObject([
    { by: 'role', name: role, given_by: science.name, via: physics.name },
    { by: 'group', name: science.name, via: physics.name },
  ]);
  expect((await items(outside.account.id)).some(({ id }) => id === app.applicationId)).toBe(false);

  const at = `/admin/users/${member.account.id}/access`;
  const page = await admin.get(at);
  const href = linksOf(page.text, page.url).find(({ label }) => label === 'Download CSV')?.href ?? '';
  const file = await admin.get(href);
  expect([file.status, file.headers['content-type']]).toEqual([200, expect.stringContaining('text/csv')]);
  const lines = file.text.split('\r\n').filter((line, row) => row === 0 || line.startsWith(app.applicationId));
  expect(lines[0]).toBe('id,protocol,identifier,name,by,role_or_group,given_by,via,connection,until');
  expect(lines.slice(1).map((line) => line.split(',').slice(4, 8))).toEqual([
    ['role', role, science.name, physics.name],
    ['group', science.name, '', physics.name],
  ]);
});

const mainOf = (text: string) => textOf(/<main[\s\S]*<\/main>/.exec(text)?.[0] ?? '');
const accessOf = async (id: string) => (await idp.services.applications.get(id)).access;
const add = async (client: HttpClient, at: string, fields: Record<string, string>) =>
  client.post(`${at}/people`, {
    form: { ...(await client.get(`${at}/people`)).forms.find((one) => 'way' in one.fields)?.fields, ...fields },
  });

it('shows them on a page with the reasons, finds one of them, and takes access away after a question', async () => {
  const { role, science, physics, app, direct, member, outside } = await aTeam();
  const page = await admin.get(`${app.at}/people`);
  const text = mainOf(page.text);
  expect(text).toContain(`Role ${role}`);
  expect(text).toContain(`Group ${science.name} via ${physics.name}, until`);
  expect(text).not.toContain(outside.account.username);
  const found = mainOf((await admin.get(`${app.at}/people?q=${direct.account.username}`)).text);
  expect([found.includes(direct.account.username), found.includes(member.account.username)]).toEqual([true, false]);
  expect((await admin.get(`${app.at}/people/export`)).text).toContain(direct.account.username);

  const [own, kept] = [await aRole(), 'people-kept'];
  await idp.services.roles.assign(member.account.id, own);
  const redirect_uris = ['https://a.example.com/cb'];
  const named = (client_name: string, roles: string[]) =>
    aClient(idp.services, { client_name, redirect_uris, access: { roles, groups: [physics.name] } });
  await named('people-lost', [role]);
  await named(kept, [own]);
  const question = await admin.get(`${app.at}/people/${member.account.id}/remove`);
  expect(mainOf(question.text)).toContain(`leaves the group ${physics.name}.`);
  expect(mainOf(question.text)).toContain('Access to people-lost is lost too.');
  const after = await admin.follow(await admin.submit(question));
  expect(mainOf(after.text)).toContain('can no longer open');
  expect(mainOf(after.text)).not.toContain(`Group ${science.name} via`);
  const gone = await admin.follow(await admin.get(`${app.at}/people/${member.account.id}/remove`));
  expect(mainOf(gone.text)).toContain('is gone already');
});

it('adds a person by what opens the application, and a role or a group with and without a person', async () => {
  const { groups } = idp.services;
  const { role, science, app, outside } = await aTeam();
  const until = '2041-01-31';
  const send = (fields: Record<string, string>) => add(admin, app.at, fields);
  expect((await send({ user: outside.account.username, way: `role:${role}`, until })).status).toBe(303);
  const held = await idp.services.db.userRole.findFirst({ where: { userId: outside.account.id } });
  expect(held?.until).toEqual(new Date('2041-01-31T23:59:59Z'));
  expect((await send({ way: `role:${role}` })).status).toBe(400);
  expect((await send({ way: '' })).status).toBe(400);
  expect((await send({ way: '+role' })).status).toBe(400);
  expect((await send({ user: 'no-such-person', way: `role:${role}` })).status).toBe(400);

  const [other, group] = [await aRole(), await aGroup()];
  await send({ way: `role:${other}` });
  await send({ way: '+other', name: group.name });
  const newRole = fresh('new-role');
  await send({ user: outside.account.username, way: '+role', name: newRole });
  const newGroup = fresh('new-group');
  await send({ user: outside.account.username, way: '+group', name: newGroup, until });
  expect(await accessOf(app.applicationId)).toEqual({
    roles: [role, other, newRole].sort(),
    groups: [science.name, group.name, newGroup].sort(),
  });
  expect((await groups.find(newGroup))?.name).toBe(newGroup);
  expect(await idp.services.accounts.find(outside.account.id)).toMatchObject({
    roles: [newRole, role].sort(),
    groups: [{ name: newGroup, until: new Date('2041-01-31T23:59:59Z') }],
  });
});

it('asks before a role or group is all that an application open to everyone opens to', async () => {
  const [role, redirect_uris] = [await aRole(), ['https://a.example.com/cb']];
  const { account } = await aUser(idp.services);
  const openOne = async () => {
    const client = await aClient(idp.services, { client_name: fresh('open'), redirect_uris, access: 'everyone' });
    const found = await idp.services.applications.find(client.clientId);
    return found?.id ?? expect.fail();
  };
  for (const [fields, rule] of [
    [{ user: account.username, way: `role:${role}` }, { roles: [role] }],
    [
      { way: '+group', name: 'people-all' },
      { roles: [], groups: ['people-all'] },
    ],
  ] as const) {
    const id = await openOne();
    const question = await add(admin, `/admin/applications/${id}`, fields);
    expect(mainOf(question.text)).toContain('everybody else loses access.');
    expect(await accessOf(id)).toBe('everyone');
    await admin.follow(await admin.submit(question));
    expect(await accessOf(id)).toEqual(rule);
  }
  const id = await openOne();
  const form = await admin.get(`/admin/users/${account.id}/access/${id}/give`);
  const question = await admin.submit(form, { way: `role:${role}` });
  expect(mainOf(question.text)).toContain('everybody else loses access.');
  await admin.follow(await admin.submit(question));
  expect(await accessOf(id)).toEqual({ roles: [role] });
});

it('offers no group whose members the configuration file declares', async () => {
  const name = fresh('file-group');
  const { id } = await idp.services.groups.create({ name });
  const redirect_uris = ['https://a.example.com/cb'];
  const client = await aClient(idp.services, {
    client_name: fresh('limited'),
    redirect_uris,
    access: { groups: [name] },
  });
  const app = (await idp.services.applications.find(client.clientId)) ?? expect.fail();
  const isOffered = async () =>
    (await admin.get(`/admin/applications/${app.id}/people`)).text.includes(`group:${name}`);
  expect(await isOffered()).toBe(true);
  await idp.services.db.group.update({ where: { id }, data: { source: 'file', fileMembers: true } });
  expect(await isOffered()).toBe(false);
  expect(textOf((await admin.get(`/admin/applications/${app.id}/people`)).text)).toContain(
    `The group ${name} isn’t in this list: the configuration file declares who its members are.`,
  );
});

it('creates nothing where a part of the change fails', async () => {
  const { app } = await aTeam();
  const before = await accessOf(app.applicationId);
  const name = fresh('new-role');
  const { account } = await aUser(idp.services);
  const failed = await add(admin, app.at, { user: account.username, way: '+role', name, until: '2001-01-01' });
  expect(failed.status).toBe(400);
  expect([await idp.services.roles.find(name), await accessOf(app.applicationId)]).toEqual([undefined, before]);
  const taken = await add(admin, app.at, { way: '+role', name: 'auditor' });
  expect(taken.status).toBeGreaterThanOrEqual(400);
  expect(await accessOf(app.applicationId)).toEqual(before);
});

it('asks for the right to the role or group and to the application, and shows the list to who may read', async () => {
  const { role, app, outside } = await aTeam();
  const before = await accessOf(app.applicationId);
  const auditor = await consoleOf(idp, await staff(idp, 'auditor'));
  const page = await auditor.get(`${app.at}/people`);
  expect([page.status, page.text.includes('name="way"'), page.text.includes(`/remove"`)]).toEqual([200, false, false]);
  const manager = await consoleOf(idp, await staff(idp, 'user-manager'));
  const csrf = (await manager.get('/admin/users/new')).forms.find(({ fields }) => fields._csrf)?.fields._csrf ?? '';
  expect(csrf).not.toBe('');
  for (const way of [`role:${role}`, '+role', '+group']) {
    const form = { _csrf: csrf, user: outside.account.username, way, name: fresh('denied'), until: '' };
    expect((await manager.post(`${app.at}/people`, { form })).status, way).toBeGreaterThanOrEqual(403);
  }
  expect(await accessOf(app.applicationId)).toEqual(before);
  expect((await idp.services.accounts.find(outside.account.id))?.roles).toEqual([]);
});

it('lists the applications of a user with the reasons, gives another one and returns, and takes one away', async () => {
  const { role, app, direct, outside } = await aTeam();
  const at = `/admin/users/${outside.account.id}/access`;
  const form = await admin.follow(await admin.get(`${at}/give?application=${encodeURIComponent(app.clientId)}`));
  expect(form.forms.at(-1)?.fields).toMatchObject({ way: '', name: '' });
  const given = await admin.follow(await admin.submit(form, { way: `role:${role}`, until: '2040-03-05' }));
  expect(mainOf(given.text)).toMatch(new RegExp(`by the role ${role}, until \\S*.*2040`));
  expect([new URL(given.url).pathname, mainOf(given.text)]).toEqual([at, expect.stringContaining('can open')]);
  expect((await idp.services.accounts.find(outside.account.id))?.roles).toEqual([role]);
  const single = await anApp({ roles: [role] });
  const chosen = await admin.get(`${at}/${single.applicationId}/give`);
  expect(chosen.forms.at(-1)?.fields).toMatchObject({ way: `role:${role}` });
  const unknown = await admin.follow(await admin.get(`${at}/give?application=no-such-application`));
  expect(mainOf(unknown.text)).toContain('No application has this name');

  const own = `/admin/users/${direct.account.id}/access`;
  expect(mainOf((await admin.get(own)).text)).toContain(`Role ${role}`);
  const after = await admin.follow(await admin.submit(await admin.get(`${own}/${app.applicationId}/remove`)));
  expect(mainOf(after.text)).toContain('can no longer open');
  expect((await idp.services.accounts.find(direct.account.id))?.roles).toEqual([]);
});

it('a new role or group is created where the access rule is chosen, on a new application and on the tab Access', async () => {
  const [named, role, group] = [fresh('app'), fresh('new-role'), fresh('new-group')];
  const form = await admin.get('/admin/applications/new/web');
  const registered = await admin.submit(form, {
    name: named,
    redirect_uris: 'https://new.example.com/cb',
    access: 'roles',
    'access.new_role': role,
    'access.new_group': group,
  });
  expect(registered.status, textOf(registered.text)).toBe(303);
  const [app] = (await api.get(`/applications?search=${named}`)).json<{ items: { id: string }[] }>().items;

  expect(await accessOf(app?.id ?? '')).toEqual({ roles: [role], groups: [group] });

  const other = await anApp('everyone');
  const tab = await admin.get(`${other.at}/access`);
  const name = fresh('new-group');
  await admin.submit(tab, { access: 'roles', 'access.new_group': name }, { form: '/access' });
  expect(await accessOf(other.applicationId)).toMatchObject({ groups: [name] });
  // A name that is in use could be of many people: the form comes back as it was typed, and nothing changes.
  const taken = await admin.submit(
    await admin.get(`${other.at}/access`),
    { 'access.new_group': group },
    { form: '/access' },
  );
  expect([taken.status, textOf(taken.text)]).toEqual([409, expect.stringContaining('already')]);
  expect(taken.text).toMatch(new RegExp(`name="access.new_group" value="${group}"`));
  expect(await accessOf(other.applicationId)).toMatchObject({ groups: [name] });
});

it('who may create no roles and groups is offered none, and creates none', async () => {
  const permissions = ['gatehouse.applications:read', 'gatehouse.applications:write'];
  const role = (await idp.services.roles.create({ name: fresh('role'), permissions })).name;
  const manager = await consoleOf(idp, await staff(idp, role));
  const app = await anApp('everyone');
  const tab = await manager.get(`${app.at}/access`);
  expect(tab.text).not.toContain('access.new_');
  const name = fresh('new-group');
  const sent = await manager.submit(tab, { access: 'roles', 'access.new_group': name }, { form: '/access' });
  expect(sent.status).toBe(403);
  expect(await idp.services.groups.find(name)).toBeUndefined();
});
