// What only a browser can say about the layout of the console: labels, widths, and what is in sight.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Browser, desktop, launchBrowser, type Page, phone } from '../../../support/browser/browser.ts';
import { aClient, aUser, type TestUser } from '../../../support/factories.ts';
import { startIdp, type TestIdp } from '../../../support/idp.ts';
import { isLongRun } from '../../../support/long-run.ts';
import { signIn } from '../real-browser.ts';
import { staff } from '../support.ts';

let idp: TestIdp;
let browser: Browser;
let admin: TestUser;
let page: Page;
beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
  admin = await staff(idp, 'admin');
  // For the number in the sidebar, which is from memory later.
  await fetch(`${idp.issuer}/authorize?client_id=unknown`);
  page = await (await browser.newContext(desktop)).newPage();
  await page.goto(`${idp.issuer}/admin/applications`);
  await signIn(page, admin);
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

const web = { redirect_uris: ['https://wiki.example.com/cb'] };

/** The box of an element on the page. */
const boxOf = async (selector: string, on = page) => {
  const box = await on.locator(selector).first().boundingBox();
  if (!box) throw new Error(`${selector} is not displayed`);
  return box;
};

/** A page of the same session in German, whose words are longer. */
async function inGerman(): Promise<Page> {
  const storageState = await page.context().storageState();
  const own = await (await browser.newContext({ ...desktop, storageState })).newPage();
  await own.goto(`${idp.issuer}/admin`);
  await own.click('.me summary');
  await own.click('.me .languages [lang=de]');
  await own.waitForSelector('h1:has-text("Übersicht")');
  return own;
}

it('a row with several fields has the label above each of them on a phone, and the heads of columns on a desktop', async () => {
  const { applicationId } = await aClient(idp.services, { ...web, claims: { groups: 'roles', login: 'username' } });
  await page.goto(`${idp.issuer}/admin/applications/${applicationId}/claims`);
  const labels = () => page.locator('.entry > .hint:visible').allInnerTexts();
  expect({ labels: await labels(), hasHeads: await page.isVisible('.heads') }).toEqual({ labels: [], hasHeads: true });
  await page.setViewportSize(phone.viewport);
  const each = ['Claim', 'Value', 'Scope (optional)'];
  expect({ labels: await labels(), hasHeads: await page.isVisible('.heads') }).toEqual({
    labels: [...each, ...each],
    hasHeads: false,
  });
  const label = await boxOf('.entry > .hint');
  const input = await boxOf('.entry > .input');
  expect(label.y + label.height).toBeLessThanOrEqual(input.y);
  // The label focuses its field, whose name has the number of the row too.
  await page.click('.entry > .hint:has-text("Value")');
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Value 1');
  await page.setViewportSize(desktop.viewport);
});

it('a long line of a preview is displayed whole', async () => {
  const { applicationId } = await aClient(idp.services, {
    ...web,
    scope: `openid ${'a-long-scope '.repeat(20).trim()}`,
  });
  await page.goto(`${idp.issuer}/admin/applications/${applicationId}/claims`);
  const hidden = await page.$$eval('.code pre', (texts) => texts.map((text) => text.scrollWidth - text.clientWidth));
  expect(hidden.length).toBeGreaterThan(1);
  expect(Math.max(...hidden)).toBe(0);
});

it('the matrix of roles keeps its first column in sight, and has a shadow where there is more', async () => {
  for (let number = 1; number < 12; number += 1) await idp.services.roles.create({ name: `a-long-role-${number}` });
  await page.goto(`${idp.issuer}/admin/roles/permissions`);
  const before = await boxOf('.scroll tbody .first');
  const moved = await page.$eval('.scroll', (box) => {
    box.scrollLeft = 10_000;
    return box.scrollLeft;
  });
  expect(moved).toBeGreaterThan(100);
  expect((await boxOf('.scroll tbody .first')).x).toBe(before.x);
  expect(await page.$eval('.scroll', (box) => getComputedStyle(box).backgroundAttachment)).toContain('local');
});

it('everything in the sidebar is in sight at 1280 × 800, and the languages open above their button', async () => {
  await page.goto(`${idp.issuer}/admin`);
  expect(await page.textContent('#side .tag')).toContain('1');
  await page.click('.me summary');
  const list = await boxOf('.me .languages ul');
  expect(list.y).toBeGreaterThan(0);
  expect(list.y + list.height).toBeLessThanOrEqual((await boxOf('.me summary')).y);
  const own = await inGerman();
  for (const each of [page, own]) {
    expect(await each.$eval('#side', (side) => side.scrollHeight - side.clientHeight)).toBe(0);
    // Each entry has one line.
    const heights = await each.$$eval('.nav a', (all) => all.map((one) => one.getBoundingClientRect().height));
    expect(new Set(heights).size).toBe(1);
  }
  await own.context().close();
});

it('on a phone, the link that signs out is as large as a finger', async () => {
  await page.setViewportSize(phone.viewport);
  await page.goto(`${idp.issuer}/account`);
  const { width, height } = await boxOf('.topbar [href="/logout"]');
  expect(Math.min(width, height)).toBeGreaterThanOrEqual(44);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  await page.setViewportSize(desktop.viewport);
});

it('an application is deleted after its name was typed; another name has a sentence at the field', async () => {
  const { applicationId } = await aClient(idp.services, { ...web, client_name: 'Old  wiki' });
  const at = `${idp.issuer}/admin/applications/${applicationId}/delete`;
  await page.goto(at);
  await page.fill('[name=typed_name]', 'wiki');
  await page.click('button:has-text("Delete Old wiki")');
  await page.waitForSelector('[name=typed_name][aria-invalid=true]');
  expect(await page.title()).toContain('Error:');
  const described = await page.getAttribute('[name=typed_name][aria-invalid=true]', 'aria-describedby');
  expect(await page.textContent(`[id="${described}"]`)).toContain(
    'That isn’t the name. Enter “Old  wiki” to delete it.',
  );
  expect(await page.inputValue('[name=typed_name]')).toBe('wiki');
  await page.fill('[name=typed_name]', 'Old wiki');
  await page.click('button:has-text("Delete Old wiki")');
  await page.waitForSelector('text=Application deleted.');
  expect(new URL(page.url()).pathname).toBe('/admin/applications');
});

it.each(['A name of many words '.repeat(4).trim(), 'x'.repeat(80)])(
  'the page that deletes %s is not wider than a phone, nor is its button',
  async (client_name) => {
    const { applicationId } = await aClient(idp.services, { ...web, client_name });
    await page.setViewportSize({ width: 320, height: 800 });
    await page.goto(`${idp.issuer}/admin/applications/${applicationId}/delete`);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    expect((await boxOf('footer .btn-error')).x).toBeGreaterThan(0);
    await page.setViewportSize(desktop.viewport);
  },
);

it('times within sentences are in the zone of the viewer, with their date; without script they are in UTC', async () => {
  const { clientId } = await aClient(idp.services, web);
  const { account, username } = await aUser(idp.services);
  const changedAt = new Date('2026-03-04T22:30:00Z');
  await idp.services.db.passwordCredential.update({ where: { userId: account.id }, data: { changedAt } });
  const storageState = await page.context().storageState();
  const textIn = async (javaScriptEnabled: boolean) => {
    const context = await browser.newContext({ ...desktop, storageState, javaScriptEnabled, timezoneId: 'Asia/Tokyo' });
    const own = await context.newPage();
    await own.goto(`${idp.issuer}/admin/access-check?${new URLSearchParams({ user: username, app: clientId })}`);
    const text = await own.locator('.rules p:has(time)').textContent();
    await context.close();
    return text;
  };
  expect(await textIn(true)).toBe('Last changed on March 5, 2026 at 7:30 AM.');
  expect(await textIn(false)).toBe('Last changed on March 4, 2026 at 10:30 PM UTC.');
});

it('the tabs are one row on a narrow phone and in a narrow window, with the current one in sight and the skip link first', async () => {
  const { applicationId } = await aClient(idp.services, web);
  const { account } = await aUser(idp.services);
  const tabs = {
    [`/admin/applications/${applicationId}`]: ['', 'setup', 'settings', 'access', 'claims', 'credentials', 'activity'],
    [`/admin/users/${account.id}`]: ['', 'access', 'security', 'sessions', 'activity'],
  };
  const own = await inGerman();
  // In English, whose words are shorter, the last tab stands for all.
  for (const [each, language] of [
    [page, 'en'],
    [own, 'de'],
  ] as const) {
    for (const [at, all] of Object.entries(tabs)) {
      const names = language === 'de' || isLongRun ? all : all.slice(-1);
      for (const [width, name] of [...names.map((one) => [320, one] as const), [800, 'activity'] as const]) {
        const of = `${name} in ${language} at ${width}`;
        await each.setViewportSize({ width, height: 800 });
        await each.goto(`${idp.issuer}${at}${name && `/${name}`}`);
        const current = await boxOf('.tabs [aria-current]', each);
        expect(current.x, of).toBeGreaterThanOrEqual(0);
        expect(current.x + current.width, of).toBeLessThanOrEqual(width);
        expect(await each.evaluate('document.documentElement.scrollWidth'), of).toBe(width);
        await each.keyboard.press('Tab');
        expect(await each.evaluate('document.activeElement.getAttribute("href")'), of).toBe('#main');
        const rows = await each.$$eval(
          '.tabs a',
          (all) => new Set(all.map((one) => one.getBoundingClientRect().y)).size,
        );
        expect(rows, of).toBe(1);
      }
    }
  }
  await own.context().close();
  const storageState = await page.context().storageState();
  const context = await browser.newContext({ ...desktop, storageState, javaScriptEnabled: false });
  const plain = await context.newPage();
  await plain.setViewportSize({ width: 320, height: 800 });
  await plain.goto(`${idp.issuer}/admin/applications/${applicationId}/activity`);
  const current = await boxOf('.tabs [aria-current]', plain);
  expect(current.x + current.width).toBeLessThanOrEqual(320);
  await plain.keyboard.press('Tab');
  expect(await plain.evaluate('document.activeElement.getAttribute("href")')).toBe('#main');
  await context.close();
  await page.setViewportSize(desktop.viewport);
});
