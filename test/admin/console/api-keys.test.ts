// The pages of API keys, as an administrator uses them: create with a fresh sign-in, copy the key, find it in the list, revoke it.
import { beforeAll, expect, it } from 'vitest';
import type { TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { confirmation, consoleOf, signedInLongAgo, signInAgain, staff } from './support.ts';

const HOME = '/admin/api-keys';

let idp: TestIdp;
let ann: TestUser;
let console: HttpClient;
beforeAll(async () => {
  idp = await sharedIdp();
  ann = await staff(idp, 'admin');
  console = await consoleOf(idp, ann);
});

const callWith = (key: string) =>
  httpClient(idp.issuer).get('/api/admin/users', { headers: { authorization: `Bearer ${key}` } });

const submit = (page: Page, fields: Record<string, string | string[]>) => console.submit(page, fields);

it('the page of API keys creates a key after a fresh sign-in, displays it in this session, and revokes it', async () => {
  await signedInLongAgo(idp, ann);
  const form = await console.get(`${HOME}/new`);
  const input = { name: 'Nightly export', expires_in_days: '7', permissions: ['gatehouse.users:read'] };
  const confirm = await confirmation(console, await submit(form, input));
  expect(textOf(confirm.text)).toContain('create the API key Nightly export');
  const again = await signInAgain(console, confirm, ann);
  expect(again.text).toMatch(/value="gatehouse\.users:read" checked/);
  const created = await console.follow(await submit(again, input));
  expect([created.status, created.headers['cache-control']]).toEqual([200, expect.stringContaining('no-store')]);
  const [key = ''] = /gh_[0-9A-Za-z]{60}/.exec(created.text) ?? [];
  expect((await callWith(key)).status).toBe(200);

  expect((await console.get(created.url)).text).toContain(key);
  const list = await console.get(HOME);
  expect(list.text).not.toContain(key);
  expect(textOf(list.text)).toMatch(new RegExp(`Nightly export.*gh_${key.slice(3, 14)}….*in 7 days`, 's'));
  const one = await console.get(`${HOME}/${key.slice(3, 14)}`);
  expect(textOf(one.text)).toContain('gatehouse.users:read');
  const asked = await console.get(`${HOME}/${key.slice(3, 14)}/revoke`);
  const revoked = await console.follow(await submit(asked, {}));
  expect(textOf(revoked.text)).toContain('API key Nightly export revoked.');
  expect((await callWith(key)).status).toBe(401);
  expect(textOf((await console.get(`${HOME}?state=ended`)).text)).toMatch(/Nightly export.*Revoked/s);
  const [event] = await idp.services.audit.list({ subjectId: ann.account.id, types: ['api-key.created'] });
  expect(event).toMatchObject({ actorId: ann.account.id, data: { name: 'Nightly export' } });
  const mails = await idp.services.db.mailMessage.findMany({ where: { recipient: ann.account.email ?? '' } });
  expect(mails.map(({ subject }) => subject)).toContain('An API key was created for your account');
});

it('the page of API keys says what is wrong at the field, and offers no permission that needs a fresh sign-in', async () => {
  const form = await console.get(`${HOME}/new`);
  expect(form.text).not.toMatch(/value="gatehouse\.(settings:write|roles:manage|keys:write)/);
  const wrong = await submit(form, { name: ' ', expires_in_days: '90', permissions: [] });
  expect(wrong.status).toBe(400);
  expect(textOf(wrong.text)).toContain('Enter a name.');
  const none = await submit(form, { name: 'None', expires_in_days: '90' });
  expect([none.status, textOf(none.text)]).toEqual([400, expect.stringContaining('Choose a permission.')]);
  const long = await submit(form, { name: 'Long', expires_in_days: '366', permissions: ['gatehouse.users:read'] });
  expect([long.status, textOf(long.text)]).toEqual([400, expect.stringContaining('1 to 365 days')]);
});

it('the page of API keys is for those who may see it, and lists no key of users with more permissions', async () => {
  const { key } = await idp.services.apiKeys.create(
    { ownerId: ann.account.id, name: 'Of Ann', permissions: ['gatehouse.users:read'], days: 30 },
    { actorId: ann.account.id },
  );
  const auditor = await consoleOf(idp, await staff(idp, 'auditor'));
  const list = await auditor.get(HOME);
  expect(textOf(list.text)).not.toContain('Of Ann');
  expect(list.text).not.toContain(`${HOME}/new`);
  for (const path of [`${HOME}/${key.id}`, `${HOME}/nothing`]) expect((await auditor.get(path)).status).toBe(404);
  for (const path of [`${HOME}/new`, `${HOME}/${key.id}/revoke`]) expect((await auditor.get(path)).status).toBe(403);
  const manager = await consoleOf(idp, await staff(idp, 'user-manager'));
  expect((await manager.get(HOME)).status).toBe(403);
  expect((await manager.get('/admin/users')).text).not.toContain(HOME);
});

it('the page of API keys says that a key of a disabled owner does not work, and the question of Disable that it will not', async () => {
  const owner = await staff(idp, 'auditor');
  const { key, text } = await idp.services.apiKeys.create(
    { ownerId: owner.account.id, name: 'Of Leaver', permissions: ['gatehouse.users:read'], days: 90 },
    { actorId: owner.account.id },
  );
  const listed = async () => textOf((await console.get(`${HOME}?user=${owner.username}`)).text);
  expect(await listed()).toMatch(/Of Leaver.*in 90 days/s);
  const question = await console.get(`/admin/users/${owner.account.id}/disable`);
  expect(textOf(question.text)).toContain('API keys don’t work while the account is disabled.');
  await console.submit(question);
  expect((await callWith(text)).status).toBe(401);
  expect(await listed()).toMatch(/Of Leaver.*Owner disabled/s);
  expect(await listed()).not.toContain('in 90 days');
  const page = textOf((await console.get(`${HOME}/${key.id}`)).text);
  expect(page).toContain('Doesn’t work: the owner is disabled');
  expect(page).toContain('Revoke API key');
  await idp.services.accounts.setActive(owner.account.id, true, { actorId: ann.account.id });
  expect((await callWith(text)).status).toBe(200);
  expect(await listed()).toMatch(/Of Leaver.*in 90 days/s);
});
