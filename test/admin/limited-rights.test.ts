// Permissions limited to the members of a role or to one application, in the API and in the console: lists, pages, searches,
// exports, sessions, the audit log, and every change.
import { beforeAll, describe, expect, it } from 'vitest';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aUser } from '../support/factories.ts';
import type { HttpClient, Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { sharedIdp } from '../support/shared-idp.ts';
import { consoleOf, triedImport } from './console/support.ts';
import { type ApiCaller, aPerson, aTool } from './support.ts';

const anyVersion = { 'if-match': '*' };
const STUDENTS = 'limit students';
const limited = (resource: string, action: string) => `gatehouse.${resource}[role:limit%20students]:${action}`;

let idp: TestIdp;
let desk: ApiCaller;
let pages: HttpClient;
let students: string[];
let teacher: string;
beforeAll(async () => {
  idp = await sharedIdp();
  const { roles, accounts } = idp.services;
  await roles.create({ name: STUDENTS });
  await roles.create({ name: 'limit teachers' });
  const rights = ['read', 'write', 'unlock', 'reset-factors', 'reset-password'].map((one) => limited('users', one));
  const others = [limited('sessions', 'read'), limited('sessions', 'end'), limited('audit', 'read')];
  await roles.create({ name: 'limit desk', permissions: [...rights, ...others] });
  const tool = await aTool(idp);
  students = [];
  for (const name of ['one', 'two', 'three', 'four', 'five']) {
    // Between two students there is always another user, so that a filter after paging leaves gaps.
    const { id } = await accounts.create({ username: `limit-student-${name}`, email: `limit-${name}@example.com` });
    await roles.assign(id, STUDENTS);
    students.unshift(id);
    await accounts.create({ username: `limit-outsider-${name}` });
  }
  teacher = (await accounts.create({ username: 'limit-teacher' })).id;
  await roles.assign(teacher, 'limit teachers');
  desk = await aPerson(idp, ['limit desk'], { tool });
  if (desk.user) pages = await consoleOf(idp, desk.user);
});

type List = { items: { id: string; user?: string; subject?: string }[]; next: string | null };
/** Every item of a list, read with two a page, which are all full but the last. */
async function all(path: string): Promise<List['items']> {
  const items: List['items'] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await desk.get(`${path}${path.includes('?') ? '&' : '?'}limit=2${cursor && `&cursor=${cursor}`}`);
    expect(page.status, page.text).toBe(200);
    const { items: found, next }: List = page.json<List>();
    if (next !== null) expect(found).toHaveLength(2);
    items.push(...found);
    cursor = next;
  }
  return items;
}
const status = async (answer: Promise<Page>) => (await answer).status;

describe('a right for the members of one role', () => {
  it('lists, searches and exports only them, with full pages', async () => {
    expect((await all('/users')).map(({ id }) => id)).toEqual(students);
    expect((await all('/users?search=limit')).map(({ id }) => id)).toEqual(students);
    expect(await all('/users?search=outsider')).toEqual([]);
    expect(await all(`/users?role=${encodeURIComponent('limit teachers')}`)).toEqual([]);
    const file = await pages.get('/admin/import/export');
    expect(file.text.trim().split('\r\n')).toHaveLength(students.length + 1);
    const list = await pages.get('/admin/users');
    expect(list.text).toContain('limit-student-one');
    expect(list.text).not.toMatch(/limit-(outsider|teacher)/);
  });

  it('finds nobody else', async () => {
    expect(await status(desk.get(`/users/${students[0]}`))).toBe(200);
    expect(await status(desk.get(`/users/${teacher}`))).toBe(404);
    expect(await status(pages.get(`/admin/users/${students[0]}`))).toBe(200);
    for (const page of ['', '/change/name', '/password', '/disable'])
      expect(await status(pages.get(`/admin/users/${teacher}${page}`)), page).toBe(404);
  });

  it('changes only them', async () => {
    const [student = ''] = students;
    for (const [id, expected] of [
      [student, 200],
      [teacher, 404],
    ] as const) {
      const at = `/users/${id}`;
      expect(await status(desk.send('PATCH', at, { name: 'Changed' }, anyVersion))).toBe(expected);
      expect(await status(desk.send('POST', `${at}/password`, {}))).toBe(expected);
      for (const action of ['disable', 'enable', 'unlock', 'reset-factors'])
        expect(await status(desk.send('POST', `${at}/${action}`)), action).toBe(expected);
      expect(await status(desk.send('DELETE', `${at}/sessions`))).toBe(expected);
    }
    expect(await status(desk.send('DELETE', `/users/${teacher}`, undefined, anyVersion))).toBe(404);
  });

  itOnSqlite('changes none of them who has another role', async () => {
    const { id } = await idp.services.accounts.create({ username: 'limit-both' });
    await idp.services.roles.setRoles(id, [STUDENTS, 'limit teachers']);
    expect(await status(desk.send('POST', `/users/${id}/password`, {}))).toBe(403);
    expect(await status(desk.send('PATCH', `/users/${id}`, { email: 'mine@example.com' }, anyVersion))).toBe(403);
    await idp.services.accounts.remove(id);
  });

  itOnSqlite('creates users with the role and no others, also from a CSV file', async () => {
    const create = (username: string, roles?: string[]) => desk.send('POST', '/users', { username, roles });
    for (const roles of [undefined, [], ['limit teachers'], [STUDENTS, 'limit teachers'], ['admin']])
      expect(await status(create('limit-new', roles)), String(roles)).toBe(403);
    const made = await create('limit-new', [STUDENTS]);
    expect(made.status, made.text).toBe(201);
    const taken = await desk.send('DELETE', `/users/${made.json<{ id: string }>().id}`, undefined, anyVersion);
    expect(taken.status).toBe(204);
    const csv = `username,roles\nlimit-csv-one,${STUDENTS}\nlimit-csv-two,\n`;
    const page = await triedImport(pages, csv);
    expect(page.text).toContain('2 of 2 rows: 1 can be created, 1 not.');
    expect(page.text).toContain(`You can create only users with the role ${STUDENTS}.`);
  });

  itOnSqlite('does not find out which other roles there are', async () => {
    const names = ['limit teachers', 'limit nothing'];
    const answers: unknown[] = [];
    // One import at a time.
    for (const name of names) {
      const csv = `username,roles\nlimit-guess,${STUDENTS};${name}\n`;
      const tried = await triedImport(pages, csv);
      const created = await desk.send('POST', '/users', { username: 'limit-guess', roles: [STUDENTS, name] });
      const roles = { roles: [STUDENTS, name] };
      const assigned = await desk.send('PUT', `/users/${students[0]}/roles`, roles, anyVersion);
      expect([created.status, assigned.status, textOf(tried.text)]).toEqual([
        403,
        403,
        expect.stringContaining('Only someone who has or manages the role'),
      ]);
      const said = [tried, created, assigned].map(({ status, text }) => [
        status,
        textOf(text)
          .replaceAll(name, 'ROLE')
          .replace(/"requestId":"[^"]*"/, ''),
      ]);
      answers.push(said);
    }
    const [taken, unknown] = answers;
    expect(taken).toEqual(unknown);
  });

  itOnSqlite('gives only this role, and to members only', async () => {
    const { account } = await aUser(idp.services);
    expect(await status(desk.send('PUT', `/users/${account.id}/roles`, { roles: [STUDENTS] }, anyVersion))).toBe(404);
    const own = desk.user?.account.id;
    expect(await status(desk.send('PUT', `/users/${own}/roles`, { roles: ['limit desk', STUDENTS] }, anyVersion))).toBe(
      404,
    );
    const more = { roles: [STUDENTS, 'limit teachers'] };
    expect(await status(desk.send('PUT', `/users/${students[0]}/roles`, more, anyVersion))).toBe(403);
    const form = await pages.get('/admin/users/new');
    expect(form.text).toContain(`value="${STUDENTS}"`);
    expect(form.text).not.toContain('value="limit teachers"');
  });

  it('lists and ends only their sessions', async () => {
    const [student, outsider] = [await aUser(idp.services), await aUser(idp.services)];
    await idp.services.roles.assign(student.account.id, STUDENTS);
    for (const user of [student, outsider, student]) await consoleOf(idp, user);
    const { db } = idp.services;
    const uidOf = async (userId: string) => (await db.sessionDevice.findFirst({ where: { userId } }))?.uid;
    const [mine, other] = [await uidOf(student.account.id), await uidOf(outsider.account.id)];
    const listed = await all('/sessions');
    expect(new Set(listed.map(({ user }) => user))).toEqual(new Set([student.account.id]));
    expect(await status(desk.get(`/users/${outsider.account.id}/sessions`))).toBe(404);
    expect(await status(desk.get(`/sessions/${other}`))).toBe(404);
    expect(await status(desk.send('DELETE', `/sessions/${other}`))).toBe(404);
    expect(await status(pages.get(`/admin/sessions/${other}/end`))).toBe(404);
    expect((await pages.get('/admin/sessions')).text).not.toContain(outsider.username);
    expect(await status(desk.send('DELETE', `/sessions/${mine}`))).toBe(204);
    await idp.services.accounts.remove(student.account.id);
  });

  it('reads only the audit entries about them, filtered and exported too', async () => {
    const { audit } = idp.services;
    for (const subjectId of [students[1], teacher, students[2], teacher, students[3]])
      await audit.record({ type: 'account.invited', outcome: 'success', ...(subjectId && { subjectId }) });
    const members = new Set(
      (await idp.services.accounts.list({ role: STUDENTS, limit: 500 })).accounts.map(({ id }) => id),
    );
    await audit.record({ type: 'setting.changed', outcome: 'success', actorId: String(students[1]) });
    const listed = await all('/audit');
    expect(listed.length).toBeGreaterThan(5);
    expect(listed.filter(({ user }) => !members.has(user ?? ''))).toEqual([]);
    const invited = await all('/audit?type=account.invited&outcome=success&from=2000-01-01T00:00:00Z');
    expect(invited.map(({ user }) => user)).toEqual([students[3], students[2], students[1]]);
    expect(await all(`/audit?user=${teacher}`)).toEqual([]);
    const file = await desk.get('/audit/export?type=account.invited');
    expect(file.text.trim().split('\n')).toHaveLength(3);
    const page = await pages.get('/admin/audit?type=account.invited');
    expect(page.text).not.toContain('limit-teacher');
    expect((await pages.get('/admin/audit/export?format=csv&type=account.invited')).text).not.toContain(teacher);
  });

  itOnSqlite('gives no access to data about all users', async () => {
    for (const path of ['/statistics', '/rejections', '/roles', '/applications', '/settings', '/configuration'])
      expect(await status(desk.get(path)), path).toBe(403);
    expect((await pages.get('/admin')).location).toMatch(/\/admin\/users$/);
    for (const path of ['/access-check', '/rejections', '/roles', '/applications', '/settings'])
      expect(await status(pages.get(`/admin${path}`)), path).toBe(403);
  });

  itOnSqlite('may be given by an actor who has it without a limit, and not be widened', async () => {
    const { roles } = idp.services;
    await roles.create({ name: 'limit giver', permissions: ['gatehouse.users:read', 'gatehouse.roles:write'] });
    const giver = await aPerson(idp, ['limit giver'], { tool: desk.app });
    const create = (name: string, permission: string) =>
      giver.send('POST', '/roles', { name, permissions: [permission] });
    expect(await status(create('limit-given', limited('users', 'read')))).toBe(201);
    expect(await status(create('limit-wide', limited('users', 'write')))).toBe(403);
    for (const broken of [
      'gatehouse.users[role:x]:end',
      'gatehouse.keys[role:x]:read',
      'gatehouse.users[group:x]:read',
    ])
      expect(await status(create('limit-broken', broken)), broken).toBe(400);
  });

  it('follows the role to its new name, and ends with it', async () => {
    const { roles } = idp.services;
    await roles.create({ name: 'limit old' });
    await roles.create({ name: 'limit follower', permissions: ['gatehouse.users[role:limit%20old]:read'] });
    await roles.update('limit old', { name: 'limit new' });
    expect((await roles.find('limit follower'))?.permissions).toEqual(['gatehouse.users[role:limit%20new]:read']);
    await roles.remove('limit new');
    expect((await roles.find('limit follower'))?.permissions).toEqual([]);
  });
});

describe('a right for one application', () => {
  let owner: ApiCaller;
  let wiki: string;
  let shop: string;
  beforeAll(async () => {
    const { roles, applications } = idp.services;
    const register = async (id: string) => {
      const declared = { client_id: id, redirect_uris: ['https://app.example/cb'] };
      return (await applications.createOidc(declared)).application.id;
    };
    [wiki, shop] = [await register('limit-wiki'), await register('limit-shop')];
    const of = (action: string) => `gatehouse.applications[application:limit-wiki]:${action}`;
    await roles.create({ name: 'limit wiki owner', permissions: [of('read'), of('write')] });
    owner = await aPerson(idp, ['limit wiki owner'], { tool: desk.app });
  });

  it('lists, reads and changes only this one', async () => {
    const { items } = (await owner.get('/applications?limit=1')).json<List>();
    expect(items.map(({ id }) => id)).toEqual([wiki]);
    expect((await owner.get('/applications?search=shop')).json<List>().items).toEqual([]);
    for (const [id, expected] of [
      [wiki, 200],
      [shop, 404],
    ] as const) {
      expect(await status(owner.get(`/applications/${id}`))).toBe(expected);
      expect(await status(owner.send('PATCH', `/applications/${id}`, { client_name: 'New' }, anyVersion))).toBe(
        expected,
      );
      for (const action of ['disable', 'enable'])
        expect(await status(owner.send('POST', `/applications/${id}/${action}`))).toBe(expected);
      expect(await status(owner.send('POST', `/applications/${id}/secrets`, {}))).toBe(expected === 200 ? 201 : 404);
    }
    expect(await status(owner.send('DELETE', `/applications/${shop}`, undefined, anyVersion))).toBe(404);
    const declared = { protocol: 'oidc', redirect_uris: ['https://app.example/cb'] };
    expect(await status(owner.send('POST', '/applications', declared))).toBe(403);
  });

  itOnSqlite('gives the same access in the console', async () => {
    if (!owner.user) throw new Error('there is no user');
    const own = await consoleOf(idp, owner.user);
    const list = await own.get('/admin/applications');
    expect(list.text).toContain('limit-wiki');
    expect(list.text).not.toContain('limit-shop');
    expect(await status(own.get(`/admin/applications/${wiki}/settings`))).toBe(200);
    for (const page of ['', '/edit', '/secret', '/delete'])
      expect(await status(own.get(`/admin/applications/${shop}${page}`)), page).toBe(404);
    expect(await status(own.get('/admin/applications/new'))).toBe(403);
  });
});
