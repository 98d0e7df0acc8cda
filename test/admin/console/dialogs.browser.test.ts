// Where script runs, a question is asked over the page that it is about, and unsaved changes are not lost without a warning.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Browser, desktop, launchBrowser, phone, screenshot } from '../../support/browser/browser.ts';
import { looksRight } from '../../support/browser/pages.ts';
import { aUser } from '../../support/factories.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { signIn } from './real-browser.ts';
import { staff } from './support.ts';

let idp: TestIdp;
let browser: Browser;
beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

it('asks before a user is deleted, over the page of the user', async () => {
  const { account } = await aUser(idp.services);
  const page = await (await browser.newContext(desktop)).newPage();
  await page.goto(`${idp.issuer}/admin/users/${account.id}`);
  await signIn(page, await staff(idp, 'admin'));
  await page.waitForURL(`**/admin/users/${account.id}`);
  const link = 'a[data-asks][href$="/delete"]';
  await page.click(link);
  await page.waitForSelector('dialog.ask:not(.find):modal [name=typed_name]');
  expect(new URL(page.url()).pathname).toBe(`/admin/users/${account.id}`);
  await looksRight(page, 'dialog-delete');
  await page.click('dialog.ask:not(.find) footer a');
  await page.waitForSelector('dialog.ask:not(.find)', { state: 'detached' });
  await page.setViewportSize(phone.viewport);
  await page.click(link);
  await page.fill('dialog.ask:not(.find) [name=typed_name]', account.username);
  await page.click('dialog.ask:not(.find) footer button');
  await page.waitForURL('**/admin/users');
  expect(await idp.services.accounts.find(account.id)).toBeUndefined();
});

it('asks before a member is removed and a session ends, with the device of the session', async () => {
  const { account } = await aUser(idp.services, { name: null, givenName: 'Finn', familyName: 'Test' });
  const { id } = await idp.services.groups.create({ name: 'Asked Lab' });
  await idp.services.groups.addMembers(id, [{ userId: account.id }]);
  const page = await (await browser.newContext(desktop)).newPage();
  await page.goto(`${idp.issuer}/admin/groups/${id}`);
  const admin = await staff(idp, 'admin');
  await signIn(page, admin);
  await page.waitForURL(`**/admin/groups/${id}`);
  const members = async () => idp.services.db.groupMember.count({ where: { groupId: id } });
  await page.click('a[data-asks][href$="/remove"]');
  await page.waitForSelector('dialog.ask:not(.find):modal h1:has-text("Remove Finn Test")');
  await screenshot(page, 'dialog-remove-member');
  expect(await members()).toBe(1);
  await page.click('dialog.ask:not(.find) footer a');
  await page.waitForSelector('dialog.ask:not(.find)', { state: 'detached' });
  // A double click asks once.
  const questions: string[] = [];
  page.on('request', (request) => questions.push(request.url()));
  await page.$eval('a[data-asks][href$="/remove"]', (link) => {
    for (let click = 0; click < 2; click += 1) (link as HTMLAnchorElement).click();
  });
  await page.waitForSelector('dialog.ask:not(.find):modal');
  expect(questions.filter((url) => url.endsWith('/remove'))).toHaveLength(1);
  expect(await page.locator('dialog.ask:not(.find)').count()).toBe(1);
  await page.click('dialog.ask:not(.find) footer button');
  await page.waitForSelector('text=/Finn Test.* was removed/');
  expect(await members()).toBe(0);
  await page.goto(`${idp.issuer}/admin/users/${admin.account.id}/sessions`);
  await page.click('a[data-asks][href$="/end"]');
  await page.waitForSelector('dialog.ask:not(.find):modal h1:has-text("End the session of")');
  expect(await page.textContent('dialog.ask:not(.find)')).toMatch(
    /Device[\s\S]*127\.0\.0\.1[\s\S]*Signed in[\s\S]*Last used/,
  );
  await screenshot(page, 'dialog-end-session');
  // A form with suggestions is a page of its own.
  await page.goto(`${idp.issuer}/admin/users/${account.id}/roles`);
  await page.click('a[data-asks][href$="/roles/give"]');
  await page.waitForSelector('dialog.ask:not(.find):modal select[name=role]');
  await page.click('dialog.ask:not(.find) footer a');
  await page.click('a[data-asks][href$="/groups/join"]');
  await page.waitForURL('**/groups/join');
});

it('asks over the filled-in form before a person becomes an administrator', async () => {
  const { account, username } = await aUser(idp.services, { name: 'Nora New' });
  const { id } = await idp.services.groups.create({ name: 'Asked Rights' });
  await idp.services.groups.addRole(id, 'admin');
  const page = await (await browser.newContext(desktop)).newPage();
  await page.goto(`${idp.issuer}/admin/groups/${id}`);
  await signIn(page, await staff(idp, 'admin'));
  await page.waitForURL(`**/admin/groups/${id}`);
  await page.fill('main [name=user]', username);
  await page.keyboard.press('Escape');
  await page.click('main form button:has-text("Add member")');
  await page.waitForSelector('dialog.ask:not(.find):modal h1:has-text("Give Nora New")');
  await looksRight(page, 'dialog-administrators');
  await page.click('dialog.ask:not(.find) footer a');
  expect(await page.isVisible('dialog.ask:not(.find)')).toBe(false);
  expect(await page.inputValue('main [name=user]')).toBe(username);
  await page.setViewportSize(phone.viewport);
  await page.click('main form button:has-text("Add member")');
  await page.click('dialog.ask:not(.find):modal footer button');
  await page.waitForSelector('text=/Nora New.* is a member now/');
  expect((await idp.services.accounts.find(account.id))?.roles).toEqual(['admin']);
});

it('warns before a changed form is left, and not before it is sent or discarded', async () => {
  const { account } = await aUser(idp.services);
  const page = await (await browser.newContext(desktop)).newPage();
  const edit = `${idp.issuer}/admin/users/${account.id}/change/name`;
  await page.goto(edit);
  await signIn(page, await staff(idp, 'admin'));
  await page.waitForURL(edit);
  const warnings: string[] = [];
  let answer: 'accept' | 'dismiss' = 'dismiss';
  page.on('dialog', (dialog) => {
    warnings.push(dialog.type());
    return dialog[answer]();
  });
  await page.click('main nav.back a');
  await page.waitForURL('**/admin/users');
  expect(warnings).toEqual([]);
  await page.goto(edit);
  await page.fill('[name=name]', 'Typed Name');
  await page.click('main nav.back a', { noWaitAfter: true });
  await expect.poll(() => warnings).toEqual(['beforeunload']);
  expect(await page.inputValue('[name=name]')).toBe('Typed Name');
  await page.click('details[open] footer button');
  await page.waitForURL(`**/admin/users/${account.id}`);
  expect((await idp.services.accounts.find(account.id))?.name).toBe('Typed Name');
  await page.goto(edit);
  await page.fill('[name=name]', 'Discarded');
  await page.click('details[open] footer a');
  await page.waitForURL(`**/admin/users/${account.id}`);
  await page.goto(edit);
  await page.fill('[name=name]', 'Left');
  answer = 'accept';
  await page.click('main nav.back a');
  await page.waitForURL('**/admin/users');
  expect(warnings).toEqual(['beforeunload', 'beforeunload']);
});
