// Rejected requests of websites: the reference that the person or program gets, and what administrators find under it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { completeSignIn } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { type Website, website } from '../support/website.ts';

let idp: TestIdp;
let site: Website;
let admin: HttpClient;
let user: TestUser;
let browser: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  for (const name of ['reader', 'wiki-admin']) await idp.services.roles.create({ name });
  site = await website('caddy', () => idp.issuer, ['Remote-User', 'X-Gatehouse-Jwt']);
  await idp.services.applications.createProxied({
    name: 'Wiki',
    url: site.origin,
    proxy: 'caddy',
    access: { roles: ['reader'] },
    paths: [{ path: '/admin/', rule: { roles: ['wiki-admin'] } }],
  });
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  user = await aUser(idp.services);
  await idp.services.roles.assign(user.account.id, 'reader');
  browser = httpClient();
  const page = await completeSignIn(browser, `${site.origin}/`, { user, redirectUri: `${site.origin}/.gatehouse/` });
  await browser.follow(page);
});
afterAll(async () => {
  await site?.close();
  await idp?.stop();
});

const asPage = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };
const CODE = /\b[2-9A-Z]{4}-[2-9A-Z]{4}\b/;
const codeIn = (page: Page) => CODE.exec(page.text)?.[0] ?? `no reference: ${page.status} ${page.text}`;
const asked = (headers: Record<string, string>) => ({
  'X-Forwarded-Method': 'GET',
  'X-Forwarded-Proto': 'http',
  'X-Forwarded-Host': new URL(site.origin).host,
  'X-Forwarded-Uri': '/',
  ...headers,
});
const ask = (headers: Record<string, string>, query = '') =>
  httpClient(idp.issuer).get(`/forward-auth/traefik${query}`, { headers: asked(headers) });

/** What the console says about it. */
async function explained(page: Page): Promise<string> {
  const shown = await admin.get(`/admin/rejections/${codeIn(page)}`);
  expect(shown.status).toBe(200);
  return textOf(shown.text);
}

describe('the reference leads to the rule', () => {
  it('of a path, with the roles of the user and of the rule, and is fixed by the role', async () => {
    const page = await browser.get(`${site.origin}/admin/users?secret=x`, { headers: asPage });
    expect(page.status).toBe(403);
    expect(textOf(page.text)).toContain('No access');
    expect(textOf(page.text)).toContain(`Error reference: ${codeIn(page)}`);
    const text = await explained(page);
    expect(text).toContain('The rule for this path allows the user');
    expect(text).toContain(`${user.username}: reader`);
    expect(text).toContain('/admin/: wiki-admin');
    expect(text).toContain('/admin/users');
    expect(text).not.toContain('secret=x');
    expect(text).toContain('Edit path rules');
    await idp.services.roles.assign(user.account.id, 'wiki-admin');
    const fixed = await explained(page);
    await idp.services.roles.unassign(user.account.id, 'wiki-admin');
    expect(fixed).toContain('This is fixed.');
  });

  it('of access, for a program', async () => {
    await idp.services.roles.unassign(user.account.id, 'reader');
    const page = await browser.get(`${site.origin}/api`, { headers: { 'sec-fetch-mode': 'cors' } });
    const explanation = await explained(page);
    await idp.services.roles.assign(user.account.id, 'reader');
    expect([page.status, page.json()]).toEqual([403, { error: 'access_denied', reference: codeIn(page) }]);
    expect(explanation).toContain('has no roles');
  });

  it.each(['traefik', 'nginx'] as const)('of a wrong credential and of a closed one, behind %s', async (proxy) => {
    const { applications, appPasswords } = idp.services;
    const own = await website(proxy, () => idp.issuer, ['Remote-User']);
    const { origin } = own;
    const registered = {
      name: `Programs ${proxy}`,
      url: origin,
      proxy,
      access: { roles: ['reader'] },
      paths: [
        { path: '/admin/', rule: { roles: ['wiki-admin'] } },
        { path: '/secure/', rule: 'mfa' as const },
      ],
      app_passwords: true,
      access_tokens: 'users' as const,
    };
    const { id } = await applications.createProxied(registered);
    const account = await idp.services.accounts.find(user.account.id);
    const password =
      (await appPasswords.create(account ?? expect.fail(), { applicationId: id, name: 'Calendar' }, {})) ?? '';
    const send = (authorization: string, path = '/') =>
      httpClient().get(`${origin}${path}`, { headers: { authorization } });
    const basic = (text: string) => `Basic ${Buffer.from(`${user.username}:${text}`).toString('base64')}`;
    const seen = (page: Page) => {
      const code = codeIn(page);
      expect(page.headers['x-gatehouse-reference']).toBe(code);
      expect(page.json()).toMatchObject({ reference: code });
      return explained(page);
    };
    try {
      const wrong = await send(basic('wrong'));
      expect(wrong.status).toBe(401);
      expect(await seen(wrong)).toContain('The access token or app password is wrong, has ended');
      expect(await seen(wrong)).not.toContain('wrong:');
      expect(await seen(await send('Bearer wrong', '/other'))).toContain('access token');
      const role = await send(basic(password), '/admin/');
      expect(role.status).toBe(403);
      expect(await seen(role)).toContain(`${user.username}: reader`);
      expect(await seen(await send(basic(password), '/secure/'))).toContain('doesn’t prove what the page needs');
    } finally {
      await own.close();
    }
  });

  it('that a website is not registered, with a page for a person', async () => {
    const page = await ask({ 'X-Forwarded-Host': 'other.example', ...asPage });
    expect(page.status).toBe(403);
    expect(page.text).toContain('This page can’t be opened');
    const text = await explained(page);
    expect(text).toContain('The application is registered and enabled');
    expect(text).toContain('http://other.example');
    expect(text).toContain('Add application');
  });

  it.each([
    ['a header that is missing', { 'X-Forwarded-Proto': '' }, '', 'X-Forwarded-Proto, missing'],
    ['a malformed target', { 'X-Forwarded-Uri': 'no-path' }, '', 'target'],
    ['another website', {}, '?website=https://other.example', ', asked as https://other.example'],
  ])('of the headers: %s', async (_, headers, query, says) => {
    const page = await ask(headers as never, query);
    expect(page.status).toBe(400);
    const text = await explained(page);
    expect(text).toContain('A header of the proxy is missing, repeated or malformed.');
    expect(text).toContain(says);
  });

  it('of an ambiguous path', async () => {
    const page = await ask({ 'X-Forwarded-Uri': '/a/..%2fadmin' });
    expect(page.status).toBe(400);
    expect(await explained(page)).toContain('Servers read this path in two ways.');
  });

  it('of a denied address', async () => {
    const { settings } = idp.services;
    await settings.set('denied_networks', ['192.0.2.0/24']);
    await settings.reload();
    const page = await browser.get(`${site.origin}/`, { headers: asPage });
    await settings.unset('denied_networks');
    await settings.reload();
    expect(page.status).toBe(403);
    const text = await explained(page);
    expect(text).toContain('The settings deny the address.');
    expect(text).toContain('192.0.2.7');
  });

  it('of the network', async () => {
    const office = await website('caddy', () => idp.issuer, ['Remote-User', 'X-Gatehouse-Jwt']);
    const allowed_networks = ['127.0.0.0/8'];
    const { origin: url } = office;
    await idp.services.applications.createProxied({ name: 'Office', url, proxy: 'caddy', allowed_networks });
    const client = httpClient();
    const callback = await completeSignIn(client, `${url}/`, { user, redirectUri: `${url}/.gatehouse/` });
    const page = await client.follow(callback);
    await office.close();
    expect(page.status).toBe(403);
    expect(await explained(page)).toContain('The application can’t be used from this network.');
  });

  it('of a sign-in without the cookie that it began with, after three rounds', async () => {
    let page = await httpClient().get(`${site.origin}/`, { headers: asPage });
    const state = () => new URL(page.location ?? '').searchParams.get('state');
    for (let round = 0; round < 3; round += 1)
      page = await httpClient().get(`${site.origin}/.gatehouse/callback?code=x&state=${state()}`, { headers: asPage });
    expect(page.status).toBe(400);
    const text = await explained(page);
    expect(text).toContain('The sign-in ends in the browser that began it');
    expect(text).toContain('no cookie');
  });

  it('of a code of another website', async () => {
    const client = httpClient();
    let page = await client.get(`${site.origin}/`, { headers: asPage });
    const state = () => new URL(page.location ?? '').searchParams.get('state');
    for (let round = 0; round < 3; round += 1)
      page = await client.get(`${site.origin}/.gatehouse/callback?code=other&state=${state()}`, { headers: asPage });
    expect(page.status).toBe(400);
    expect(await explained(page)).toContain('The code is invalid, expired or already used.');
  });

  it('of a state that is not of this website, though the sign-in begins again', async () => {
    const page = await browser.get(`${site.origin}/.gatehouse/callback?code=x&state=forged`, { headers: asPage });
    expect(page.location).toBe(`${site.origin}/`);
    const { rejections } = await idp.services.rejections.list({ clientId: site.origin });
    expect(rejections[0]?.reason).toBe('invalid_state');
  });
});

it('the list has the website with its link, and the same request again has the same reference', async () => {
  const one = await browser.get(`${site.origin}/admin/again`, { headers: asPage });
  const other = await browser.get(`${site.origin}/admin/again`, { headers: asPage });
  expect(codeIn(other)).toBe(codeIn(one));
  const list = await admin.get(`/admin/rejections?${new URLSearchParams({ client: site.origin })}`);
  const application = await idp.services.applications.find(site.origin);
  expect(list.text).toContain(`/admin/applications/${application?.id}`);
  expect(textOf(list.text)).toContain('The rule for this path doesn’t allow the user.');
});

it('nginx gets only 403, with the reference in a header', async () => {
  const headers = { 'X-Original-URL': `${site.origin}/a/..%2fadmin`, 'X-Original-Method': 'GET' };
  const answer = await httpClient(idp.issuer).get('/forward-auth/nginx', { headers });
  expect(answer.status).toBe(403);
  expect(answer.headers['x-gatehouse-reference']).toMatch(CODE);
});

it('an anonymous client cannot fill the table: what one address causes is bounded', async () => {
  const before = await idp.services.db.rejection.count();
  for (let at = 0; at < 130; at += 1) await ask({ 'X-Forwarded-For': '198.51.100.7', 'X-Forwarded-Uri': `/a%2f${at}` });
  await idp.services.rejections.list({});
  const stored = (await idp.services.db.rejection.count()) - before;
  expect(stored).toBeGreaterThan(50);
  // One more counts the others.
  expect(stored).toBeLessThanOrEqual(101);
});

it('that a website is disabled, which a button enables', async () => {
  const application = await idp.services.applications.find(site.origin);
  await idp.services.applications.setEnabled(application?.id ?? '', false);
  const page = await browser.get(`${site.origin}/`, { headers: asPage });
  expect(page.status).toBe(403);
  const found = await admin.get(`/admin/rejections/${codeIn(page)}`);
  // Disabling it ended its sessions.
  await admin.follow(await admin.submit(found, {}, { button: 'Enable Wiki' }));
  expect((await browser.get(`${site.origin}/`)).location).toContain(`${idp.issuer}/authorize?`);
});
