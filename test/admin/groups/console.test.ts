// The pages of groups: an administrator makes a group with a person, a role and an owner, and sees what a deletion takes; one who does not
// hold the role changes none of it.
import { beforeAll, expect, it } from 'vitest';
import { aUser } from '../../support/factories.ts';
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
  await admin.submit(await admin.get(`${path}/parts`), { role }, { form: `${path}/parts` });
  expect((await accounts.find(two.account.id))?.roles).toEqual([role]);
  const owned = await admin.submit(
    await admin.get(`${path}/owners`),
    { user: two.username },
    { form: `${path}/owners` },
  );
  expect(textOf((await admin.follow(owned)).text)).toContain('is an owner now');
  const page = await admin.get(path);
  await admin.submit(page, {}, { form: `${path}/members/${two.account.id}/remove` });
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
