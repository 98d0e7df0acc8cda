// Where script runs, a question is asked over the page that it is about, and unsaved changes are not lost without a warning.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axe, type Browser, desktop, launchBrowser, phone, screenshot } from '../../support/browser/browser.ts';
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

for (const [mode, device] of [
  ['light', desktop],
  ['dark', { ...phone, colorScheme: 'dark' as const }],
] as const) {
  it(`asks before a user is deleted, over the page of the user (${mode})`, async () => {
    const { account } = await aUser(idp.services);
    const page = await (await browser.newContext(device)).newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`${idp.issuer}/admin/users/${account.id}`);
    await signIn(page, await staff(idp, 'admin'));
    await page.waitForURL(`**/admin/users/${account.id}`);
    const link = 'a[data-asks][href$="/delete"]';
    await page.click(link);
    await page.waitForSelector('dialog.ask:not(.find):modal [name=typed_name]');
    expect(new URL(page.url()).pathname).toBe(`/admin/users/${account.id}`);
    expect(await axe(page, [mode === 'dark' ? 'dark' : 'light'])).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await screenshot(page, `dialog-delete-${mode}`);
    await page.click('dialog.ask:not(.find) footer a');
    await page.waitForSelector('dialog.ask:not(.find)', { state: 'detached' });
    await page.click(link);
    await page.fill('dialog.ask:not(.find) [name=typed_name]', account.username);
    await page.click('dialog.ask:not(.find) footer button');
    await page.waitForURL('**/admin/users');
    expect(await idp.services.accounts.find(account.id)).toBeUndefined();
  });
}

it('warns before a changed form is left, and not before it is sent or discarded', async () => {
  const { account } = await aUser(idp.services);
  const page = await (await browser.newContext(desktop)).newPage();
  page.setDefaultTimeout(60_000);
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
