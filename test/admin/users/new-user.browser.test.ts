// A new user in a real browser, who is put into groups while the form is filled in; and what is left of the sessions of one who is disabled.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anApplication, completeSignIn } from '../../oidc/support.ts';
import { type Browser, desktop, launchBrowser, type Page } from '../../support/browser/browser.ts';
import { looksRight } from '../../support/browser/pages.ts';
import { aUser, PASSWORD } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { signIn } from '../console/real-browser.ts';
import { staff } from '../console/support.ts';
import { aService } from '../support.ts';

let idp: TestIdp;
let browser: Browser;
let page: Page;
beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
  page = await (await browser.newContext(desktop)).newPage();
  for (const name of ['Crew of the night', 'Deck hands', 'Lab']) await idp.services.groups.create({ name });
  await page.goto(`${idp.issuer}/admin/users/new`);
  await signIn(page, await staff(idp, 'admin'));
  await page.waitForSelector('h1:has-text("Add user")');
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

const groupsOf = async (login: string) =>
  (await idp.services.accounts.findByLogin(login))?.groups.map(({ name }) => name).toSorted();

it('puts a new user into groups, which the form suggests, with an invitation and with a temporary password', async () => {
  for (const begin of ['invite', 'password']) {
    await page.goto(`${idp.issuer}/admin/users/new`);
    const username = `new-${begin}`;
    await page.fill('[name=username]', username);
    await page.fill('[name=email]', `${username}@example.com`);
    await page.selectOption('[name=begin]', begin);
    expect(await page.isVisible('[name=message]'), begin).toBe(begin === 'invite');
    await page.fill('[name=groups] >> nth=0', 'night');
    await page.click('[role=option]:has-text("Crew of the night")');
    await page.click('button:has-text("Add group")');
    await page.fill('[name=groups] >> nth=1', 'Lab');
    expect(await page.inputValue('[name=username]')).toBe(username);
    if (begin === 'invite') await looksRight(page, 'new-user-groups');
    await page.click('.savebar .btn-primary');
    await page.waitForSelector(begin === 'invite' ? 'h1:has-text("new-invite")' : 'text=Temporary password');
    expect(await groupsOf(username)).toEqual(['Crew of the night', 'Lab']);
  }
});

it('says at the field that there is no such group, and creates nobody', async () => {
  await page.goto(`${idp.issuer}/admin/users/new`);
  await page.fill('[name=username]', 'new-wrong');
  await page.selectOption('[name=begin]', 'password');
  await page.fill('[name=groups]', 'Nobody knows it');
  await page.click('.savebar .btn-primary');
  await page.waitForSelector('#f-groups:has-text("Nobody knows it"), [name=groups][aria-invalid]');
  expect(await page.textContent('.note.bad, .faults, main')).toContain('Nobody knows it');
  expect(await idp.services.accounts.findByLogin('new-wrong')).toBeUndefined();
});

it('keeps the field of the name beside a phone number that was sent with a mistake elsewhere', async () => {
  await page.goto(`${idp.issuer}/admin/users/new`);
  await page.fill('[name=username]', 'new-phone');
  await page.selectOption('[name=begin]', 'password');
  await page.fill('[name=groups]', 'Nobody knows it');
  await page.$eval('[name=phone_number]', (input) => input.closest('details')?.setAttribute('open', ''));
  await page.fill('[name=phone_number]', '+49 30 1234567');
  await page.click('.savebar .btn-primary');
  await page.waitForSelector('#error');
  expect(await page.inputValue('[name=phone_number]')).toBe('+49 30 1234567');
  expect(await page.isVisible('[name=name]')).toBe(true);
});

it('does the same by API', async () => {
  const api = await aService(idp);
  const body = { username: 'new-api', password: PASSWORD, groups: ['Deck hands'] };
  expect((await api.send('POST', '/users', body)).status).toBe(201);
  expect(await groupsOf('new-api')).toEqual(['Deck hands']);
  const wrong = await api.send('POST', '/users', { ...body, username: 'new-api-2', groups: ['None'] });
  expect(wrong.status).toBe(400);
  expect(await idp.services.accounts.findByLogin('new-api-2')).toBeUndefined();
});

it('shows on the sessions of a disabled user that they ended, and which application could not be notified', async () => {
  const user = await aUser(idp.services, { name: 'Bo Berg' });
  const app = await anApplication(idp, { client_name: 'Notes' });
  const { url } = await app.rp.start();
  await completeSignIn(httpClient(idp.issuer), url, { user });
  await page.goto(`${idp.issuer}/admin/users/${user.account.id}`);
  await page.click('main >> text="Disable"');
  await page.click('dialog[open] button:has-text("Disable"), .ask button:has-text("Disable")');
  await page.waitForSelector('text=Disabled');
  await page.goto(`${idp.issuer}/admin/users/${user.account.id}/sessions`);
  const main = await page.textContent('main');
  expect(main).toContain('Not signed in anywhere.');
  expect(main).toContain('because the account was disabled');
  expect(main).toContain('Notes couldn’t be notified');
  await looksRight(page, 'ended-sessions');
});
