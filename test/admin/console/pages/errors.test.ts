// An error of a page of the console keeps the frame of the console, says what happened and leads on. Programs get JSON as before.
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { aClient, aUser } from '../../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../../support/http.ts';
import type { TestIdp } from '../../../support/idp.ts';
import { linksOf, textOf } from '../../../support/pages/html.ts';
import { sharedIdp } from '../../../support/shared-idp.ts';
import { consoleOf, staff } from '../support.ts';

let idp: TestIdp;
let admin: HttpClient;
beforeAll(async () => {
  idp = await sharedIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterEach(() => void vi.restoreAllMocks());

/** Whether the page has the sidebar, what it is called, and the links of its content. */
function errorPage({ text, url, status }: Page) {
  const main = /<main[\s\S]*<\/main>/.exec(text)?.[0] ?? '';
  const links = linksOf(main, url).map(({ label, href }) => `${label}: ${href.replace(idp.issuer, '')}`);
  return {
    status,
    isFramed: text.includes('class="nav"'),
    title: textOf(/<h1>[\s\S]*?<\/h1>/.exec(main)?.[0] ?? ''),
    links,
    words: textOf(main),
  };
}
const JSON_ONLY = { headers: { accept: 'application/json' } };

it.each([
  '/admin/users?q=nobody-at-all',
  '/admin/users?role=no-such-role',
  '/admin/applications?q=no-such-application',
  '/admin/applications?protocol=saml&q=no-such-application',
  '/admin/sessions?user=nobody-at-all',
  '/admin/audit?request=no-such-request',
  '/admin/rejections?request=no-such-request',
  '/admin/rejections?user=nobody-at-all',
  '/admin/roles?q=no-such-role',
  '/admin/roles/permissions?q=no-such-permission',
  '/admin/api-keys?user=nobody-at-all',
  '/admin/mail?state=failed',
])('a list that is empty after a filter offers to remove it (%s)', async (address) => {
  const [list] = address.split('?');
  const page = await admin.get(address);
  const [empty = ''] = /<p class="empty">[\s\S]*?<\/p>/.exec(page.text) ?? [];
  expect([page.status, linksOf(empty, page.url)]).toEqual([
    200,
    [{ label: 'Clear filters', href: `${idp.issuer}${list}` }],
  ]);
});

it('a list that is empty without a filter does not', async () => {
  const none = await admin.get('/admin/api-keys');
  expect(none.text).not.toContain('Clear filters');
});

describe('an error page of the console', () => {
  it.each([
    ['/admin/users/nothing', 'Go to Users: /admin/users'],
    ['/admin/roles/nothing/members', 'Go to Roles: /admin/roles'],
    ['/admin/nothing', 'Go to Overview: /admin'],
    ['/admin/users/nothing/nothing/nothing', 'Go to Users: /admin/users'],
  ])('has the frame where nothing is at the address (%s)', async (path, link) => {
    const page = await admin.get(path);
    expect(errorPage(page)).toMatchObject({ status: 404, isFramed: true, links: expect.arrayContaining([link]) });
    expect(page.text).toContain(page.headers['x-request-id']);
  });

  it.each([
    '/admin/users?after=nonsense',
    '/admin/users?state=nothing',
    '/admin/users?state=locked&state=active',
    '/admin/users?q=%ff',
    '/admin/applications?after=nonsense',
    '/admin/applications?protocol=nothing',
    '/admin/applications?state=nothing',
    '/admin/applications?sort=nothing',
    '/admin/sessions?after=nonsense',
    '/admin/sessions?sort=nothing',
    '/admin/audit?before=x',
    '/admin/audit?from=yesterday',
    '/admin/rejections?after=nonsense',
    '/admin/api-keys?state=nothing',
    '/admin/api-keys?after=nonsense',
    '/admin/mail?state=nothing',
    '/admin/mail?after=nonsense',
    '/admin/roles?sort=nothing',
    '/admin/connections?sort=nothing',
    '/admin/apis?sort=nothing',
  ])('offers to remove wrong filters (%s)', async (address) => {
    const [list] = address.split('?');
    const found = errorPage(await admin.get(address));
    expect(found).toMatchObject({ status: 400, isFramed: true, title: 'Some filters are incorrect.' });
    expect(found.links).toContain(`Clear filters: ${list}`);
    expect((await admin.get(address, JSON_ONLY)).json()).toMatchObject({ status: 400, code: expect.any(String) });
  });

  it('offers the same on the activity of a user and of an application, and leads back from other pages', async () => {
    const { account } = await aUser(idp.services);
    const { applicationId } = await aClient(idp.services, { redirect_uris: ['https://w.example.com/cb'] });
    for (const tab of [`/admin/users/${account.id}/activity`, `/admin/applications/${applicationId}/activity`])
      expect(errorPage(await admin.get(`${tab}?before=x`)).links).toContain(`Clear filters: ${tab}`);
    const check = errorPage(await admin.get('/admin/access-check?user=a&user=b'));
    expect(check).toMatchObject({ status: 400, isFramed: true, links: ['Go to Access check: /admin/access-check'] });
    const file = errorPage(await admin.get('/admin/audit/export?format=nothing'));
    expect(file).toMatchObject({ status: 400, isFramed: true, links: ['Go to Activity log: /admin/audit'] });
  });

  it('names the permission that is missing, and offers another account', async () => {
    const support = await consoleOf(idp, await staff(idp, 'support'));
    const page = errorPage(await support.get('/admin/settings'));
    expect(page).toMatchObject({ status: 403, isFramed: true });
    expect(page.words).toContain('You need the permission “View settings”. Ask an administrator.');
    // The code is for those who write the configuration file.
    expect(page.words).toMatch(/Details.*Missing permission gatehouse\.settings:read/);
    expect(page.links).toEqual([
      'Go to Overview: /admin',
      'Use another account: /login?prompt=select_account&return_to=%2Fadmin%2Fsettings',
    ]);
    const other = await support.follow(await support.get('/login?prompt=select_account&return_to=%2Fadmin%2Fsettings'));
    expect(textOf(other.text)).toContain('Use another account');
    // Without a role in Gatehouse there is no console, but there may be another account.
    const person = await consoleOf(idp, await staff(idp));
    const rejected = errorPage(await person.get('/admin/users'));
    expect(rejected).toMatchObject({ status: 403, isFramed: false });
    expect(rejected.links).toContain('Use another account: /login?prompt=select_account&return_to=%2Fadmin%2Fusers');
  });

  it('leads back to the form whose token is wrong', async () => {
    const headers = { origin: new URL(idp.issuer).origin, referer: `${idp.issuer}/admin/roles/new` };
    const sent = await admin.post('/admin/roles/new', { form: { _csrf: 'wrong' }, headers });
    expect(errorPage(sent)).toMatchObject({
      status: 403,
      isFramed: true,
      links: ['Back to the form: /admin/roles/new'],
    });
  });

  it('leads back to the page after a lost update', async () => {
    const { applicationId } = await aClient(idp.services, { redirect_uris: ['https://w.example.com/cb'] });
    const at = `/admin/applications/${applicationId}/settings`;
    const { _csrf = '' } = (await admin.get(at)).forms.find(({ fields }) => '_csrf' in fields)?.fields ?? {};
    const { preconditionFailed } = await import('../../../../src/base/http/errors.ts');
    vi.spyOn(idp.services.applications, 'setEnabled').mockRejectedValue(preconditionFailed('precondition_failed'));
    const headers = { origin: new URL(idp.issuer).origin, referer: `${idp.issuer}${at}` };
    const sent = await admin.post(`/admin/applications/${applicationId}/enable`, { form: { _csrf }, headers });
    const found = errorPage(sent);
    expect(found).toMatchObject({ status: 412, isFramed: true, links: [`Reload the page: ${at}`] });
    expect(found.title).toBe('Someone else changed this while you were editing.');
  });

  it('says where the log has more about an unexpected error, and is the plain page where the frame fails too', async () => {
    const broken = vi.spyOn(idp.services.audit, 'list').mockRejectedValue(new Error('secret'));
    const page = await admin.get('/admin/audit');
    expect(errorPage(page)).toMatchObject({
      status: 500,
      isFramed: true,
      title: 'Something went wrong.',
      links: ['Try again: /admin/audit'],
    });
    expect(page.text).toContain(page.headers['x-request-id']);
    expect(page.text).not.toContain('secret');
    vi.spyOn(idp.services.accounts, 'find').mockRejectedValue(new Error('secret'));
    expect(errorPage(await admin.get('/admin/audit'))).toMatchObject({ status: 500, isFramed: false });
    expect(broken).toHaveBeenCalled();
  });

  it('is in the language of the session, and marks the page in the navigation', async () => {
    const user = await staff(idp, 'admin');
    await idp.services.accounts.update(user.account.id, { locale: 'de' }, {});
    const german = await consoleOf(idp, user);
    const page = await german.get('/admin/users?state=x', { headers: { 'accept-language': 'en' } });
    expect(page.text).toContain('<html lang="de"');
    expect(errorPage(page).links).toEqual(['Filter zurücksetzen: /admin/users']);
    expect(page.text).toMatch(/href="\/admin\/users" aria-current="page"/);
  });

  it('is not in a frame of a page, and not for programs', async () => {
    const inFrame = await admin.get('/admin/mail/templates/nothing/html', { headers: { 'sec-fetch-dest': 'iframe' } });
    expect(errorPage(inFrame)).toMatchObject({ status: 404, isFramed: false });
    expect((await admin.get('/admin/users/nothing', JSON_ONLY)).json()).toMatchObject({
      status: 404,
      code: 'not_found',
      detail: 'This user doesn’t exist.',
    });
  });

  it('is for administrators who are signed in; others are sent to the sign-in, or see the plain page', async () => {
    const stranger = httpClient(idp.issuer);
    expect((await stranger.get('/admin/users?state=x')).location).toContain('/login?return_to=');
    expect(errorPage(await stranger.get('/admin/nothing'))).toMatchObject({ status: 404, isFramed: false });
    const person = await consoleOf(idp, await staff(idp));
    expect(errorPage(await person.get('/admin/nothing'))).toMatchObject({ status: 404, isFramed: false });
    expect(errorPage(await admin.get('/nothing'))).toMatchObject({ status: 404, isFramed: false });
  });
});
