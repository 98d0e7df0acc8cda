// A website in a real browser: an administrator adds it with its configuration, a person signs in to it, and the pages as pictures.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { phone } from '../support/browser/browser.ts';
import { looksRight, openPage } from '../support/browser/pages.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Website, website } from '../support/website.ts';

let idp: TestIdp;
let site: Website;
beforeAll(async () => {
  idp = await startIdp();
  site = await website('caddy', () => idp.issuer, ['Remote-User', 'X-Gatehouse-Jwt']);
});
afterAll(async () => {
  await site?.close();
  await idp?.stop();
});

it('is added with the configuration of its proxy, gets rules for paths, and opens to who is signed in', async () => {
  const admin = await staff(idp, 'admin');
  const page = await openPage();
  await page.goto(`${idp.issuer}/admin/applications/new`);
  await signIn(page, admin);
  await page.click('a:has-text("Website without a sign-in")');
  await page.waitForSelector('[name=url]');
  await page.fill('[name=name]', 'Wiki');
  await page.fill('[name=url]', 'wiki.example.com');
  await page.selectOption('[name=proxy]', 'caddy');
  await looksRight(page, 'website-new');
  await page.click('main form button.btn-primary');
  // The address needs its scheme, and what was typed stays.
  await page.waitForSelector('#f-url-error, [aria-invalid=true]');
  await page.fill('[name=url]', site.origin);
  await page.click('main form button.btn-primary');
  await page.waitForSelector('pre:has-text("/forward-auth/caddy")');
  await looksRight(page, 'website-registered');
  await page.click('a:has-text("View application")');
  await page.waitForURL(/applications\/[^/]{20,}$/);
  await looksRight(page, 'website-overview');
  for (const tab of ['settings', 'access', 'claims', 'people', 'setup']) {
    await page.goto(`${page.url().replace(/(applications\/[^/]+).*/, '$1')}/${tab}`);
    await looksRight(page, `website-${tab}`);
  }
  const [application] = (await idp.services.applications.list({ protocol: 'proxy' })).applications;
  expect(application).toMatchObject({
    name: 'Wiki',
    clientId: site.origin,
    metadata: { proxy: 'caddy', headers: 'remote' },
  });
  await page.goto(`${idp.issuer}/admin/applications?protocol=proxy`);
  await looksRight(page, 'website-list');

  const user = await aUser(idp.services);
  const person = await openPage(phone);
  await person.goto(`${site.origin}/notes`);
  await signIn(person, user);
  await person.waitForURL(`${site.origin}/notes`);
  expect(await person.textContent('body')).toContain(`"remote-user":"${user.username}"`);
});
