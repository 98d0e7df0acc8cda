// One search over everything in the console: each administrator finds what the lists would show them, the best match first.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aClient, aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from './support.ts';

interface Suggestion {
  label: string;
  small: string;
  href: string;
  logo?: { path?: string };
}

let idp: TestIdp;
let admin: HttpClient;
const people = new Map<string, TestUser>();

beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  const { services } = idp;
  for (const [username, name] of [
    ['quill', 'Quill'],
    ['inga', 'Inga Quillfeather'],
    ['otto', 'Otto Tranquill'],
  ] as const)
    people.set(username, await aUser(services, { username, name, email: `${username}@example.com` }));
  await aClient(services, { client_name: 'Quill editor', redirect_uris: ['https://quill.example/cb'] });
  await aClient(services, { client_name: 'Quillnotes', redirect_uris: ['https://notes.example/cb'] });
  await services.groups.create({ name: 'Quill writers' });
  await services.roles.create({ name: 'quill-reader' });
});
afterAll(() => idp?.stop());

async function suggested(client: HttpClient, q: string): Promise<Suggestion[]> {
  const answer = await client.get(`/admin/search/suggest?q=${encodeURIComponent(q)}`);
  expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
  const { suggestions } = answer.json() as { suggestions: Suggestion[] };
  // The last one leads to the page with all of them.
  const found = suggestions.slice(0, -1);
  expect(suggestions.slice(found.length).map(({ href }) => href)).toEqual(
    suggestions.length > 0 ? [`/admin/search?${new URLSearchParams({ q })}`] : [],
  );
  return found;
}

let roles = 0;

/** An administrator with these permissions. */
async function withRights(...permissions: string[]): Promise<HttpClient> {
  const name = `searcher-${++roles}`;
  await idp.services.roles.create({ name, permissions });
  return consoleOf(idp, await staff(idp, name));
}

describe('the search', () => {
  it.each([
    ['re-authentication', 'Time until re-authentication'],
    ['reauthentication', 'Time until re-authentication'],
    ['password length', 'Shortest password'],
    ['colour', 'Branding'],
    ['color', 'Branding'],
    ['terms', 'Branding'],
    ['privacy notice', 'Branding'],
    ['SMTP', 'Mail'],
    ['timeout', 'Sessions'],
    ['CSV import', 'Import users'],
    ['invite', 'Add user'],
    ['reset password', 'Users'],
  ])('finds by %s what administrators call it: %s', async (words, label) => {
    const labels = (await suggested(admin, words)).map((one) => one.label);
    expect(
      labels.filter((one) => one.includes(label)),
      labels.join(' | '),
    ).not.toEqual([]);
  });

  it.each([
    ['2fa', 'Two-step'],
    ['MFA', 'Two-step'],
    ['two-factor', 'Two-step'],
    ['webhook', 'Event streams'],
    ['alert', 'Event streams'],
    ['SIEM', 'Event streams'],
    ['certificate', 'Signing keys'],
    ['logo', 'Branding'],
    ['rotate secret', 'Applications'],
    ['LDAP', 'Connections'],
    ['SCIM', 'Directories (SCIM)'],
    ['mail server', 'Mail server'],
    ['import', 'Import users'],
  ])('has for %s the page first: %s; then settings, then documents', async (words, label) => {
    const found = await suggested(admin, words);
    expect(found[0]?.label).toBe(label);
    expect(found[0]?.small.startsWith('Page'), found[0]?.small).toBe(true);
    const isDocument = found.map(({ href }) => href.startsWith('/docs'));
    expect(isDocument).toEqual([...isDocument].sort());
    const titles = found.map((one) => one.label);
    expect(titles.filter((one) => one === 'Folders' || one === 'Rules')).toEqual([]);
  });

  it.each([
    ['2FA', '/admin/security/two-step'],
    ['Zwei-Faktor', '/admin/security/two-step'],
    ['Warnungen', '/admin/event-streams'],
    ['Zertifikat', '/admin/keys'],
    ['DSGVO', '/admin/settings/privacy'],
  ])('finds in German by %s the page %s', async (words, href) => {
    const boss = await staff(idp, 'admin');
    await idp.services.accounts.update(boss.account.id, { locale: 'de' }, {});
    expect((await suggested(await consoleOf(idp, boss), words))[0]?.href).toBe(href);
  });

  it('finds people, applications, groups and roles, equal names first', async () => {
    const labels = (await suggested(admin, 'QUILL')).map(({ label, small }) => `${label} (${small.split(' · ')[0]})`);
    expect(labels[0]).toBe('Quill (User)');
    expect(labels.slice(1, 5).sort()).toEqual([
      'Quill editor (Application)',
      'Quill writers (Group)',
      'Quillnotes (Application)',
      'quill-reader (Role)',
    ]);
    expect(labels.slice(5)).toEqual(['Inga Quillfeather (User)', 'Otto Tranquill (User)']);
    expect((await suggested(admin, 'inga@example.com'))[0]).toMatchObject({
      label: 'Inga Quillfeather',
      href: `/admin/users/${people.get('inga')?.account.id}`,
    });
  });

  it('finds own fields of users by their labels and names', async () => {
    const properties = {
      badge_no: { type: 'string', title: 'Badge number' },
      shirt: { type: 'string', pattern: '^[SML]$' },
    };
    await idp.services.settings.set('user_attributes', { type: 'object', properties });
    for (const words of ['badge number', 'badge_no'])
      expect((await suggested(admin, words))[0], words).toMatchObject({
        label: 'Badge number',
        href: '/admin/settings/attributes#f-user_attributes',
      });
    expect((await suggested(admin, 'shirt'))[0]?.label).toBe('shirt');
    await idp.services.settings.set('user_attributes', {});
  });

  it('finds settings by their names and explanations, with a link to the field', async () => {
    const found = await suggested(admin, 'refresh token');
    expect(found.map(({ href }) => href)).toContain('/admin/settings#f-refresh_token_days');
    const { href = '' } = found.find(({ small }) => small.startsWith('Setting')) ?? {};
    const page = await admin.get(href);
    expect(page.text).toContain(`id="${new URL(href, idp.issuer).hash.slice(1)}"`);
    expect((await suggested(admin, 'session_hours'))[0]?.href).toBe('/admin/settings#f-session_hours');
  });

  it('finds pages and sections of the documentation', async () => {
    expect((await suggested(admin, 'signing keys'))[0]).toMatchObject({ label: 'Signing keys', href: '/admin/keys' });
    const found = await suggested(admin, 'certificate rollover');
    expect(found).toContainEqual(expect.objectContaining({ href: '/docs/saml#certificate-rollover' }));
    for (const words of ['release', 'gatehouse release'])
      expect(await suggested(admin, words)).toContainEqual(
        expect.objectContaining({ label: 'gatehouse release', href: '/docs/configuration#the-file' }),
      );
    // Below the page Branding, whole words only.
    expect((await suggested(admin, 'logo')).map(({ label }) => label)).not.toContain('Logout');
  });

  it('finds the documentation by the beginnings of words, and displays the part with them', async () => {
    const documents = async (q: string) =>
      (await suggested(admin, q)).filter(({ href }) => href.startsWith('/docs')).map(({ small }) => small);
    expect(await documents('hannel')).toEqual([]);
    const found = await documents('mail server');
    expect(found.length).toBeGreaterThan(1);
    for (const small of found) {
      expect(small).toMatch(/mail server/i);
      // A link or code in a sentence has no space after it that the page has not.
      expect(small).not.toMatch(/\w [,.;]/);
    }
  });

  it('finds a rejected request by its error reference, however it is typed', async () => {
    const browser = httpClient(idp.issuer);
    const rejected = await browser.get('/authorize?client_id=unknown&response_type=code&scope=openid');
    const [code = ''] = /[2-9A-Z]{4}-[2-9A-Z]{4}/.exec(textOf(rejected.text)) ?? [];
    for (const typed of [code, code.toLowerCase(), code.replace('-', '')])
      expect((await suggested(admin, typed))[0]).toMatchObject({ label: code, href: `/admin/rejections/${code}` });
    const other = await withRights('gatehouse.users:read');
    expect((await suggested(other, code)).map(({ label }) => label)).not.toContain(code);
  });

  it('is a page without script, which leads to the same', async () => {
    const page = await admin.get('/admin/search?q=quill');
    const links = linksOf(page.text, page.url).map(({ label }) => label);
    expect(links).toEqual(expect.arrayContaining(['Quill', 'Quill editor', 'Quill writers', 'Otto Tranquill']));
    expect(linksOf((await admin.get('/admin/users')).text, idp.issuer).map(({ href }) => href)).toContain(
      `${idp.issuer}/admin/search`,
    );
    expect(textOf((await admin.get('/admin/search?q=<b>')).text)).toContain('Nothing matches “<b>”.');
    expect((await admin.get(`/admin/search?q=${'x'.repeat(201)}`)).status).toBe(400);
  });
});

describe('who may see what', () => {
  it('decides what is found: each kind needs its permission', async () => {
    const kinds = async (client: HttpClient) =>
      [...new Set((await suggested(client, 'quill')).map(({ small }) => small.split(' · ')[0]))].sort();
    expect(await kinds(await withRights('gatehouse.users:read'))).toEqual(['User']);
    expect(await kinds(await withRights('gatehouse.applications:read'))).toEqual(['Application']);
    expect(await kinds(await withRights('gatehouse.groups:read'))).toEqual(['Group']);
    expect(await kinds(await withRights('gatehouse.roles:read'))).toEqual(['Role']);
    const reader = await withRights('gatehouse.users:read');
    expect((await suggested(reader, 'session_hours')).filter(({ small }) => small.startsWith('Setting'))).toEqual([]);
    expect((await suggested(reader, 'signing keys')).map(({ href }) => href)).not.toContain('/admin/keys');
  });

  it('includes limited permissions: people of one role or one group, one application', async () => {
    const { services } = idp;
    const group = await services.groups.find('Quill writers');
    const reader = people.get('otto')?.account.id ?? '';
    await services.groups.addMembers(group?.id ?? '', [{ userId: people.get('inga')?.account.id ?? '' }]);
    await services.roles.assign(reader, 'quill-reader');
    const names = async (right: string) =>
      (await suggested(await withRights(right), 'quill')).map(({ label }) => label);
    expect(await names(`gatehouse.users[group:${group?.id}]:read`)).toEqual(['Inga Quillfeather']);
    expect(await names('gatehouse.users[role:quill-reader]:read')).toEqual(['Otto Tranquill']);
    const [one] = (await services.applications.list({ search: 'Quillnotes' })).applications;
    expect(await names(`gatehouse.applications[application:${one?.clientId}]:read`)).toEqual(['Quillnotes']);
  });

  it('has the logo of the product that an application was added as, and letters else', async () => {
    const client = await withRights('gatehouse.applications:read');
    const name = 'Quill wiki';
    await aClient(idp.services, {
      client_name: name,
      redirect_uris: ['https://wiki.example/cb'],
      preset: 'nextcloud',
    });
    const found = (all: Suggestion[]) => all.find(({ label }) => label === name)?.logo;
    expect(found(await suggested(client, name))?.path).toMatch(/^[Mm]/);
    expect((await suggested(client, 'Quillnotes'))[0]?.logo?.path).toBeUndefined();
    expect((await client.get(`/admin/search?q=${encodeURIComponent(name)}`)).text).toMatch(/class="logo"[^>]*><svg/);
    const offered = await client.get(`/admin/suggest/applications?q=${encodeURIComponent(name)}`);
    expect(found((offered.json() as { suggestions: Suggestion[] }).suggestions)?.path).toMatch(/^[Mm]/);
  });

  it('leaves out everybody else: a user without rights, and a stranger', async () => {
    const user = await aUser(idp.services);
    const client = await consoleOf(idp, user);
    for (const path of ['/admin/search?q=quill', '/admin/search/suggest?q=quill', '/docs', '/docs/console'])
      expect((await client.get(path)).status, path).toBe(403);
    const stranger = await httpClient(idp.issuer).get('/admin/search?q=quill');
    expect(stranger.status).toBe(303);
  });
});
