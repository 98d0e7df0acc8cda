// Staff with every right to write, and without the role "finance", try to get the role, give it, change it, take over a user who
// has it, and open the application that it protects: by the API, in the console, and with a CSV file.
import { beforeAll, describe, expect, it } from 'vitest';
import { addressOf, consoleOf, importEnd, triedImport } from '../admin/console/support.ts';
import { type ApiCaller, aPerson, aTool } from '../admin/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import type { HttpClient, Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { sharedIdp } from '../support/shared-idp.ts';

const anyVersion = { 'if-match': '*' };
const RIGHTS = [
  ...['users:read', 'users:write', 'users:unlock', 'users:reset-factors', 'users:reset-password'],
  ...['roles:read', 'roles:write', 'applications:read', 'applications:write', 'settings:read', 'settings:write'],
].map((name) => `gatehouse.${name}`);

let idp: TestIdp;
let clerk: ApiCaller;
let pages: HttpClient;
let holder: TestUser;
let own: string;
let ledger: string;
beforeAll(async () => {
  idp = await sharedIdp();
  const { roles, applications } = idp.services;
  await roles.create({ name: 'rights-clerk', permissions: RIGHTS });
  await roles.create({ name: 'finance' });
  clerk = await aPerson(idp, ['rights-clerk'], { tool: await aTool(idp) });
  own = clerk.user?.account.id ?? '';
  pages = await consoleOf(idp, clerk.user as TestUser);
  holder = await aUser(idp.services);
  await roles.assign(holder.account.id, 'finance');
  const declared = {
    client_id: 'ledger',
    redirect_uris: ['https://ledger.example/cb'],
    access: { roles: ['finance'] },
  };
  ledger = (await applications.createOidc(declared)).application.id;
});

const rejected = async (answer: Promise<Page>) => {
  const { status, text } = await answer;
  expect([403, 404], text.slice(0, 300)).toContain(status);
};
const rolesOf = async (id: string) => (await idp.services.accounts.find(id))?.roles;
const held = async () => idp.services.db.userRole.count({ where: { role: { name: 'finance' } } });
/** Posts these fields to any form's target, with the token of another form of the session. */
async function forged(path: string, fields: Record<string, string | string[]>): Promise<Page> {
  const form = (await pages.get('/admin/users/new')).forms.find(({ fields: { _csrf } }) => _csrf);
  const pairs = Object.entries({ _csrf: String(form?.fields._csrf), ...fields });
  const values = pairs.flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  return pages.post(path, { form: new URLSearchParams(values), headers: { origin: new URL(idp.issuer).origin } });
}

describe('a role that the actor does not have', () => {
  it('is given to nobody by the API, with an invitation or without', async () => {
    const friend = await aUser(idp.services);
    const before = await held();
    await rejected(clerk.send('PUT', `/users/${own}/roles`, { roles: ['rights-clerk', 'finance'] }, anyVersion));
    await rejected(clerk.send('PUT', `/users/${friend.account.id}/roles`, { roles: ['finance'] }, anyVersion));
    const user = { username: 'finance-friend', email: 'finance-friend@example.com', roles: ['finance'] };
    await rejected(clerk.send('POST', '/users', user));
    await rejected(clerk.send('POST', '/users', { ...user, invite: true }));
    await rejected(clerk.send('POST', '/users', { ...user, password: 'a pass phrase that I know' }));
    expect(await idp.services.accounts.findByLogin('finance-friend')).toBeUndefined();
    expect(await held()).toBe(before);
  });

  it('is given to nobody in the console, on no form and by no CSV file', async () => {
    const before = await held();
    const form = await pages.get('/admin/users/new');
    expect(form.text).not.toContain('value="finance"');
    await rejected(forged('/admin/users/new', { username: 'finance-two', begin: 'password', roles: 'finance' }));
    await rejected(forged(`/admin/users/${own}/roles/give`, { role: 'finance' }));
    const tried = await triedImport(pages, 'username,roles\nfinance-three,finance\n');
    expect(tried.text).toContain('Only someone who has or manages the role finance can do this.');
    // Without the button, which the page does not have.
    await importEnd(pages, await pages.follow(await forged(addressOf(tried), {})));
    for (const name of ['finance-two', 'finance-three'])
      expect(await idp.services.accounts.findByLogin(name)).toBeUndefined();
    expect(await held()).toBe(before);
  });

  it('is neither taken from its holder, nor changed, renamed or deleted', async () => {
    const { id } = (await idp.services.roles.find('finance')) ?? {};
    await rejected(clerk.send('PUT', `/users/${holder.account.id}/roles`, { roles: [] }, anyVersion));
    await rejected(clerk.send('PATCH', `/roles/${id}`, { description: 'Mine' }, anyVersion));
    await rejected(clerk.send('PATCH', `/roles/${id}`, { name: 'not-finance' }, anyVersion));
    await rejected(clerk.send('PATCH', `/roles/${id}`, { permissions: ['gatehouse.users:read'] }, anyVersion));
    await rejected(clerk.send('DELETE', `/roles/${id}`, undefined, anyVersion));
    expect((await pages.get(`/admin/roles/${id}`)).forms.map(({ action }) => action)).not.toContain(
      `/admin/roles/${id}`,
    );
    const version = String((await clerk.get(`/roles/${id}`)).headers.etag);
    await rejected(forged(`/admin/roles/${id}`, { name: 'not-finance', version }));
    await rejected(forged(`/admin/roles/${id}/delete`, { typed_name: 'finance' }));
    expect(await rolesOf(holder.account.id)).toEqual(['finance']);
  });

  it('is not made of a role that the actor has, by a new name', async () => {
    const { id } = (await idp.services.roles.find('rights-clerk')) ?? {};
    // An application may know this name, also from a role that was deleted.
    await rejected(clerk.send('PATCH', `/roles/${id}`, { name: 'grafana-admin' }, anyVersion));
    const version = String((await clerk.get(`/roles/${id}`)).headers.etag);
    await rejected(forged(`/admin/roles/${id}`, { name: 'grafana-admin', permissions: RIGHTS.join('\n'), version }));
    expect((await clerk.send('PATCH', `/roles/${id}`, { description: 'Mine' }, anyVersion)).status).toBe(200);
    expect(await rolesOf(own)).toEqual(['rights-clerk']);
  });

  it('protects the credentials, the address and the state of its holder', async () => {
    const at = `/users/${holder.account.id}`;
    expect((await pages.get(`/admin${at}`)).text).not.toMatch(/temporary password|Disable|\/change\//);
    const before = await idp.services.accounts.find(holder.account.id);
    await rejected(clerk.send('POST', `${at}/password`, { password: 'a pass phrase that I know' }));
    await rejected(clerk.send('POST', `${at}/password`, {}));
    for (const action of ['password-change', 'disable', 'enable'])
      await rejected(clerk.send('POST', `${at}/${action}`));
    await rejected(clerk.send('PATCH', at, { email: 'mine@example.com', email_verified: true }, anyVersion));
    await rejected(clerk.send('DELETE', at, undefined, anyVersion));
    for (const action of ['password', 'force-change', 'disable', 'delete'])
      await rejected(forged(`/admin${at}/${action}`, {}));
    await rejected(forged(`/admin${at}/change/email`, { email: 'mine@example.com' }));
    await rejected(forged(`/admin${at}/change/email`, { email: 'no address' }));
    expect(await idp.services.accounts.find(holder.account.id)).toEqual(before);
  });

  it('does not stop the help that its holder gets by email', async () => {
    const at = `/users/${holder.account.id}`;
    for (const action of ['password-reset', 'reset-factors', 'unlock']) {
      const { status, text } = await clerk.send('POST', `${at}/${action}`);
      expect(status, `${action}: ${text}`).toBeLessThan(300);
    }
    const page = await pages.get(`/admin${at}/security`);
    expect(page.text).toContain(`action="/admin${at}/send-reset"`);
  });

  it('protects the access rule that names it, so its application opens for nobody else', async () => {
    const open = (access: unknown) => clerk.send('PATCH', `/applications/${ledger}`, { access }, anyVersion);
    await rejected(open('everyone'));
    await rejected(open(null));
    await rejected(open({ roles: ['rights-clerk'] }));
    await rejected(open({ roles: ['finance', 'rights-clerk'] }));
    const form = await pages.get(`/admin/applications/${ledger}/access`);
    await rejected(pages.submit(form, { access: 'everyone' }));
    expect((await idp.services.applications.get(ledger)).access).toEqual({ roles: ['finance'] });
    const renamed = await clerk.send('PATCH', `/applications/${ledger}`, { client_name: 'The ledger' }, anyVersion);
    expect(renamed.status, renamed.text).toBe(200);
  });

  it('protects its application after it was deleted, which lets nobody in', async () => {
    const { roles, applications } = idp.services;
    await roles.create({ name: 'short-lived' });
    const access = { roles: ['short-lived'] };
    const declared = { client_id: 'orphan', redirect_uris: ['https://orphan.example/cb'], access };
    const { id } = (await applications.createOidc(declared)).application;
    await roles.remove('short-lived');
    await rejected(clerk.send('PATCH', `/applications/${id}`, { access: 'everyone' }, anyVersion));
    await rejected(clerk.send('PATCH', `/applications/${id}`, { access: { roles: ['rights-clerk'] } }, anyVersion));
    await rejected(clerk.send('DELETE', `/applications/${id}`, undefined, anyVersion));
    expect((await applications.get(id)).access).toEqual({ roles: [] });
  });

  it('is given, taken and changed with its holder by an actor who may manage it', async () => {
    await idp.services.roles.create({
      name: 'finance-desk',
      permissions: ['gatehouse.roles[role:finance]:manage', 'gatehouse.users:write', 'gatehouse.users:read'],
    });
    const desk = await aPerson(idp, ['finance-desk'], { tool: clerk.app });
    const friend = await aUser(idp.services);
    const give = (roles: string[]) => desk.send('PUT', `/users/${friend.account.id}/roles`, { roles }, anyVersion);
    expect((await give(['finance'])).status).toBe(200);
    const email = 'friend-of-finance@example.com';
    expect((await desk.send('PATCH', `/users/${friend.account.id}`, { email }, anyVersion)).status).toBe(200);
    expect((await give([])).status).toBe(200);
    await rejected(give(['rights-clerk']));
  });
});

describe('the right to change settings', () => {
  it('does not amount to being an administrator', async () => {
    const attacks = [
      { mfa: 'off' },
      { rate_limits: false },
      { sms_gateway: { url: 'https://attacker.example/sms' } },
      { sms_gateway: null },
      { mail_server: { host: 'smtp.attacker.example' } },
      { mail_sender: { address: 'sso@attacker.example' } },
      { denied_networks: [] },
      { outgoing_networks: ['10.0.0.0/8'] },
      { self_registration: true },
      { email_codes: true },
      { remember_browser_days: 30 },
      { session_hours: 720 },
      { clock_skew_seconds: 60, mfa: 'off' },
    ];
    const before = await idp.services.settings.list();
    for (const changes of attacks) await rejected(clerk.send('PATCH', '/settings', changes, anyVersion));
    expect(await idp.services.settings.list()).toEqual(before);
    const form = await pages.get('/admin/settings/edit');
    expect(form.text).toContain('name="clock_skew_seconds"');
    for (const name of ['mfa', 'rate_limits', 'sms_gateway']) expect(form.text).not.toContain(`name="${name}"`);
    await rejected(pages.submit(form, { mfa: 'off' }));
    expect(await idp.services.settings.list()).toEqual(before);
  });
});
