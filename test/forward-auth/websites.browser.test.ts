// A website in a real browser: an administrator adds it with its configuration, a person signs in to it, and the pages as pictures.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { axe, type Browser, desktop, launchBrowser, type Page, phone, screenshot } from '../support/browser/browser.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Website, website } from '../support/website.ts';

let idp: TestIdp;
let browser: Browser;
let site: Website;
beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
  site = await website('caddy', () => idp.issuer, ['Remote-User', 'X-Gatehouse-Jwt']);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
  await idp?.stop();
});

/** Nothing for axe, and no sideways scroll on the narrowest phone. */
async function look(page: Page, name: string): Promise<void> {
  const size = page.viewportSize() ?? desktop.viewport;
  await screenshot(page, name);
  expect(await axe(page), name).toEqual([]);
  await page.setViewportSize({ width: 320, height: 800 });
  expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(320);
  await page.setViewportSize(size);
}

it('is added with the configuration of its proxy, gets rules for paths, and opens to who is signed in', async () => {
  const admin = await staff(idp, 'admin');
  const page = await (await browser.newContext(desktop)).newPage();
  await page.goto(`${idp.issuer}/admin/applications/new`);
  await signIn(page, admin);
  await page.click('a:has-text("Website without a sign-in")');
  await page.waitForSelector('[name=url]');
  await page.fill('[name=name]', 'Wiki');
  await page.fill('[name=url]', 'wiki.example.com');
  await page.selectOption('[name=proxy]', 'caddy');
  await look(page, 'website-new');
  await page.click('main form button.btn-primary');
  // The address needs its scheme, and what was typed stays.
  await page.waitForSelector('#f-url-error, [aria-invalid=true]');
  await page.fill('[name=url]', site.origin);
  await page.click('main form button.btn-primary');
  await page.waitForSelector('pre:has-text("/forward-auth/caddy")');
  await look(page, 'website-registered');
  await page.click('a:has-text("View application")');
  await page.waitForURL(/applications\/[^/]{20,}$/);
  await look(page, 'website-overview');
  for (const tab of ['settings', 'access', 'claims', 'people', 'setup']) {
    await page.goto(`${page.url().replace(/(applications\/[^/]+).*/, '$1')}/${tab}`);
    await look(page, `website-${tab}`);
  }
  const [application] = (await idp.services.applications.list({ protocol: 'proxy' })).applications;
  expect(application).toMatchObject({
    name: 'Wiki',
    clientId: site.origin,
    metadata: { proxy: 'caddy', headers: 'remote' },
  });
  await page.goto(`${idp.issuer}/admin/applications?protocol=proxy`);
  await look(page, 'website-list');

  const user = await aUser(idp.services);
  const person = await (await browser.newContext(phone)).newPage();
  await person.goto(`${site.origin}/notes`);
  await signIn(person, user);
  await person.waitForURL(`${site.origin}/notes`);
  expect(await person.textContent('body')).toContain(`"remote-user":"${user.username}"`);
});
