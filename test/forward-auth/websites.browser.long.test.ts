// A website in a real browser: an administrator adds it with its configuration, a person signs in to it, and the pages as pictures.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { type Page, phone } from '../support/browser/browser.ts';
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
  await page.fill('[name=url]', 'wiki.example.com/page');
  await page.selectOption('[name=proxy]', 'caddy');
  await looksRight(page, 'website-new');
  await page.click('main form button.btn-primary');
  // The address of a page is not that of the website; what was typed stays.
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
  await page.goto(`${page.url().replace(/(applications\/[^/]+).*/, '$1')}/setup`);
  await page.click('a:has-text("Test")');
  await page.waitForURL(/\/test$/);
  await looksRight(page, 'website-test');
  await page.click('a:has-text("Test from this browser")');
  await page.waitForURL(/report=/);
  await looksRight(page, 'website-test-browser');
  await page.click('main form button:has-text("Test")');
  await page.waitForSelector('text=From Gatehouse');
  await looksRight(page, 'website-test-result');
  const [application] = (await idp.services.applications.list({ protocol: 'proxy' })).applications;
  expect(application).toMatchObject({
    name: 'Wiki',
    clientId: site.origin,
    metadata: { proxy: 'caddy', headers: 'remote' },
  });
  await page.goto(`${idp.issuer}/admin/applications/${application?.id}/access`);
  await addPathRules(page);
  await pasteAddress(page, `${site.origin}/admin/users?all=1`, admin.username);
  await page.goto(`${idp.issuer}/admin/applications?protocol=proxy`);
  await looksRight(page, 'website-list');

  const user = await aUser(idp.services);
  const person = await openPage(phone);
  await person.goto(`${site.origin}/notes`);
  await signIn(person, user);
  await person.waitForURL(`${site.origin}/notes`);
  expect(await person.textContent('body')).toContain(`"remote-user":"${user.username}"`);
});

/** Adds two rules, corrects what is wrong with one, and reads both again. */
async function addPathRules(page: Page): Promise<void> {
  await idp.services.roles.create({ name: 'wiki-admin' });
  await idp.services.groups.create({ name: 'Lab' });
  const save = () => page.click('main form:has([name="paths.path"]) button.btn-primary');
  await page.reload();
  await page.fill('[name="paths.path"]', '/admin/');
  await page.fill('[name="paths.rule.roles"]', 'wiki-admn');
  await page.fill('[name="paths.rule.groups"]', 'Lab');
  await save();
  await page.waitForSelector('[name="paths.rule.roles"][aria-invalid=true]');
  await looksRight(page, 'website-paths-fault');
  await page.fill('[name="paths.rule.roles"]', 'wiki-admin');
  await page.click('button:has-text("Add path")');
  await page.locator('[name="paths.path"]').nth(1).fill('/public/');
  await page.locator('[name="paths.rule"]').nth(1).selectOption('public');
  await page.locator('[name="paths.methods"]').nth(1).fill('get head');
  await save();
  await page.waitForSelector('[role=status]');
  await looksRight(page, 'website-paths');
  const found = await idp.services.applications.find(site.origin);
  expect(found?.metadata).toMatchObject({
    paths: [
      { path: '/admin/', rule: { roles: ['wiki-admin'], groups: ['Lab'] } },
      { path: '/public/', methods: ['GET', 'HEAD'], rule: 'public' },
    ],
  });
  await page.locator('[name="paths.path"]').nth(1).fill('public');
  await save();
  expect(await page.locator('[name="paths.path"]').nth(1).getAttribute('aria-invalid')).toBe('true');
  await page.reload();
}

/** Into the access check, which says which path rule decides. */
async function pasteAddress(page: Page, address: string, username: string): Promise<void> {
  await page.goto(`${idp.issuer}/admin/access-check`);
  await page.fill('[name=user]', username);
  await page.fill('[name=app]', address);
  await page.click('main form button.btn-primary');
  await page.waitForSelector(`text=open ${address.split('?')[0]}`);
  await looksRight(page, 'website-access-check');
  await page.selectOption('[name=method]', 'POST');
  await page.click('main form[role=search] button');
  await page.waitForURL(/method=POST/);
  await page.waitForSelector('text=to POST /admin/users');
}
