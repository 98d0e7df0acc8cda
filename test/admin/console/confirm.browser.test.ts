// "Confirm it's you" in a real browser: a question over the filled-in form, which is completed in one step; without script above it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axe, type Browser, desktop, launchBrowser, phone, screenshot } from '../../support/browser/browser.ts';
import { aUser, PASSWORD } from '../../support/factories.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { signIn } from './real-browser.ts';
import { signedInLongAgo, staff } from './support.ts';

let idp: TestIdp;
let browser: Browser;
beforeAll(async () => {
  idp = await startIdp();
  await idp.services.roles.create({ name: 'editor', permissions: ['articles:write'] });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

for (const [mode, device] of [
  ['light', desktop],
  ['dark', { ...phone, colorScheme: 'dark' as const }],
  ['without script', { ...phone, javaScriptEnabled: false }],
] as const) {
  it(`a form that needs a recent proof keeps its place and is completed by a password (${mode})`, async () => {
    const ann = await staff(idp, 'admin');
    const { account } = await aUser(idp.services);
    const page = await (await browser.newContext(device)).newPage();
    await page.goto(`${idp.issuer}/admin/users/${account.id}/edit`);
    await signIn(page, ann);
    await page.waitForURL(`**/admin/users/${account.id}/edit`);
    await page.fill('[name=name]', 'Typed Name');
    await page.check('[name=roles][value=editor]');
    await signedInLongAgo(idp, ann);
    await page.click('footer button:has-text("Save changes")');
    await page.waitForURL('**/admin/confirm/*');
    expect(await page.inputValue('[name=name]')).toBe('Typed Name');
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await screenshot(page, `confirm-${mode.replace(' ', '-')}`);
    if (mode !== 'without script') {
      expect(await axe(page, mode === 'dark' ? ['dark'] : [])).toEqual([]);
      expect(await page.evaluate('document.querySelector("dialog.ask").matches(":modal")')).toBe(true);
      // Closed, it leaves the form as it was filled in, which asks again.
      await page.click('dialog.ask:not(.find) a:has-text("Cancel")');
      await page.fill('[name=name]', 'Typed again');
      await page.click('footer button:has-text("Save changes")');
      await page.waitForSelector('dialog.ask:not(.find):modal');
    }
    await page.fill('dialog.ask:not(.find) [name=password]', PASSWORD);
    await page.click('dialog.ask:not(.find) button:has-text("Confirm")');
    await page.waitForURL(`**/admin/users/${account.id}`);
    const name = mode === 'without script' ? 'Typed Name' : 'Typed again';
    expect(await idp.services.accounts.find(account.id)).toMatchObject({ name, roles: ['editor'] });
  });
}
