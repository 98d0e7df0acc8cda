// A new administrator with only the console: a group, a group in it, an owner, a role, the access of an application, a member with an end and
// a deputy, by keyboard where a form is filled in.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axe, type Browser, desktop, launchBrowser, type Page, screenshot } from '../../support/browser/browser.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { signIn } from '../console/real-browser.ts';
import { staff } from '../console/support.ts';

let idp: TestIdp;
let browser: Browser;
let page: Page;
let ann: TestUser;
let bo: TestUser;
const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

beforeAll(async () => {
  idp = await startIdp();
  ann = await aUser(idp.services, { name: 'Ann Adams' });
  bo = await aUser(idp.services, { name: 'Bo Berg' });
  browser = await launchBrowser();
  const context = await browser.newContext(desktop);
  page = await context.newPage();
  await page.goto(`${idp.issuer}/admin`);
  await signIn(page, await staff(idp, 'admin'));
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

const main = async () => (await page.textContent('main')) ?? '';
let step = 0;
async function look(name: string): Promise<void> {
  await screenshot(page, `round-${String(++step).padStart(2, '0')}-${name}`);
  expect(await axe(page, ['light']), name).toEqual([]);
}
async function choose(text: string): Promise<void> {
  await page.locator(`input[data-suggest]`).first().pressSequentially(text);
  await page.waitForSelector('[role=option]');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
}
const press = async (name: string) => {
  await page.click(`main button:not(.sr-only):has-text("${name}"), main a:has-text("${name}")`);
  await page.waitForLoadState();
};

it('an administrator makes a group, its parts, an owner, a member with an end, access and a deputy', {
  timeout: 300_000,
}, async () => {
  await page.click('nav a:has-text("Roles")');
  await press('Create role');
  await page.fill('[name=name]', 'editor');
  await page.click(':is(main, dialog.ask) form button:visible:not(.sr-only):has-text("Create role")');
  await page.click('nav a:has-text("Groups")');
  await look('groups');
  for (const name of ['Physics', 'Science']) {
    await page.click('nav a:has-text("Groups")');
    await press('Create group');
    await page.fill('[name=name]', name);
    await page.click(':is(main, dialog.ask) form button:visible:not(.sr-only):has-text("Create group")');
    await page.waitForSelector(`h1:has-text("${name}")`);
  }
  await press('Groups and roles');
  await look('parts');
  await choose('Phy');
  await press('Add group');
  expect(await main()).toContain('Physics');
  // No role is chosen before the administrator chooses one.
  expect(await page.inputValue('[name=role]')).toBe('');
  await page.selectOption('[name=role]', 'editor');
  await press('Add role');
  await look('parts-done');

  await press('Owners');
  await choose('Ann Adams');
  await page.click(':is(main, dialog.ask) form button:visible:not(.sr-only):has-text("Add owner")');
  expect(await main()).toContain('Ann Adams');
  await look('owners');
  await press('Members');
  await choose('Bo Berg');
  await page.click('summary:has-text("From · Until")');
  await page.fill('[name=until]', day(14));
  await page.click(':is(main, dialog.ask) form button:visible:not(.sr-only):has-text("Add member")');
  expect(await main()).toContain('Bo Berg');
  await look('members');
  await press('Change dates');
  await page.fill('[name=until]', day(20));
  await page.click(':is(main, dialog.ask) form button:visible:not(.sr-only):has-text("Save changes")');
  expect(await main()).toContain('The dates were changed.');
  await page.waitForSelector('h1:has-text("Science")');
  await press('Activity');
  await look('activity');

  await page.click('nav a:has-text("Applications")');
  await page.click('main a:has-text("Add application")');
  await page.click('a:has-text("Grafana")');
  await page.fill('[name=url]', 'https://grafana.example.com');
  await page.check('[name=access][value=roles]');
  await look('new-application');
  await page.check('[name="access.groups"][value=Science]');
  await page.click(':is(main, dialog.ask) form button:visible:not(.sr-only):has-text("Add application")');
  await page.waitForSelector('h1:has-text("Next: configure Grafana")');
  await look('added');
  expect(await main()).toContain('Science');
  expect(await idp.services.groups.find('grafana-admin')).toBeDefined();

  await page.click('nav a:has-text("Users")');
  await page.click('a:has-text("Bo Berg")');
  await press('Roles and groups');
  await look('user');
  expect(await main()).toMatch(/editor\s*Group Science/);
  await press('Give a role');
  await page.selectOption('[name=role]', 'auditor');
  await page.click('summary:has-text("From · Until")');
  await page.fill('[name=until]', day(14));
  // The form names the person in its heading too.
  const given = page.waitForEvent('framenavigated');
  await page.click(':is(main, dialog.ask) form button:visible:not(.sr-only):has-text("Give a role")');
  await given;
  await page.click('button:visible:has-text("Give permissions")');
  await page.waitForSelector('h1:text-is("Bo Berg")');
  await look('deputy');
  await page.click('nav.tabs a:has-text("Access")');
  await look('user-access');
  expect(await main()).toContain('Grafana');
  expect((await idp.services.accounts.find(bo.account.id))?.roles).toEqual(['auditor', 'editor']);
  expect((await idp.services.groups.ownedBy(ann.account.id, { limit: 9 })).groups).toHaveLength(2);
});
