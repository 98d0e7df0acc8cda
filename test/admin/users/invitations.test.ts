// Invitations in administration: their state in the list and on the page of a user, for one and for many, in the console and by API.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { linkIn, open } from '../../recovery/support.ts';
import type { HttpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import type { Mailbox } from '../../support/mailbox.ts';
import { mailbox } from '../../support/mailbox.ts';
import { textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from '../console/support.ts';
import { type ApiCaller, aService } from '../support.ts';

let box: Mailbox;
let idp: TestIdp;
let admin: HttpClient;
let api: ApiCaller;
beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  api = await aService(idp);
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

const post = (path: string, body?: object) => api.send('POST', path, body);
let count = 0;
async function aGuest() {
  count += 1;
  const username = `guest-${count}`;
  const email = `${username}@example.com`;
  const account = await idp.services.accounts.create({ username, email, name: `Guest ${count}` });
  return { account, id: account.id, username, email };
}
const invitationOf = async (id: string) => {
  const { invitation, invitation_state: state } = (await api.get(`/users/${id}`)).json<{
    invitation: object | null;
    invitation_state: string | null;
  }>();
  return invitation && { ...invitation, state };
};
const listed = async (state: string) =>
  (await api.get(`/users?invitation=${state}`))
    .json<{ items: { username: string }[] }>()
    .items.map(({ username }) => username);

it('shows the state on the page of the user and in the list, which finds users by it', async () => {
  const guest = await aGuest();
  expect(await invitationOf(guest.id)).toBeNull();
  const form = await admin.get(`/admin/users/${guest.id}/invite`);
  expect(textOf(form.text)).toContain('Invite Guest 1');
  const sent = await admin.follow(await admin.submit(form, { message: 'Welcome to the <lab>' }));
  expect(textOf(sent.text)).toContain('Invitation queued');
  expect(textOf(sent.text)).toContain('Invited');
  expect(textOf(sent.text)).toContain('Valid until');
  const mail = await box.waitForMail(guest.email);
  expect(mail.text).toContain('> Welcome to the <lab>');
  expect(mail.html).toContain('Welcome to the &lt;lab&gt;');
  await open(idp, linkIn(mail));
  expect(await invitationOf(guest.id)).toMatchObject({ state: 'opened', accepted_at: null });
  const list = await admin.get('/admin/users?state=opened');
  expect(textOf(list.text)).toContain('Guest 1');
  expect(textOf(list.text)).toContain('Invitation opened');
  expect(textOf((await admin.get('/admin/users?state=invited')).text)).not.toContain('Guest 1');
  expect(await listed('opened')).toEqual([guest.username]);
  expect(await listed('accepted')).toEqual([]);
});

it('an invited person is in the same state on every page, and not among the active ones', async () => {
  const guest = await aGuest();
  await idp.services.roles.create({ name: 'guest-role' });
  await idp.services.roles.assign(guest.id, 'guest-role');
  await post(`/users/${guest.id}/invite`);
  const role = await idp.services.roles.find('guest-role');
  for (const path of [
    `/admin/users/${guest.id}`,
    `/admin/users?q=${guest.username}`,
    `/admin/roles/${role?.id}/members`,
  ]) {
    const { text } = await admin.get(path);
    const main = textOf(/<main[\s\S]*<\/main>/.exec(text)?.[0] ?? '');
    expect(main, path).toContain('Invited');
    expect(main.replace(/Any status.*?(Disabled|bounced)/s, ''), path).not.toMatch(/\bActive\b/);
  }
  expect(textOf((await admin.get(`/admin/users?state=active&q=${guest.username}`)).text)).toContain('No users match');
  await idp.services.credentials.setPassword(guest.account, 'seven green umbrellas in march');
  expect(textOf((await admin.get(`/admin/users/${guest.id}`)).text)).toContain('Active');
});

it('invites many at once, with one message, and names those who were not', async () => {
  const [one, two, known] = [await aGuest(), await aGuest(), await aGuest()];
  await idp.services.credentials.setPassword(known.account, 'seven green umbrellas in march');
  const ids = [one, two, known].map(({ id }) => ['id', id]);
  const question = await admin.get(`/admin/users/bulk?${new URLSearchParams([['action', 'invite'], ...ids])}`);
  expect(textOf(question.text)).toContain('Send an invitation to 3 users?');
  const result = await admin.submit(question, { message: 'Hello' }, { form: '/admin/users/bulk' });
  expect(textOf(result.text)).toContain('Send invitation: 2 of 3 users changed');
  expect(textOf(result.text)).toContain('This user can already sign in.');
  for (const { email } of [one, two]) expect((await box.waitForMail(email)).text).toContain('> Hello');
  expect((await listed('invited')).toSorted()).toEqual([one.username, two.username]);
  // Again: the first link ends.
  const again = await admin.get(
    `/admin/users/bulk?${new URLSearchParams([
      ['action', 'invite'],
      ['id', one.id],
    ])}`,
  );
  await admin.follow(await admin.submit(again, {}, { form: '/admin/users/bulk' }));
  expect((await box.waitForMail(one.email)).text).not.toContain('>');
});

it('invites by API with a message, and rejects one that is too long', async () => {
  const guest = await aGuest();
  expect((await post(`/users/${guest.id}/invite`, { message: 'By API' })).status).toBe(202);
  expect((await box.waitForMail(guest.email)).text).toContain('> By API');
  expect(await invitationOf(guest.id)).toMatchObject({ state: 'invited', opened_at: null });
  expect((await post(`/users/${guest.id}/invite`)).status).toBe(202);
  await box.waitForMail(guest.email);
  expect((await post(`/users/${guest.id}/invite`, { message: 'x'.repeat(1001) })).status).toBe(400);
  const made = await post('/users', {
    username: 'by-api',
    email: 'by-api@example.com',
    invite: true,
    invitation_message: 'New',
  });
  expect(made.status).toBe(201);
  expect((await box.waitForMail('by-api@example.com')).text).toContain('> New');
  const page = await admin.submit(await admin.get('/admin/users/new'), {
    username: 'by-console',
    email: 'by-console@example.com',
    begin: 'invite',
    message: 'From the console',
  });
  expect(page.status).toBe(303);
  expect((await box.waitForMail('by-console@example.com')).text).toContain('> From the console');
});

it('shows that the mail server rejected an invitation, and finds those users for another one', async () => {
  const guest = await aGuest();
  box.rejectNext(1, 550);
  await post(`/users/${guest.id}/invite`);
  await expect.poll(() => listed('bounced')).toEqual([guest.username]);
  const page = textOf((await admin.get(`/admin/users/${guest.id}`)).text);
  expect(page).toContain('Invitation bounced');
  expect(page).toContain('550');
});

it('is for those who may send a user to a new password', async () => {
  const guest = await aGuest();
  const auditor = await consoleOf(idp, await staff(idp, 'auditor'));
  expect((await auditor.get(`/admin/users/${guest.id}/invite`)).status).toBe(403);
  expect(textOf((await auditor.get('/admin/users?state=invited')).text)).toContain('Users');
});

it('the mail about a method that an administrator removed names it, and says when no way to sign in is left', async () => {
  const { db, credentials } = idp.services;
  const [guest, other] = [await aGuest(), await aGuest()];
  await credentials.setPassword(other.account, 'seven green umbrellas in march');
  for (const { id: userId } of [guest, other]) {
    const key = { id: `key-of-${userId}`, userId, publicKey: new Uint8Array(1), userVerified: true };
    await db.passkey.create({ data: { ...key, name: 'Laptop', createdAt: new Date() } });
    expect((await api.send('DELETE', `/users/${userId}/factors/passkey-key-of-${userId}`)).status).toBe(204);
  }
  const [lost, kept] = [await box.waitForMail(guest.email), await box.waitForMail(other.email)];
  for (const { text } of [lost, kept]) expect(text).toContain('Method: Passkey “Laptop”');
  const sentence = 'You have no way to sign in now. Your administrator can send you an invitation to set one up.';
  expect(lost.text.replaceAll(/\s+/g, ' ')).toContain(sentence);
  expect(kept.text).not.toContain('no way to sign in');
});

it('a filter finds users with neither an invitation nor a way to sign in', async () => {
  const [guest, invited, other] = [await aGuest(), await aGuest(), await aGuest()];
  await post(`/users/${invited.id}/invite`);
  await idp.services.credentials.setPassword(other.account, 'seven green umbrellas in march');
  const states = (await api.get('/users')).json<{ items: { id: string; invitation_state: string | null }[] }>().items;
  expect([guest, invited, other].map(({ id }) => states.find((one) => one.id === id)?.invitation_state)).toEqual([
    'needed',
    'invited',
    null,
  ]);
  expect(await listed('needed')).toContain(guest.username);
  const list = textOf((await admin.get('/admin/users?state=needed')).text);
  expect(list).toContain(guest.username);
  for (const { username } of [invited, other]) expect(list).not.toContain(username);
});
