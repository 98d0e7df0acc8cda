// A change of several users in the console: the page that asks, what each administrator may do to whom, and what is reported.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UserAdmin } from '../../../src/admin/users/actions.ts';
import { bulkActions, runBulk } from '../../../src/admin/users/bulk-actions.ts';
import { limits } from '../../../src/base/limits.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import type { HttpClient, Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { confirmation, consoleOf, signedInLongAgo, signInAgain, staff } from './support.ts';

let idp: TestIdp;
let ada: TestUser;
let admin: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  const { roles, accounts, groups } = idp.services;
  await roles.create({ name: 'editor' });
  await groups.create({ name: 'Night shift' });
  ada = await staff(idp, 'admin');
  // She is the only administrator.
  const first = await accounts.findByLogin('admin');
  if (first) await roles.unassign(first.id, 'admin');
  admin = await consoleOf(idp, ada);
});
afterAll(() => idp?.stop());

const people = (names: readonly string[]) =>
  Promise.all(names.map((username) => aUser(idp.services, { username, name: username })));
const question = (action: string, users: readonly TestUser[], client = admin): Promise<Page> =>
  client.get(
    `/admin/users/bulk?${new URLSearchParams([['action', action], ...users.map(({ account }) => ['id', account.id])])}`,
  );
const bulk = { form: '/admin/users/bulk' };
const found = (user: TestUser) => idp.services.accounts.find(user.account.id);

describe('a change of several users', () => {
  it('is asked for with the names, made for each user with its audit entry, and reported on the list', async () => {
    const users = await people(['several-1', 'several-2', 'several-3']);
    const list = await admin.get('/admin/users?q=several-&select=all');
    expect(list.text.match(/name="id" value="[^"]+" aria-label="Select several-\d" checked/g)).toHaveLength(3);
    expect(list.forms.find(({ action }) => action.endsWith('/bulk'))).toMatchObject({ method: 'get' });
    const picked = { action: 'disable', id: users.map(({ account }) => account.id) };
    const page = await admin.submit(list, picked, { form: '/bulk' });
    expect(textOf(page.text)).toContain('Disable 3 users?');
    for (const { username } of users) expect(textOf(page.text)).toContain(username);
    expect((await found(users[0] as TestUser))?.isActive).toBe(true);
    const after = await admin.follow(await admin.submit(page, {}, bulk));
    expect(after.url).toContain('/admin/users?q=several-');
    expect(textOf(after.text)).toContain('Disabled 3 users.');
    for (const user of users) {
      expect((await found(user))?.isActive).toBe(false);
      const events = await idp.services.audit.list({ subjectId: user.account.id, types: ['account.disabled'] });
      expect(events).toMatchObject([{ actorId: ada.account.id }]);
    }
    const again = textOf((await question('disable', users)).text);
    expect(again).toContain('Nothing to change');
    expect(again).toContain('Already disabled');
    await admin.submit(await question('enable', users), {}, bulk);
    expect((await found(users[2] as TestUser))?.isActive).toBe(true);
  });

  it.each([
    ['add-role', { role: 'editor' }, 'Added the role to 2 users.'],
    ['remove-role', { role: 'editor' }, 'Removed the role from 2 users.'],
    ['add-group', { group: 'Night shift' }, 'Added 2 users to the group Night shift.'],
    ['force-change', {}, 'Required a new password from 2 users.'],
    ['send-reset', {}, 'No mail server is set: the password reset for 2 users was saved as a file.'],
    ['delete', { confirm: '2' }, 'Deleted 2 users.'],
  ])('is made by %s', async (action, typed, sentence) => {
    const users = await people([`${action}-1`, `${action}-2`]);
    if (action === 'remove-role')
      for (const { account } of users) await idp.services.roles.assign(account.id, 'editor');
    const after = await admin.follow(await admin.submit(await question(action, users), typed, bulk));
    expect(textOf(after.text)).toContain(sentence);
    const accounts = await Promise.all(users.map(found));
    if (action === 'add-role') expect(accounts.map((one) => one?.roles)).toEqual([['editor'], ['editor']]);
    if (action === 'add-group')
      expect(accounts.map((one) => one?.groups.map(({ name }) => name))).toEqual([['Night shift'], ['Night shift']]);
    if (action === 'remove-role') expect(accounts.map((one) => one?.roles)).toEqual([[], []]);
    if (action === 'delete') expect(accounts).toEqual([undefined, undefined]);
  });

  it('lets a role that would begin later begin at once', async () => {
    const [user] = (await people(['begins-later'])) as [TestUser];
    const since = new Date(Date.now() + 86_400_000);
    await idp.services.roles.assign(user.account.id, 'editor', undefined, undefined, { since });
    expect((await found(user))?.roles).toEqual([]);
    const after = await admin.follow(await admin.submit(await question('add-role', [user]), { role: 'editor' }, bulk));
    expect(textOf(after.text)).toContain('Added the role to begins-later.');
    expect((await found(user))?.roles).toEqual(['editor']);
  });

  it('reports per user what did not change: the last administrator, a user without a session, one without an email', async () => {
    const [bo] = await people(['not-changed']);
    const withoutEmail = await aUser(idp.services, { username: 'no-email', email: null, emailVerified: false });
    if (!bo) throw new Error('no user');
    const both = await admin.submit(await question('disable', [ada, bo]), {}, bulk);
    expect(textOf(both.text)).toContain('Disable: 1 of 2 users changed');
    expect(textOf(both.text)).toMatch(/last administrator.*Failed.*not-changed.*Done/);
    expect(await found(ada)).toMatchObject({ isActive: true });
    expect(await found(bo)).toMatchObject({ isActive: false });
    const ended = await admin.submit(await question('end-sessions', [bo]), {}, bulk);
    expect(textOf(ended.text)).toContain('Had no session No change needed');
    const reset = await question('send-reset', [withoutEmail, bo]);
    expect(textOf(reset.text)).toContain('No change for 1 user');
    expect(textOf(reset.text)).toContain('Has no email');
  });

  it('needs the rights for each user: more rights, other roles and roles that the actor lacks are reported and left alone', async () => {
    const manager = await consoleOf(idp, await staff(idp, 'user-manager'));
    const [plain] = await people(['plain-one']);
    const auditor = await staff(idp, 'auditor');
    if (!plain) throw new Error('no user');
    const page = await question('disable', [ada, auditor, plain], manager);
    expect(textOf(page.text)).toContain(`Disable ${plain.account.name}?`);
    expect(textOf(page.text)).toContain('No change for 2 users');
    expect(textOf(page.text)).toContain('because it has more permissions than you');
    // The identifiers of the others are added by hand.
    const id = [ada, auditor, plain].map(({ account }) => account.id);
    const result = await manager.submit(page, { id }, bulk);
    expect(textOf(result.text)).toContain('1 of 3 users changed');
    for (const one of [ada, auditor]) expect(await found(one)).toMatchObject({ isActive: true });
    const roles = await question('add-role', [plain], manager);
    expect(roles.text).not.toContain('<option value="admin"');
    const forged = await manager.submit(roles, { role: 'admin' }, bulk);
    expect(textOf(forged.text)).toContain('0 of 1 user changed');
    expect((await found(plain))?.roles).toEqual([]);
    const reader = await consoleOf(idp, await staff(idp, 'auditor'));
    expect((await reader.get('/admin/users')).text).not.toContain('/admin/users/bulk');
    expect((await question('delete', [plain], reader)).status).toBe(403);
  });

  it('puts people in a group with the rights of the page of the group, and tells who was in it', async () => {
    const { audit, roles, groups } = idp.services;
    const [one, two] = (await people(['shift-1', 'shift-2'])) as [TestUser, TestUser];
    const { id } = (await groups.find('Night shift')) ?? expect.fail('no group');
    await groups.addMembers(id, [{ userId: one.account.id }]);
    const page = await question('add-group', [one, two, ada]);
    expect(page.text).toContain('data-suggest="/admin/suggest/groups"');
    const unknown = await admin.submit(page, { group: 'Day shift' }, bulk);
    expect(unknown.status).toBe(400);
    expect(textOf(unknown.text)).toContain('This group doesn’t exist.');
    expect(textOf((await admin.submit(page, { group: '' }, bulk)).text)).toContain('Choose a group.');
    const result = await admin.submit(unknown, { group: 'Night shift' }, bulk);
    expect(textOf(result.text)).toContain('Add to group: 2 of 3 users changed');
    expect(textOf(result.text)).toMatch(/shift-1.*Already in the group.*No change needed.*shift-2.*Done/);
    for (const { account } of [two, ada]) {
      const events = await audit.list({ subjectId: account.id, types: ['group.member-added'] });
      expect(events).toMatchObject([{ actorId: ada.account.id }]);
    }
    // Who manages users alone may not, nor who manages groups without the rights that the group gives.
    const manager = await consoleOf(idp, await staff(idp, 'user-manager'));
    expect((await question('add-group', [two], manager)).status).toBe(403);
    expect((await manager.get('/admin/users')).text).not.toContain('value="add-group"');
    await roles.create({ name: 'shift lead', permissions: ['gatehouse.users:read', 'gatehouse.groups:write'] });
    const lead = await consoleOf(idp, await staff(idp, 'shift lead'));
    await groups.addRole((await groups.create({ name: 'Editors' })).id, 'editor');
    const asked = await question('add-group', [two], lead);
    const forbidden = await lead.submit(asked, { group: 'Editors' }, bulk);
    expect(textOf(forbidden.text)).toContain('0 of 1 user changed');
    expect((await found(two))?.roles).toEqual([]);
  });

  it('is rejected without a CSRF token, without a selection, above the limit, and where the number is not typed', async () => {
    const users = await people(['guarded-1', 'guarded-2']);
    const page = await question('delete', users);
    expect((await admin.submit(page, { _csrf: '', confirm: '2' }, bulk)).status).toBe(403);
    const mistyped = await admin.submit(page, { confirm: '3' }, bulk);
    expect(mistyped.status).toBe(400);
    expect(textOf(mistyped.text)).toContain('Type 2 to confirm.');
    expect(await found(users[0] as TestUser)).toBeDefined();
    expect(textOf((await admin.follow(await question('delete', []))).text)).toContain('Select at least one user.');
    const many = Array.from({ length: limits.bulk.users + 1 }, () => users[0] as TestUser);
    expect((await question('delete', many)).status).toBe(400);
  });

  it('needs one fresh sign-in for all of them, after which the page is there again', async () => {
    const users = await people(['proof-1', 'proof-2']);
    const grace = await staff(idp, 'admin');
    const browser = await consoleOf(idp, grace);
    await signedInLongAgo(idp, grace);
    const asked = await question('disable', users, browser);
    const page = await confirmation(browser, await browser.submit(asked, {}, bulk));
    expect(textOf(page.text)).toContain('You’re about to disable 2 users.');
    expect((await found(users[0] as TestUser))?.isActive).toBe(true);
    const again = await signInAgain(browser, page, grace);
    await browser.submit(again, {}, bulk);
    for (const one of users) expect(await found(one)).toMatchObject({ isActive: false });
    await idp.services.roles.unassign(grace.account.id, 'admin');
  });
});

it('a change of many users stops after some seconds, and names the users that wait', async () => {
  let seconds = 0;
  const setActive = async () => {
    seconds += 3;
  };
  const users = { setActive } as unknown as UserAdmin;
  const stopwatch = () => seconds * 1000;
  const [enable] = bulkActions;
  if (!enable) throw new Error('no action');
  const outcomes = await runBulk(
    { users, stopwatch },
    { action: enable, ids: ['a', 'b', 'c'], role: '', group: '', message: '', named: '3 users' },
    {},
  );
  expect(outcomes.map(({ state }) => state)).toEqual(['done', 'done', 'waiting']);
});
