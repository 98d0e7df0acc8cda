// Permissions limited to the people in a group: a department's desk sees and helps them, and nobody else.
import { beforeAll, describe, expect, it } from 'vitest';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aClient, aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { sharedIdp } from '../support/shared-idp.ts';
import { consoleOf, triedImport } from './console/support.ts';
import { type ApiCaller, aPerson, aService } from './support.ts';

const anyVersion = { 'if-match': '*' };
const LAB = 'Desk Lab';
const on = (resource: string, action: string, group = LAB) =>
  `gatehouse.${resource}[group:${group.replaceAll(' ', '%20')}]:${action}`;

let idp: TestIdp;
let admin: ApiCaller;
let desk: ApiCaller;
let pages: HttpClient;
let lab: string;
let member: TestUser;
let below: TestUser;
let outsider: TestUser;
let count = 0;
beforeAll(async () => {
  idp = await sharedIdp();
  admin = await aService(idp);
  const { groups } = idp.services;
  const [above, inner] = [await groups.create({ name: 'Desk Above' }), await groups.create({ name: 'Desk Inner' })];
  lab = (await groups.create({ name: LAB })).id;
  await groups.addChild(above.id, lab);
  await groups.addChild(lab, inner.id);
  [member, below, outsider] = [await aUser(idp.services), await aUser(idp.services), await aUser(idp.services)];
  await groups.addMembers(lab, [{ userId: member.account.id }]);
  await groups.addMembers(inner.id, [{ userId: below.account.id }]);
  await groups.addMembers(above.id, [{ userId: outsider.account.id }]);
  const rights = ['read', 'write', 'unlock', 'reset-factors', 'reset-password'].map((one) => on('users', one));
  const role = await admin.send('POST', '/roles', {
    name: 'department desk',
    permissions: [...rights, on('sessions', 'read'), on('sessions', 'end'), on('audit', 'read')],
  });
  expect(role.status, role.text).toBe(201);
  // People write the name of the group; the id is stored.
  expect(role.json<{ permissions: string[] }>().permissions).toContain(on('users', 'read'));
  const stored = await idp.services.roles.find('department desk');
  expect(stored?.permissions).toContain(on('users', 'read', lab));
  desk = await aPerson(idp, ['department desk']);
  pages = await consoleOf(idp, desk.user ?? expect.fail('no user'));
});

const status = async (answer: Promise<Page>) => (await answer).status;
const ids = async (path: string) =>
  (await desk.get(path)).json<{ items: { id: string; user?: string }[] }>().items.map(({ id, user }) => user ?? id);

describe('a desk of a group', () => {
  it('sees the people in it and below it, in lists, searches, counts, exports and pages', async () => {
    const both = [below.account.id, member.account.id];
    expect(await ids('/users')).toEqual(both);
    expect(await ids('/users?limit=100&sort=username')).toHaveLength(2);
    expect(await ids(`/users?search=${outsider.username}`)).toEqual([]);
    const list = await pages.get('/admin/users');
    expect(list.text).toContain(member.username);
    expect(list.text).not.toContain(outsider.username);
    expect((await pages.get('/admin/import/export')).text.trim().split('\r\n')).toHaveLength(3);
    for (const [user, expected] of [
      [member, 200],
      [below, 200],
      [outsider, 404],
    ] as const) {
      expect(await status(desk.get(`/users/${user.account.id}`))).toBe(expected);
      expect(await status(pages.get(`/admin/users/${user.account.id}`))).toBe(expected);
    }
    const suggested = await pages.get(`/admin/suggestions/users?q=${outsider.username}`);
    expect(suggested.text).not.toContain(outsider.account.email ?? '');
  });

  itOnSqlite('helps them, and nobody else', async () => {
    for (const [{ account }, expected] of [
      [member, [200, 202, 204]],
      [below, [200, 202, 204]],
      [outsider, [404]],
    ] as const) {
      const at = `/users/${account.id}`;
      for (const action of ['unlock', 'reset-factors', 'password-reset', 'disable', 'enable'])
        expect(expected, `${action} ${account.username}`).toContain(await status(desk.send('POST', `${at}/${action}`)));
      expect(expected).toContain(await status(desk.send('DELETE', `${at}/sessions`)));
      expect(expected).toContain(await status(desk.send('PATCH', at, { name: 'Changed' }, anyVersion)));
    }
    const made = await desk.send('POST', '/users', { username: 'desk-made' });
    expect(made.status).toBe(403);
    expect(made.text).toContain('You can change only the people in a group, so you can’t create users.');
    expect(await status(desk.get('/users?role=admin'))).toBe(200);
    expect(await ids('/users?role=admin')).toEqual([]);
  });

  it('is offered no new users, which it can’t create, but an import that changes those who are there', async () => {
    const offered = async (client: HttpClient) => {
      const [list, found] = await Promise.all(['/admin/users', '/admin/search?q=user'].map((at) => client.get(at)));
      const places = { list: list?.text ?? '', search: found?.text ?? '' };
      return Object.entries(places).flatMap(([place, text]) =>
        ['/admin/users/new', '/admin/import'].filter((href) => text.includes(`"${href}"`)).map((at) => place + at),
      );
    };
    expect(await offered(pages)).toEqual(['list/admin/import', 'search/admin/import']);
    expect(await status(pages.get('/admin/users/new'))).toBe(403);
    expect((await pages.get('/admin')).text).not.toContain('/admin/users/new');
    // A limit to a role allows new users who have it.
    const students = await idp.services.roles.create({ name: `desk-students-${++count}` });
    const limits = ['read', 'write'].map((one) => `gatehouse.users[role:${students.name}]:${one}`);
    const tutor = await idp.services.roles.create({ name: `desk-tutor-${count}`, permissions: limits });
    const tutors = await consoleOf(idp, (await aPerson(idp, [tutor.name])).user ?? expect.fail('no user'));
    expect(await offered(tutors)).toHaveLength(4);
    expect(await status(tutors.get('/admin/users/new'))).toBe(200);
    const csv = `username,name\n${member.username},Imported\ndesk-new,New\n`;
    const tried = textOf((await triedImport(pages, csv, { existing: 'update' })).text);
    expect(tried).toContain('1 can be changed, 1 not.');
    expect(tried).toContain('You can change only the people in a group, so you can’t create users.');
  });

  itOnSqlite('changes several of them at once, and nobody else whose id it sends', async () => {
    const { accounts } = idp.services;
    const users = [member, outsider, below];
    const asked = users.map(({ account }) => `id=${account.id}`).join('&');
    const question = await pages.get(`/admin/users/bulk?action=disable&${asked}`);
    expect(question.text).toContain(member.username);
    expect(question.text).not.toContain(outsider.username);
    const done = await pages.submit(question, { id: users.map(({ account }) => account.id) }, { form: '/users/bulk' });
    expect(done.text).not.toContain(outsider.username);
    const active = async () =>
      Promise.all(users.map(async ({ account }) => (await accounts.find(account.id))?.isActive));
    expect(await active()).toEqual([false, true, false]);
    for (const { account } of [member, below]) await accounts.setActive(account.id, true);
    expect((await pages.get(`/admin/users/bulk?action=delete&id=${outsider.account.id}`)).text).not.toContain(
      outsider.username,
    );
  });

  itOnSqlite('has no access check, which tells about applications and rejected requests too', async () => {
    const { roles } = idp.services;
    const wide = await roles.create({ name: `desk-audit-${++count}`, permissions: ['gatehouse.audit:read'] });
    const both = await aPerson(idp, ['department desk', wide.name]);
    const { applicationId } = await aClient(idp.services, { redirect_uris: ['https://desk.example.com/cb'] });
    for (const { username } of [member, outsider]) {
      const check = `/access-check?user=${username}&application=${applicationId}`;
      expect(await status(desk.get(check))).toBe(403);
      expect(await status(pages.get(`/admin${check}`))).toBe(403);
      expect(await status(both.get(check))).toBe(403);
    }
  });

  it('sees the sessions and the activity of them alone', async () => {
    const { audit } = idp.services;
    for (const { account } of [member, outsider])
      await audit.record({ type: 'account.disabled', outcome: 'success', subjectId: account.id });
    const entries = (await desk.get('/audit?limit=100')).json<{ items: unknown[] }>().items;
    const subjects = JSON.stringify(entries);
    expect(subjects).toContain(member.account.id);
    expect(subjects).not.toContain(outsider.account.id);
    await consoleOf(idp, outsider).catch(() => undefined);
    expect(await ids('/sessions')).not.toContain(outsider.account.id);
    expect(await status(desk.get(`/users/${outsider.account.id}/sessions`))).toBe(404);
  });

  itOnSqlite(
    'never takes over a member who has more rights: a role, a permission in Gatehouse, another group',
    async () => {
      const { roles, groups } = idp.services;
      const role = (await roles.create({ name: `desk-app-${++count}` })).name;
      const other = await groups.create({ name: `Desk Finance ${count}` });
      const person = async () => {
        const { account } = await aUser(idp.services);
        await groups.addMembers(lab, [{ userId: account.id }]);
        return account.id;
      };
      const [withRole, withGroup, staff] = [await person(), await person(), await person()];
      await roles.assign(withRole, role);
      await groups.addMembers(other.id, [{ userId: withGroup }]);
      await roles.assign(staff, 'auditor');
      for (const id of [withRole, withGroup, staff]) {
        expect(await status(desk.send('POST', `/users/${id}/password`, {}))).toBe(403);
        expect(await status(desk.send('PATCH', `/users/${id}`, { email: 'mine@example.com' }, anyVersion))).toBe(403);
        expect(await status(desk.send('DELETE', `/users/${id}`, undefined, anyVersion))).toBe(403);
      }
      // Help goes to the mailbox of the user, so that roles at applications do not stop it.
      expect(await status(desk.send('POST', `/users/${withGroup}/reset-factors`))).toBe(200);
      expect(await status(desk.send('POST', `/users/${staff}/reset-factors`))).toBe(403);
      // The same one by one; 404: the user has no such factor.
      expect(await status(desk.send('DELETE', `/users/${withGroup}/factors/totp`))).toBe(404);
      expect(await status(desk.send('DELETE', `/users/${staff}/factors/totp`))).toBe(403);
      // The same for a manager of users without a limit, who is in no group.
      const manager = await aPerson(idp, ['user-manager']);
      expect(await status(manager.send('POST', `/users/${withGroup}/password`, {}))).toBe(403);
      expect(await status(manager.send('POST', `/users/${withGroup}/reset-factors`))).toBe(200);
      for (const id of [withRole, withGroup, staff]) await idp.services.accounts.remove(id);
    },
  );

  itOnSqlite(
    'never takes over a member who gets more rights later, nor an owner: who waits, or decides who is in, has them',
    async () => {
      const { roles, groups } = idp.services;
      const role = (await roles.create({ name: `desk-later-${++count}`, permissions: ['money:move'] })).name;
      const other = await groups.create({ name: `Desk Later ${count}` });
      await groups.addRole(other.id, role);
      const since = new Date(Date.now() + 86_400_000);
      const person = async () => {
        const { account } = await aUser(idp.services);
        await groups.addMembers(lab, [{ userId: account.id }]);
        return account.id;
      };
      const [withRole, withGroup, staff, owner] = [await person(), await person(), await person(), await person()];
      await roles.assign(withRole, role, undefined, undefined, { since });
      await groups.addMembers(other.id, [{ userId: withGroup, since }]);
      await roles.assign(staff, 'auditor', undefined, undefined, { since });
      await groups.appointOwner(other.id, { userId: owner });
      const manager = await aPerson(idp, ['user-manager']);
      for (const id of [withRole, withGroup, staff, owner])
        for (const actor of [desk, manager])
          expect(await status(actor.send('POST', `/users/${id}/password`, {})), id).toBe(403);
      // Help goes to the mailbox of the user, as above.
      expect(await status(desk.send('POST', `/users/${owner}/reset-factors`))).toBe(200);
      expect(await status(desk.send('POST', `/users/${staff}/reset-factors`))).toBe(403);
      // Who manages groups may appoint an owner, and still needs the right to give the role.
      const rights = ['users:read', 'users:write', 'groups:write'].map((one) => `gatehouse.${one}`);
      const leader = await roles.create({ name: `desk-leader-${count}`, permissions: rights });
      const lead = await aPerson(idp, [leader.name]);
      expect(await status(lead.send('POST', `/users/${owner}/password`, {}))).toBe(403);
      await roles.assign(lead.user?.account.id ?? '', role);
      expect(await status(lead.send('POST', `/users/${owner}/password`, {}))).toBe(200);
      await groups.dismissOwner(other.id, owner);
      expect(await status(desk.send('POST', `/users/${owner}/password`, {}))).toBe(200);
      for (const id of [withRole, withGroup, staff, owner]) await idp.services.accounts.remove(id);
    },
  );

  it('judges membership now: one that ended, or has not begun, counts no more', async () => {
    const { groups } = idp.services;
    const { account } = await aUser(idp.services);
    const at = `/users/${account.id}`;
    await groups.addMembers(lab, [{ userId: account.id, since: new Date(Date.now() + 3_600_000) }]);
    expect(await status(desk.get(at))).toBe(404);
    expect(await ids('/users')).not.toContain(account.id);
    await groups.addMembers(lab, [{ userId: account.id }]);
    expect(await status(desk.get(at))).toBe(200);
    await groups.removeMembers(lab, [account.id]);
    expect(await status(desk.get(at))).toBe(404);
    expect(await status(desk.send('POST', `${at}/reset-factors`))).toBe(404);
  });

  itOnSqlite('gives the limited permission with a limit, and no other one', async () => {
    const { roles, groups } = idp.services;
    const writer = await roles.create({ name: `desk-lead-${++count}`, permissions: ['gatehouse.roles:write'] });
    const other = await groups.create({ name: `Desk Other ${count}` });
    const lead = await aPerson(idp, ['department desk', writer.name]);
    const make = (permission: string) =>
      status(lead.send('POST', '/roles', { name: `desk-sub-${++count}`, permissions: [permission] }));
    expect(await make(on('users', 'read'))).toBe(201);
    expect(await make(on('users', 'read', lab))).toBe(201);
    expect(await make(on('users', 'read', other.name))).toBe(403);
    expect(await make('gatehouse.users:read')).toBe(403);
    expect(await make(on('groups', 'write'))).toBe(400);
    expect(await make(on('users', 'read', 'no such group'))).toBe(400);
  });
});

describe('an API key of a desk', () => {
  itOnSqlite('is limited to the group, which the form, its page and the API name', async () => {
    const { roles, db } = idp.services;
    const rights = ['gatehouse.api-keys:read', 'gatehouse.api-keys:write'];
    const keys = await roles.create({ name: `desk-keys-${++count}`, permissions: rights });
    const lead = await aPerson(idp, ['department desk', keys.name]);
    const browser = await consoleOf(idp, lead.user ?? expect.fail('no user'));
    const form = await browser.get('/admin/api-keys/new');
    expect(textOf(form.text)).toContain(on('users', 'read'));
    expect(form.text).not.toContain(lab);
    const create = (permissions: string[]) =>
      browser.submit(
        form,
        { name: `Desk key ${count}`, expires_in_days: '30', permissions },
        { form: '/api-keys/new' },
      );
    expect((await create([on('users', 'read', 'Desk Above')])).status).toBe(403);
    expect((await create([on('users', 'read', 'no such group')])).status).toBe(403);
    const made = await browser.follow(await create([on('users', 'read')]));
    const [text = ''] = /gh[\w-]*_[\w-]{20,}/.exec(textOf(made.text)) ?? [];
    const row = await db.apiKey.findFirstOrThrow({ where: { userId: lead.user?.account.id ?? '' } });
    expect(JSON.parse(row.permissions)).toEqual([on('users', 'read', lab)]);
    const page = await browser.get(`/admin/api-keys/${row.id}`);
    expect(textOf(page.text)).toContain(on('users', 'read'));
    expect(page.text).not.toContain(lab);
    expect((await admin.get(`/api-keys/${row.id}`)).json()).toMatchObject({ permissions: [on('users', 'read')] });
    const called = await httpClient(idp.issuer).get('/api/admin/users', {
      headers: { authorization: `Bearer ${text}` },
    });
    expect(called.json<{ items: { id: string }[] }>().items.map(({ id }) => id)).toEqual([
      below.account.id,
      member.account.id,
    ]);
  });
});

describe('a group in a limit', () => {
  itOnSqlite(
    'that is deleted ends the permissions, is named before, and made again with the name confers nothing',
    async () => {
      const { groups, roles } = idp.services;
      const name = `Desk Gone ${++count}`;
      const first = await groups.create({ name });
      const role = `desk-gone-${count}`;
      await roles.create({ name: role, permissions: [on('users', 'read', name), 'app:use'] });
      const actor = await aPerson(idp, [role]);
      await groups.addMembers(first.id, [{ userId: outsider.account.id }]);
      expect(await status(actor.get(`/users/${outsider.account.id}`))).toBe(200);
      await groups.update(first.id, { name: `${name} renamed` });
      expect(await status(actor.get(`/users/${outsider.account.id}`))).toBe(200);
      expect((await admin.get(`/groups/${first.id}/losses`)).json()).toMatchObject({ limited: [role] });
      const question = await (await consoleOf(idp, await anAdmin())).get(`/admin/groups/${first.id}/delete`);
      expect(question.text).toContain(role);
      await groups.remove(first.id);
      expect((await roles.find(role))?.permissions).toEqual(['app:use']);
      const again = await groups.create({ name });
      await groups.addMembers(again.id, [{ userId: outsider.account.id }]);
      expect([403, 404]).toContain(await status(actor.get(`/users/${outsider.account.id}`)));
      // Nor does a group that is named like the id of another one.
      const code = expect.stringMatching(/^(group_name_taken|invalid_input)$/); // an id may begin as no name does
      await expect(groups.create({ name: lab })).rejects.toMatchObject({ code });
      await expect(groups.update(again.id, { name: lab })).rejects.toMatchObject({ code });
      // The MAC of the role covers the new permissions.
      expect((await idp.services.accounts.find(actor.user?.account.id ?? ''))?.permissions).toEqual(['app:use']);
    },
  );
});

async function anAdmin(): Promise<TestUser> {
  const user = await aUser(idp.services);
  await idp.services.roles.assign(user.account.id, 'admin');
  return user;
}
