// The order of the overview: what needs attention comes before everything else, and the last sign-ins are in sentences.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { listAdministrators } from '../../../src/people/rbac/administrators.ts';
import { anApplication, signIn } from '../../oidc/support.ts';
import { axe, type Browser, desktop, launchBrowser, phone, screenshot } from '../../support/browser/browser.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { signIn as signInToConsole } from '../console/real-browser.ts';
import { consoleOf, staff } from '../console/support.ts';

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

const headings = (html: string) => [...html.matchAll(/<h2[^>]*>(.*?)<\/h2>/g)].map(([, title]) => title);

it('a second administrator is a step until there is one', async () => {
  const { accounts } = idp.services;
  const user = await staff(idp, 'admin');
  const others = await listAdministrators(idp.services, accounts.find);
  for (const { id } of others) if (id !== user.account.id) await accounts.setActive(id, false);
  const admin = await consoleOf(idp, user);
  const isDone = async () =>
    /<li class="(\w+)">(?:(?!<li)[\s\S])*Add a second administrator/.exec((await admin.get('/admin')).text)?.[1];
  expect(await isDone()).toBe('open');
  const form = await admin.get('/admin/users/new?role=admin');
  expect((await admin.get('/admin')).text).toContain('href="/admin/users/new?role=admin"');
  expect(form.text).toMatch(/<input[^>]*name="roles"[^>]*value="admin"[^>]*checked/);
  const invited = await accounts.create({ username: 'second' });
  await idp.services.roles.assign(invited.id, 'admin');
  expect(await isDone()).toBe('open');
  const step = async () => textOf((await admin.get('/admin')).text);
  expect(await step()).toContain(
    'second has the role admin, but no way to sign in and no valid invitation. Open second',
  );
  // Who signs in at a connection needs no credential here.
  await accounts.update(invited.id, { ssoId: 'second-at-corp' });
  expect(await isDone()).toBe('done');
  await accounts.update(invited.id, { ssoId: null });
  await accounts.update(invited.id, { email: 'second@example.com', givenName: 'Vera', familyName: 'Vance' });
  await admin.submit(await admin.get(`/admin/users/${invited.id}/invite`));
  expect(await step()).toContain('Vera Vance (second) is invited and hasn’t signed in yet. Open Vera Vance (second)');
  await idp.services.credentials.setPassword(invited, 'seven green umbrellas in march');
  expect(await isDone()).toBe('done');
  // That one is deleted while the overview is made.
  const { find } = accounts;
  const spy = vi.spyOn(accounts, 'find').mockImplementation(async (id, ...rest) => {
    const found = await find(id, ...rest);
    if (id === invited.id) await idp.services.db.asStored.user.deleteMany({ where: { id } });
    return found;
  });
  expect(await isDone()).toBe('open');
  spy.mockRestore();
});

it('a secret that expires soon comes before the first steps, and nothing else does', async () => {
  const user = await staff(idp, 'admin');
  const admin = await consoleOf(idp, user);
  const quiet = headings((await admin.get('/admin')).text);
  expect(quiet.indexOf('Expires soon')).toBeGreaterThan(quiet.indexOf('First steps'));
  // What needs attention leads to where it is seen to.
  expect((await admin.get('/admin')).text).toContain('href="/admin/settings/mail"');
  expect([quiet[0], quiet.indexOf('Health') > quiet.indexOf('First steps')]).toEqual(['Needs attention', true]);
  const app = await anApplication(idp, { client_name: 'Wiki' });
  const { id } = await idp.services.db.asStored.clientSecret.findFirstOrThrow({
    where: { applicationId: app.applicationId },
  });
  await idp.services.db.clientSecret.update({ where: { id }, data: { expiresAt: new Date(Date.now() + 86_400_000) } });
  await signIn(httpClient(idp.issuer), app, user);
  const page = await admin.get('/admin');
  const found = headings(page.text);
  expect(found.indexOf('Expires soon')).toBeLessThan(found.indexOf('First steps'));
  const sentences = textOf(page.text.slice(page.text.indexOf('Last sign-ins')));
  expect(sentences).toContain('Wiki');
  for (const [name, device, scheme] of [
    ['desktop', desktop, 'light'],
    ['phone', phone, 'dark'],
  ] as const) {
    const tab = await (await browser.newContext({ ...device, colorScheme: scheme })).newPage();
    await tab.goto(`${idp.issuer}/admin`);
    await signInToConsole(tab, user);
    await tab.waitForSelector('h1:has-text("Overview")');
    await screenshot(tab, `overview-${name}`);
    expect(await axe(tab, [scheme]), name).toEqual([]);
    expect(await tab.evaluate('document.documentElement.scrollWidth <= innerWidth'), name).toBe(true);
  }
});
