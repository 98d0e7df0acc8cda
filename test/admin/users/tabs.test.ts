// The tabs of a user: what each holds, who sees it, and the applications that the user can open.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aClient, aUser, type TestUser } from '../../support/factories.ts';
import type { HttpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from '../console/support.ts';

let idp: TestIdp;
let admin: HttpClient;
let user: TestUser;
const redirect_uris = ['https://tabs.example.com/cb'];
const ROLE = 'tabs-ops';
beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  user = await aUser(idp.services, { name: 'Tab Person' });
  for (const name of [ROLE, 'tabs-other']) await idp.services.roles.create({ name });
  await idp.services.roles.assign(user.account.id, ROLE);
});

afterAll(() => idp?.stop());

const at = (tab = '') => `/admin/users/${user.account.id}${tab}`;
const tabsOf = async (client: HttpClient, tab = '') => {
  const page = await client.get(at(tab));
  const [, nav = ''] = /<nav class="tabs"[^>]*>(.*?)<\/nav>/s.exec(page.text) ?? [];
  return linksOf(nav, page.url).map(({ label }) => label);
};

it('has six tabs, and the old address is the first', async () => {
  const all = ['Profile', 'Roles and groups', 'Access', 'Security', 'Sessions', 'Activity'];
  for (const tab of ['', '/roles', '/access', '/security', '/sessions', '/activity'])
    expect(await tabsOf(admin, tab), tab).toEqual(all);
});

it('leaves out the tabs that the administrator may not open, and opens none of them', async () => {
  const role = `tabs-clerk-${user.username}`;
  await idp.services.roles.create({ name: role, permissions: ['gatehouse.users:read'] });
  const clerk = await consoleOf(idp, await staff(idp, role));
  expect(await tabsOf(clerk)).toEqual(['Profile', 'Roles and groups', 'Security']);
  const security = await clerk.get(at('/security'));
  const main = /<main[\s\S]*<\/main>/.exec(security.text)?.[0] ?? '';
  expect(textOf(main)).toContain(
    'You can view this user, but not change anything on this page. You need the permission “Send password reset links”',
  );
  // No button leads to a page that the administrator may not open.
  expect(main).not.toMatch(/<button|class="btn(?![^"]* help")/);
  for (const tab of ['/access', '/sessions', '/activity'])
    expect(textOf((await clerk.get(at(tab))).text), tab).toContain('You don’t have permission to see this.');
});

it('has each action on the tab that it belongs to, and leads back there', async () => {
  const offers = async (tab: string) =>
    linksOf((await admin.get(at(tab))).text, idp.issuer).flatMap(({ href }) =>
      href.startsWith(`${idp.issuer}${at()}/`) ? href.slice(`${idp.issuer}${at()}/`.length) : [],
    );
  expect(await offers('')).toEqual(expect.arrayContaining(['disable', 'delete']));
  expect(await offers('/security')).toEqual(expect.arrayContaining(['password', 'force-change']));
  // Nobody is signed out who is signed in nowhere.
  expect(await offers('/sessions')).not.toContain('end-sessions');
  await consoleOf(idp, user);
  expect(await offers('/sessions')).toContain('end-sessions');
  expect(await offers('')).not.toContain('force-change');
  const sent = await admin.submit(await admin.get(at('/end-sessions')));
  expect(sent.location).toBe(`${idp.issuer}${at('/sessions')}`);
});

const app = (client_name: string, more: object) => aClient(idp.services, { client_name, redirect_uris, ...more });

it('lists the applications that the access rule opens to the user, and why', async () => {
  await app('Tabs open', { access: 'everyone' });
  await app('Tabs by role', { access: { roles: ['tabs-other', ROLE] } });
  await app('Tabs closed', { access: { roles: ['tabs-other'] } });
  const { applicationId } = await app('Tabs disabled', { access: 'everyone' });
  await idp.services.applications.setEnabled(applicationId, false);
  const text = textOf((await admin.get(at('/access'))).text);
  expect(text).toMatch(/Tabs by role OpenID Connect Role tabs-ops/);
  expect(text).toMatch(/Tabs open OpenID Connect Open to everyone/);
  expect(text).not.toMatch(/Tabs (closed|disabled)/);
  expect(text).not.toContain('tabs-other');
});

it('reads no more applications than it lists, and only those that the administrator may see', async () => {
  const { services } = idp;
  const account = (await services.accounts.find(user.account.id)) ?? expect.fail('no account');
  const first = await services.applications.openTo(account, { limit: 1 });
  expect(first.applications).toHaveLength(1);
  const second = await services.applications.openTo(account, { limit: 1, after: first.next });
  const names = [...first.applications, ...second.applications].map(({ name }) => name);
  expect(names).toEqual(['Tabs by role', 'Tabs open']);
  expect(await services.applications.openTo(user.account, { limit: 5, identifiers: [] })).toEqual({ applications: [] });
});

it('leads from page to page of the applications that a user can open', async () => {
  const { account } = await aUser(idp.services);
  for (let at = 10; at < 62; at += 1) await app(`Tabs paged ${at}`, { access: 'everyone' });
  const path = `/admin/users/${account.id}/access`;
  const seen: string[] = [];
  for (let url: string | undefined = path; url; ) {
    const page = await admin.get(url);
    seen.push(...[...textOf(page.text).matchAll(/Tabs paged \d+/g)].map(([name]) => name));
    url = linksOf(page.text, page.url).find(({ label }) => label === 'Next page')?.href;
  }
  expect([...new Set(seen)]).toHaveLength(52);
});

it('says why a disabled user can open nothing', async () => {
  const { account } = await aUser(idp.services, { name: 'Off Person' });
  await idp.services.accounts.setActive(account.id, false);
  expect(textOf((await admin.get(`/admin/users/${account.id}/access`)).text)).toContain(
    'The account is disabled, so Off Person can’t open any application.',
  );
});
