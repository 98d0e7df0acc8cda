// The pages of groups: an administrator makes a group with a person, a role and an owner, and sees what a deletion takes; one who does not
// hold the role changes none of it.
import { beforeAll, expect, it } from 'vitest';
import { logoPath } from '../../../src/base/http/pages/render.ts';
import { limits } from '../../../src/base/limits.ts';
import { anApplication } from '../../oidc/support.ts';
import { aClient, anApi, aUser } from '../../support/factories.ts';
import type { HttpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { consoleOf, staff } from '../console/support.ts';

let idp: TestIdp;
let admin: HttpClient;
beforeAll(async () => {
  idp = await sharedIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});

it('creates a role and gives access to an application without leaving the group', async () => {
  const { groups, roles, accounts, applications } = idp.services;
  const { id } = await groups.create({ name: 'In place' });
  const member = await aUser(idp.services);
  await groups.addMembers(id, [{ userId: member.account.id }]);
  const parts = `/admin/groups/${id}/parts`;
  const missing = await admin.submit(await admin.get(parts), { role: '+role' }, { form: parts });
  expect([missing.status, textOf(missing.text)]).toEqual([400, expect.stringContaining('Enter a name.')]);
  await admin.submit(missing, { role: '+role', name: 'in place role' }, { form: parts });
  expect((await accounts.find(member.account.id))?.roles).toEqual(['in place role']);
  expect(await roles.find('in place role')).toMatchObject({ permissions: [] });
  const taken = await admin.submit(await admin.get(parts), { role: '+role', name: 'in place role' }, { form: parts });
  expect(taken.status).toBe(409);

  const redirect_uris = ['https://in-place.example/cb'];
  const closed = await aClient(idp.services, {
    client_name: 'In place wiki',
    redirect_uris,
    access: { roles: ['admin'] },
  });
  const blog = await aClient(idp.services, { client_name: 'In place blog', redirect_uris, access: 'everyone' });
  const ruleOf = async (search: string) => (await applications.list({ search })).applications[0]?.access;
  const tab = `/admin/groups/${id}/applications`;
  const open = async (application: string) => admin.submit(await admin.get(tab), { application }, { form: tab });
  expect(textOf((await admin.get(tab)).text)).toContain('Applications that are open to everyone aren’t listed.');
  const { suggestions } = (await admin.get('/admin/suggest/applications?q=In+place+')).json<{
    suggestions: { label: string; small: string }[];
  }>();
  expect(Object.fromEntries(suggestions.map(({ label, small }) => [label, small]))).toEqual({
    'In place blog': `Open to everyone · ${blog.clientId}`,
    'In place wiki': closed.clientId,
  });
  const question = await open('In place blog');
  expect(textOf(question.text)).toContain('everybody else loses access.');
  expect(await ruleOf(blog.clientId)).toBe('everyone');
  const restricted = await admin.follow(await admin.submit(question));
  expect(new URL(restricted.url).pathname).toBe(tab);
  expect(await ruleOf(blog.clientId)).toEqual({ roles: [], groups: ['In place'] });
  expect(linksOf((await admin.get(parts)).text, restricted.url)).toContainEqual(
    expect.objectContaining({ label: 'in place role', href: expect.stringContaining('/admin/roles/') }),
  );
  expect(textOf((await open('no such thing')).text)).toContain('No application has this name');
  const done = await admin.follow(await open('In place wiki'));
  expect(textOf(done.text)).toContain('In place wiki is open to the group In place.');
  expect(await ruleOf(closed.clientId)).toEqual({ roles: ['admin'], groups: ['In place'] });

  const takes = async () => {
    const page = await admin.get(tab);
    return linksOf(page.text, page.url).filter(({ href }) => href.endsWith('/remove'));
  };
  const links = await takes();
  expect(links.map(({ label }) => label)).toEqual(['Take away : In place blog', 'Take away : In place wiki']);
  const only = await admin.follow(await admin.get(links[0]?.href ?? ''));
  expect(textOf(only.text)).toContain('Nothing but this group opens In place blog.');
  const taking = await admin.get(links[1]?.href ?? '');
  expect(textOf(taking.text)).toContain('Members can no longer open In place wiki');
  expect(textOf((await admin.follow(await admin.submit(taking))).text)).toContain('is no longer open to the group');
  expect(await ruleOf(closed.clientId)).toEqual({ roles: ['admin'] });
  expect(await takes()).toHaveLength(1);

  const reader = await consoleOf(idp, await staff(idp, 'auditor'));
  const page = (await reader.get(tab)).text;
  expect(page).not.toContain('Give access');
});

it('says what else opens an application before access is taken from a group', async () => {
  const { groups, roles } = idp.services;
  const { id, name } = await groups.create({ name: 'Taken in part' });
  const role = (await roles.create({ name: 'taken in part role' })).name;
  await groups.addRole(id, role);
  const { applicationId } = await aClient(idp.services, {
    client_name: 'Taken wiki',
    redirect_uris: ['https://taken.example/cb'],
    access: { roles: [role], groups: [name] },
  });
  const asked = await admin.get(`/admin/groups/${id}/applications/${applicationId}/remove`);
  const stays = `Members can still open Taken wiki, by: Role ${role}.`;
  expect(textOf(asked.text)).toContain(stays);
  expect(textOf((await admin.follow(await admin.submit(asked))).text)).toContain(stays);
});

it('makes a group, adds people with an end, a role and an owner, and says what a deletion takes', async () => {
  const { groups, roles, accounts } = idp.services;
  const made = await admin.follow(await admin.submit(await admin.get('/admin/groups/new'), { name: 'Pages Lab' }));
  expect(textOf(made.text)).toContain('The group was created.');
  const { id } = (await groups.find('Pages Lab')) ?? expect.fail('no group');
  const path = `/admin/groups/${id}`;
  expect(textOf((await admin.get('/admin/groups?q=pages')).text)).toContain('Pages Lab');
  const [one, two, three] = [await aUser(idp.services), await aUser(idp.services), await aUser(idp.services)];
  const role = (await roles.create({ name: 'pages role' })).name;
  const until = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const form = { form: path };
  const added = await admin.follow(await admin.submit(await admin.get(path), { user: one.username, until }, form));
  expect(textOf(added.text)).toContain('is a member now');
  expect((await accounts.find(one.account.id))?.groups).toMatchObject([
    { name: 'Pages Lab', until: new Date(`${until}T23:59:59Z`) },
  ]);
  const unknown = await admin.submit(await admin.get(path), { user: 'nobody-here' }, form);
  expect(textOf(unknown.text)).toContain('No user has the username');
  const bulk = await admin.get(`${path}/bulk`);
  const wrong = await admin.submit(bulk, { people: `${two.username}\nnobody-here` });
  expect(textOf(wrong.text)).toContain('nobody-here');
  expect((await accounts.find(two.account.id))?.groups).toEqual([]);
  await admin.submit(bulk, { people: `${two.username}\n${three.account.email}` });
  expect((await accounts.find(three.account.id))?.groups).toMatchObject([{ name: 'Pages Lab' }]);
  const people = String(three.account.email);
  const removed = await admin.follow(await admin.submit(bulk, { people, kind: 'remove' }));
  expect(textOf(removed.text)).toContain('1 person was removed');
  expect((await accounts.find(three.account.id))?.groups).toEqual([]);
  await admin.submit(bulk, { people });
  await admin.submit(await admin.get(`${path}/parts`), { role }, { form: `${path}/parts` });
  expect((await accounts.find(two.account.id))?.roles).toEqual([role]);
  const owned = await admin.submit(
    await admin.get(`${path}/owners`),
    { user: two.username },
    { form: `${path}/owners` },
  );
  expect(textOf((await admin.follow(owned)).text)).toContain('is an owner now');
  const page = await admin.get(path);
  const remove = linksOf(page.text, page.url).find(({ href }) => href.endsWith(`/members/${two.account.id}/remove`));
  const asked = await admin.get(remove?.href ?? expect.fail('no link'));
  expect(textOf(asked.text)).toContain('loses the roles and applications that only this group gives.');
  await admin.submit(asked);
  expect((await accounts.find(two.account.id))?.roles).toEqual([]);
  expect(textOf((await admin.get(`/admin/users/${one.account.id}`)).text)).toContain('Pages Lab');
  const question = await admin.get(`${path}/delete`);
  expect(textOf(question.text)).toContain('2 people are in the group');
  expect(textOf(question.text)).toContain(role);
  await admin.submit(question, { typed_name: 'Pages Lab' });
  expect(await groups.find('Pages Lab')).toBeUndefined();
});

it('leads from page to page of the groups and of the members of one', async () => {
  const { groups, accounts } = idp.services;
  for (let at = 10; at < 62; at += 1) await groups.create({ name: `Many pages ${at}` });
  const { id } = (await groups.find('Many pages 10')) ?? expect.fail('no group');
  for (let at = 10; at < 62; at += 1) await accounts.create({ id: `paged-${at}`, username: `paged-${at}` });
  await groups.addMembers(
    id,
    Array.from({ length: 52 }, (_, at) => ({ userId: `paged-${at + 10}` })),
  );
  for (const [path, first, last] of [
    ['/admin/groups?q=many+pages', 'Many pages 10', 'Many pages 61'],
    [`/admin/groups/${id}`, 'paged-10', 'paged-61'],
  ] as const) {
    const page = await admin.get(path);
    expect(textOf(page.text)).toContain(first);
    expect(textOf(page.text)).not.toContain(last);
    const next = linksOf(page.text, page.url).find(({ label }) => label === 'Next page');
    const second = await admin.get(next?.href ?? expect.fail('no next page'));
    expect(second.status).toBe(200);
    expect(textOf(second.text)).toContain(last);
    expect(textOf(second.text)).not.toContain(first);
  }
});

/** A group that opens an application, and a person who asks for it. */
async function aRequest(name: string, { reason = 'I run it in spring', until = null as Date | null } = {}) {
  const { groups, groupRequests } = idp.services;
  const group = await groups.create({ name, acceptsRequests: true });
  const [owner, ann] = [await aUser(idp.services), await aUser(idp.services)];
  await groups.appointOwner(group.id, { userId: owner.account.id });
  const access = { roles: [], groups: [name] };
  const { applicationId } = await aClient(idp.services, {
    client_name: `${name} wiki`,
    redirect_uris: ['https://wiki.example.com/cb'],
    access,
  });
  await groupRequests.ask({ userId: ann.account.id, groupId: group.id, applicationId, reason, until });
  return { group, ann, path: `/admin/groups/${group.id}/requests` };
}

it('lists open requests with their application and reason, and decides one with an end', async () => {
  const until = new Date('2099-05-31T10:00:00Z');
  const { group, ann, path } = await aRequest('Pages asked', { until });
  expect(textOf((await admin.get(`/admin/groups/${group.id}`)).text)).toContain('Requests (1)');
  const list = await admin.get(path);
  expect(textOf(list.text)).toMatch(new RegExp(`${ann.username}.* Pages asked wiki I run it in spring`));
  const link = linksOf(list.text, list.url).find(({ href }) => href.includes('/requests/'));
  const page = await admin.get(link?.href ?? expect.fail('no link'));
  expect(textOf(page.text)).toContain('I run it in spring');
  expect(page.forms.at(-1)?.fields).toMatchObject({ until: '2099-05-31', 'until.time': '10:00', answer: '' });
  const undecided = await admin.submit(page, { answer: 'Welcome' });
  expect(undecided.status).toBe(400);
  const past = await admin.submit(page, { decision: 'approve', until: '2001-01-01' });
  expect([past.status, textOf(past.text)]).toEqual([400, expect.stringContaining('Nothing was saved')]);
  const decided = await admin.submit(page, { decision: 'approve', answer: 'Welcome' });
  expect(textOf((await admin.follow(decided)).text)).toMatch(/is a member now, and gets an email.*No open requests/);
  expect((await idp.services.accounts.find(ann.account.id))?.groups).toMatchObject([{ name: 'Pages asked', until }]);
  expect(await idp.services.groupRequests.of(ann.account.id)).toMatchObject([{ state: 'granted', answer: 'Welcome' }]);
  const late = await admin.submit(page, { decision: 'decline' });
  expect([late.status, textOf(late.text)]).toEqual([404, expect.stringContaining('isn’t open anymore')]);
});

it('declines a request, and offers no decision without the right to give what the group gives', async () => {
  const { group, ann, path } = await aRequest('Pages declined');
  const role = (await idp.services.roles.create({ name: 'pages declined role' })).name;
  await idp.services.groups.addRole(group.id, role);
  const permissions = ['gatehouse.groups:read', 'gatehouse.groups:write', 'gatehouse.users:read'];
  await idp.services.roles.create({ name: 'pages request reader', permissions });
  const client = await consoleOf(idp, await staff(idp, 'pages request reader'));
  const list = await client.get(path);
  expect(textOf(list.text)).toContain('I run it in spring');
  expect(textOf(list.text)).not.toContain('Decide');
  const [{ id } = expect.fail('no request')] = await idp.services.groupRequests.openFor([group.id]);
  const { _csrf = '' } = (await client.get('/admin/groups/new')).forms.at(-1)?.fields ?? {};
  for (const decision of ['approve', 'decline'])
    expect((await client.post(`${path}/${id}`, { form: { _csrf, decision } })).status, decision).toBe(403);
  const page = await admin.get(`${path}/${id}`);
  await admin.submit(page, { decision: 'decline', answer: 'Not this year' });
  expect(await idp.services.groupRequests.of(ann.account.id)).toMatchObject([
    { state: 'denied', answer: 'Not this year' },
  ]);
  expect((await idp.services.accounts.find(ann.account.id))?.groups).toEqual([]);
});

it('says that a deletion closes an application which nothing else opens', async () => {
  const { group } = await aRequest('Pages only key');
  expect(textOf((await admin.get(`/admin/groups/${group.id}/delete`)).text)).toContain(
    'Nothing else opens Pages only key wiki',
  );
});

it('lists the applications that the group, one above it or a role of them opens, and says when a rule names nothing any more', async () => {
  const { groups, roles } = idp.services;
  const [above, below] = [await groups.create({ name: 'Opens above' }), await groups.create({ name: 'Opens below' })];
  await groups.addChild(above.id, below.id);
  await groups.addRole(above.id, (await roles.create({ name: 'opens role' })).name);
  const redirect_uris = ['https://opens.example.com/cb'];
  const app = async (client_name: string, access: object, preset?: string) =>
    (await aClient(idp.services, { client_name, redirect_uris, access, ...(preset && { preset }) })).applicationId;
  const onlyAbove = await app('Opens by above', { roles: [], groups: ['Opens above'] });
  await app('Opens by itself', { roles: [], groups: ['Opens below'] });
  await app('Opens by role', { roles: ['opens role'] }, 'grafana');
  const tab = (await admin.get(`/admin/groups/${below.id}/applications`)).text;
  expect(tab).toContain(logoPath('grafana'));
  const role = (await roles.find('opens role'))?.id;
  expect((await admin.get(`/admin/roles/${role}/applications`)).text).toContain(logoPath('grafana'));
  const text = textOf(tab);
  expect(text).toMatch(/Opens by above Group Opens above .*Opens by itself This group .*Opens by role Role opens role/);
  expect(textOf((await admin.get(`/admin/groups/${above.id}/applications`)).text)).not.toContain('Opens by itself');
  await groups.remove(above.id);
  const page = textOf((await admin.get(`/admin/applications/${onlyAbove}`)).text);
  expect(page).toContain('Closed to everyone');
  expect(page).not.toContain('Limited to');
});

it('lists members by name, on every page of a small and of a large group', async () => {
  const { db, groups, accounts } = idp.services;
  const { few } = limits.lists;
  const group = await groups.create({ name: 'Pages by name' });
  const names = ['Zoe', 'emil', 'Bo', 'Anna'];
  for (const [at, name] of names.entries())
    await accounts.create({ id: `z-${9 - at}`, username: `by-name-${at}`, name });
  await groups.addMembers(
    group.id,
    names.map((_, at) => ({ userId: `z-${9 - at}` })),
  );
  const listed = async () => {
    const found: string[] = [];
    for (let after: string | undefined, page = 0; page === 0 || after !== undefined; page += 1) {
      const { members, next } = await groups.membersByName(group.id, { after, limit: 3 });
      found.push(...members.map(({ userId }) => userId));
      after = next;
    }
    return found;
  };
  const byName = ['z-6', 'z-7', 'z-8', 'z-9'];
  expect(await listed()).toEqual(byName);
  expect(textOf((await admin.get(`/admin/groups/${group.id}`)).text)).toMatch(/Anna.*Bo.*emil.*Zoe/);
  expect(await groups.membersByName(group.id, { search: 'EMI', after: 'no cursor', limit: 3 })).toMatchObject({
    members: [{ userId: 'z-8' }],
    next: undefined,
  });
  Object.assign(limits.lists, { few: 1 });
  expect(await listed()).toEqual(byName);
  Object.assign(limits.lists, { few });
  expect(await db.groupMember.count({ where: { groupId: group.id } })).toBe(4);
});

it('says in the access check that the person is in no group of the rule', async () => {
  const { ann } = await aRequest('Pages checked');
  const check = await admin.get(`/admin/access-check?user=${ann.username}&app=Pages+checked+wiki`);
  expect(textOf(check.text)).toMatch(/requires the group Pages checked\. .* is in no group\./);
  expect(textOf(check.text)).not.toContain('has no roles');
});

it('changes nothing for an administrator who does not hold the role of the group', async () => {
  const { groups, roles, accounts } = idp.services;
  const permissions = ['gatehouse.groups:read', 'gatehouse.groups:write', 'gatehouse.users:read'];
  await roles.create({ name: 'pages manager', permissions });
  await roles.create({ name: 'pages secret' });
  const group = await groups.create({ name: 'Pages Payroll' });
  await groups.addRole(group.id, 'pages secret');
  const { account } = await aUser(idp.services);
  await groups.addMembers(group.id, [{ userId: account.id }]);
  const manager = await staff(idp, 'pages manager');
  const client = await consoleOf(idp, manager);
  const path = `/admin/groups/${group.id}`;
  const shown = await client.get(path);
  expect(textOf(shown.text)).not.toContain('Add a member');
  const { _csrf = '' } = (await client.get('/admin/groups/new')).forms.at(-1)?.fields ?? {};
  const posts: [string, Record<string, string>][] = [
    [path, { user: manager.username }],
    [`${path}/bulk`, { people: manager.username }],
    [`${path}/members/${account.id}/remove`, {}],
    [`${path}/parts`, { role: 'pages manager' }],
    [`${path}/parts/role/pages%20secret/remove`, {}],
    [`${path}/owners`, { user: manager.username }],
    [`${path}/edit`, { name: 'Renamed' }],
    [`${path}/delete`, { typed_name: 'Pages Payroll' }],
  ];
  for (const [at, fields] of posts) {
    const sent = await client.post(at, { form: { _csrf, ...fields } });
    expect(sent.status, `${at} ${textOf(sent.text)}`).toBe(403);
  }
  expect((await accounts.find(manager.account.id))?.groups).toEqual([]);
  expect((await accounts.find(account.id))?.roles).toEqual(['pages secret']);
  expect(await groups.get(group.id)).toMatchObject({ name: 'Pages Payroll' });
});

it('counts the people below, and lists what happened to this group only', async () => {
  const { groups } = idp.services;
  const [above, below] = [await groups.create({ name: 'Pages above' }), await groups.create({ name: 'Pages below' })];
  await groups.addChild(above.id, below.id);
  const [one, two] = [await aUser(idp.services), await aUser(idp.services)];
  await groups.addMembers(
    below.id,
    [one, two].map(({ account }) => ({ userId: account.id })),
  );
  await groups.addMembers(above.id, [{ userId: one.account.id }]);
  expect(textOf((await admin.get('/admin/groups?q=pages+above')).text)).toMatch(/Pages above 2 1 of them directly/);
  expect(textOf((await admin.get('/admin/groups?q=pages+below')).text)).toMatch(/Pages below 2 Pages above/);
  const events = textOf((await admin.get(`/admin/groups/${above.id}/activity`)).text);
  expect(events).toContain(one.username);
  expect(events).toContain('Pages below');
  expect(events).not.toContain(two.username);
  const clerk = `pages clerk ${one.username}`;
  await idp.services.roles.create({ name: clerk, permissions: ['gatehouse.groups:read', 'gatehouse.users:read'] });
  const client = await consoleOf(idp, await staff(idp, clerk));
  expect(textOf((await client.get(`/admin/groups/${above.id}`)).text)).not.toContain('Activity');
  expect((await client.get(`/admin/groups/${above.id}/activity`)).status).toBe(403);
});

it('says which applications and APIs the deletion of a role closes', async () => {
  const { roles } = idp.services;
  const { id, name } = await roles.create({ name: 'closing role' });
  const identifier = 'https://closed-by-role.example';
  await anApi(idp.services, {
    identifier,
    scopes: ['read'],
    signing_alg: 'RS256',
    access: { roles: [name] },
  });
  await anApplication(idp, { client_name: 'Closed By Role', access: { roles: [name] } });
  const { account } = await aUser(idp.services);
  await roles.assign(account.id, name);
  const text = textOf((await admin.get(`/admin/roles/${id}/delete`)).text);
  expect(text).toContain('They lose access to Closed By Role unless another role');
  expect(text).toContain(`They get no tokens for ${identifier} unless`);
});

it('names the owner who keeps a group from giving permissions in Gatehouse, with the way there', async () => {
  const { groups } = idp.services;
  const { id } = await groups.create({ name: 'Owned desk' });
  const owner = await aUser(idp.services);
  await groups.appointOwner(id, { userId: owner.account.id });
  const parts = `/admin/groups/${id}/parts`;
  const give = async (from = admin) => from.submit(await from.get(parts), { role: 'support' }, { form: parts });
  const closed = await give();
  expect(closed.status).toBe(409);
  expect(textOf(closed.text)).toContain('Remove the owner Ann Example of the group Owned desk first.');
  const links = linksOf(closed.text, closed.url);
  expect(links).toContainEqual(expect.objectContaining({ href: expect.stringMatching(`/admin/groups/${id}/owners$`) }));
  await groups.dismissOwner(id, owner.account.id);
  await groups.update(id, { acceptsRequests: true });
  expect(textOf((await give()).text)).toContain('People can ask to join the group Owned desk');
});
