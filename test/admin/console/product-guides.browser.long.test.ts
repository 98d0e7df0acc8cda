// The guide of a product and the access check with its demands, in a real browser.
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  axe,
  type Browser,
  desktop,
  launchBrowser,
  type Page,
  phone,
  screenshot,
} from '../../support/browser/browser.ts';
import { aUser } from '../../support/factories.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { signIn } from './real-browser.ts';
import { consoleOf, staff } from './support.ts';

let idp: TestIdp;
let browser: Browser;
beforeAll(async () => {
  [idp, browser] = await Promise.all([startIdp(), launchBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

/** Checks the page with axe and for its width, and takes a screenshot. */
async function inspect(page: Page, name: string): Promise<void> {
  expect(await axe(page), name).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), name).toBe(true);
  await screenshot(page, `product-${name}`);
}

it('the guide of a product and its demands are read on a desktop and on a phone in the dark', async () => {
  const admin = await staff(idp, 'admin');
  const client = await consoleOf(idp, admin);
  const form = await client.get('/admin/applications/new/oauth2-proxy');
  expect((await client.submit(form, { url: 'https://app.example.com' })).status).toBe(303);
  const { id, clientId } = await idp.services.db.asStored.application.findFirstOrThrow({
    orderBy: { createdAt: 'desc' },
  });
  const { username } = await aUser(idp.services, { name: 'Ann', email: 'ann@example.com', emailVerified: false });
  const check = `${idp.issuer}/admin/access-check?${new URLSearchParams({ user: username, app: clientId })}`;

  const page = await (await browser.newContext(desktop)).newPage();
  await page.goto(`${idp.issuer}/admin/applications/${id}/setup`);
  await signIn(page, admin);
  await inspect(page, 'guide');
  await page.goto(`${idp.issuer}/admin/applications/${id}`);
  await inspect(page, 'overview');
  await page.goto(check);
  await inspect(page, 'check');

  const small = await (await browser.newContext({ ...phone, colorScheme: 'dark' })).newPage();
  await small.goto(`${idp.issuer}/admin/applications/${id}/setup`);
  await signIn(small, admin);
  await inspect(small, 'guide-phone-dark');
  await small.goto(check);
  await inspect(small, 'check-phone-dark');
});
