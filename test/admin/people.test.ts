// Who can open an application: the list by API and as CSV, the applications of a user, and the pages that give and take access.
import { beforeAll, expect, it } from 'vitest';
import { aClient, aUser } from '../support/factories.ts';
import type { HttpClient } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { sharedIdp } from '../support/shared-idp.ts';
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

beforeAll(async () => {
  idp = await sharedIdp();
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
    items: [{ user: direct.account.id, ways: [{ ...none, by: 'role', name: role }] }],
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
});
