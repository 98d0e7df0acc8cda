// App passwords in a real browser: a user creates one, copies it and revokes it; an administrator sees those of a user.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { axe, type Browser, desktop, launchBrowser, type Page, phone, screenshot } from '../support/browser/browser.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { some } from '../support/long-run.ts';

let idp: TestIdp;
let browser: Browser;
beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
  for (const name of ['Family calendar', 'Files'])
    await idp.services.applications.createProxied({
      name,
      url: `https://${name.replace(/.* /, '').toLowerCase()}.example.com`,
      proxy: 'caddy',
      app_passwords: true,
    });
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

async function check(page: Page, picture: string, mode: string) {
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), picture).toBe(true);
  await screenshot(page, `app-passwords-${picture}-${mode}`);
  expect(await axe(page, ['light', 'dark']), picture).toEqual([]);
}

it.each(
  some(1, [
    ['desktop', { ...desktop, locale: 'en' }],
    ['phone', { ...phone, locale: 'ar' }],
  ] as const),
)(
  'a user creates, copies and revokes one (%s)',
  async (mode, device) => {
    const user = await aUser(idp.services);
    const context = await browser.newContext({ ...device, permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    await page.goto(`${idp.issuer}/account/app-passwords`);
    await signIn(page, user);
    await page.waitForURL('**/account/app-passwords');
    await check(page, 'none', mode);
    await page.click('a[href$="/app-passwords/new"]');
    await page.fill('[name=name]', 'Calendar on my phone');
    await check(page, 'new', mode);
    await page.click('button.btn-primary');
    await page.waitForSelector('#app-password');
    await check(page, 'created', mode);
    await page.click('[data-copies="#app-password"]');
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    const website = 'https://calendar.example.com';
    expect(await idp.services.appPasswords.find(copied, website)).toMatchObject({ userId: user.account.id });
    await page.click('a.btn-primary');
    await page.waitForURL('**/account/app-passwords');
    await check(page, 'list', mode);

    const administrator = await browser.newContext({ ...device, locale: 'en' });
    const console = await administrator.newPage();
    const security = `${idp.issuer}/admin/users/${user.account.id}/security`;
    await console.goto(security);
    await signIn(console, await staff(idp, 'admin'));
    await console.waitForURL(security);
    await check(console, 'of-user', mode);
    await console.click('a[href*="/app-passwords/"]');
    await console.waitForSelector('dialog[open] form[action$="/revoke"]');
    await check(console, 'revoke', mode);

    await page.click('form[action$="/revoke"] button');
    await page.waitForSelector('[role=status]');
    await check(page, 'revoked', mode);
    expect(await idp.services.appPasswords.list(user.account.id)).toEqual([]);
  },
  180_000,
);
