// Websites without a sign-in of their own, behind a proxy that asks as each product does.
import { createHash } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { z } from 'zod';
import { proxyConfiguration } from '../../src/admin/applications/presets/proxies.ts';
import type { ProxiedApplication } from '../../src/applications/application.ts';
import { type ProxyKind, proxiedApplication, proxyKinds } from '../../src/applications/fields/proxied-application.ts';
import { limits } from '../../src/base/limits.ts';
import { completeSignIn } from '../oidc/support.ts';
import { aUser, aUserInGroups, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { some } from '../support/long-run.ts';
import { textOf } from '../support/pages/html.ts';
import { openWebsite, type Website, website } from '../support/website.ts';

const HANDED_ON = ['Remote-User', 'Remote-Groups', 'Remote-Name', 'Remote-Email', 'X-Gatehouse-Jwt'];
let idp: TestIdp;
let inManyGroups: TestUser;
const sites: Partial<Record<ProxyKind, Website>> = {};

beforeAll(async () => {
  idp = await startIdp();
  inManyGroups = await aUserInGroups(idp.services, limits.groups.inToken);
  for (const kind of proxyKinds) sites[kind] = await website(kind, () => idp.issuer, HANDED_ON);
});
afterAll(async () => {
  for (const site of Object.values(sites)) await site.close();
  await idp?.stop();
});

type Declared = z.input<typeof proxiedApplication>;

async function aWebsite(kind: ProxyKind, declared: Partial<Declared> = {}): Promise<Website> {
  const site = sites[kind];
  if (!site) throw new Error(`no website behind ${kind}`);
  const found = await idp.services.applications.find(site.origin);
  if (found) await idp.services.applications.remove(found.id);
  await idp.services.applications.createProxied({ name: `Wiki ${kind}`, url: site.origin, proxy: kind, ...declared });
  return site;
}

const opened = (browser: HttpClient, { origin }: Website, path: string, user: TestUser) =>
  openWebsite(browser, origin, path, user);

/** How a proxy asks about a page of the website. */
const askedHeaders = ({ origin }: Website, path: string) => ({
  'X-Forwarded-Method': 'GET',
  'X-Forwarded-Proto': 'http',
  'X-Forwarded-Host': new URL(origin).host,
  'X-Forwarded-Uri': path,
});

const asPage = { headers: { accept: 'text/html', 'sec-fetch-mode': 'navigate' } };
const headersOf = (page: Page) => page.json<{ headers: Record<string, string> }>().headers;

describe.each(some(3, proxyKinds))('behind %s', (kind) => {
  it('a person signs in, lands on the page that they wanted, and the website learns who they are', async () => {
    const site = await aWebsite(kind);
    const user = await aUser(idp.services);
    const browser = httpClient();
    const page = await opened(browser, site, '/notes/1?view=all', user);
    expect(page.url).toBe(`${site.origin}/notes/1?view=all`);
    const received = headersOf(page);
    expect(received['remote-user']).toBe(user.username);
    expect(received['remote-email']).toBe(user.account.email);
    expect(received['remote-groups']).toBe('');
    const keys = await httpClient(idp.issuer).get('/jwks');
    const { payload, protectedHeader } = await jwtVerify(
      received['x-gatehouse-jwt'] ?? '',
      createLocalJWKSet(keys.json()),
      { issuer: idp.issuer, audience: site.origin, typ: 'gatehouse-website+jwt' },
    );
    expect(protectedHeader.alg).toBe('ES256');
    expect(payload).toMatchObject({ sub: user.account.id, preferred_username: user.username });
    // From here on without a detour.
    expect((await browser.get(`${site.origin}/notes/2`)).status).toBe(200);
  });

  it('signs out with the session, at once', async () => {
    const site = await aWebsite(kind);
    const user = await aUser(idp.services);
    const browser = httpClient();
    await opened(browser, site, '/', user);
    const click = {
      headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-user': '?1', 'sec-fetch-dest': 'document' },
    };
    const confirmed = await browser.follow(await browser.get(`${site.origin}/.gatehouse/logout`, click));
    const signedOut = await browser.follow(await browser.submit(confirmed));
    expect(signedOut.url).toContain(`${idp.issuer}/signout/`);
    const text = textOf(signedOut.text);
    for (const expected of ['You’re signed out', `Wiki ${kind}`, 'Signed out.']) expect(text).toContain(expected);
    expect(signedOut.text).toContain(`href="${site.origin}/"`);
    const again = await browser.get(`${site.origin}/`);
    expect(again.location).toContain(`${idp.issuer}/authorize?`);
  });

  it('a program gets an error, never a redirect', async () => {
    const site = await aWebsite(kind);
    const asked = { accept: 'application/json', 'sec-fetch-mode': 'cors' };
    const answer = await httpClient().get(`${site.origin}/api/notes`, { headers: asked });
    expect(answer.status).toBe(401);
    expect(answer.location).toBeUndefined();
    expect(answer.json()).toMatchObject({ error: 'login_required' });
  });

  it('a person in many groups gets through, and the website receives all of them', async () => {
    const site = await aWebsite(kind);
    const { status, text } = await opened(httpClient(), site, '/', inManyGroups);
    expect([status, text.slice(0, 100)]).toEqual([200, expect.stringContaining('{')]);
    const received = JSON.parse(text).headers;
    expect(received['remote-groups'].split(',')).toHaveLength(limits.groups.inToken);
    expect(decodeJwt(received['x-gatehouse-jwt']).groups).toHaveLength(limits.groups.inToken);
  });

  it('headers that the browser sends itself do not reach the website', async () => {
    const site = await aWebsite(kind, { paths: [{ path: '/public/', rule: 'public' }] });
    const forged = { 'Remote-User': 'admin', 'Remote-Groups': 'admins', 'X-Gatehouse-Jwt': 'x' };
    const open = await httpClient().get(`${site.origin}/public/logo.svg`, { headers: forged });
    expect(open.status).toBe(200);
    expect(headersOf(open)).toMatchObject({ 'remote-user': '', 'remote-groups': '', 'x-gatehouse-jwt': '' });
    const user = await aUser(idp.services);
    const browser = httpClient();
    await opened(browser, site, '/', user);
    const page = await browser.get(`${site.origin}/`, { headers: forged });
    expect(headersOf(page)['remote-user']).toBe(user.username);
  });
});

describe.each(some(3, proxyKinds))('a request behind %s', (kind) => {
  it('that is a preflight gets through without headers about a user where it may, and nothing else does', async () => {
    const preflight = { origin: 'https://app.example', 'access-control-request-method': 'PUT' };
    const send = async ({ origin, received }: Website, method: string, headers: Record<string, string>) => {
      received.length = 0;
      const { status } = await httpClient().request(method, `${origin}/notes`, {
        headers: { accept: '*/*', ...headers },
      });
      return [status, ...received.map((one) => [one.method, one.headers['remote-user']])];
    };
    const closed = await aWebsite(kind);
    expect(await send(closed, 'OPTIONS', preflight)).toEqual([401]);
    const site = await aWebsite(kind, { preflight: 'allow', paths: [{ path: '/x/', rule: 'public' }] });
    expect(await send(site, 'OPTIONS', { ...preflight, 'remote-user': 'forged' })).toEqual([200, ['OPTIONS', '']]);
    for (const method of ['GET', 'PUT', 'DELETE']) expect(await send(site, method, preflight), method).toEqual([401]);
    const more: Record<string, string>[] = [
      { cookie: 'a=b' },
      { authorization: 'Basic eDp5' },
      { 'x-http-method-override': 'DELETE' },
    ];
    for (const one of more) expect(await send(site, 'OPTIONS', { ...preflight, ...one })).toEqual([401]);
    expect(await send(site, 'OPTIONS', { origin: 'https://app.example' })).toEqual([401]);
    expect(await send(site, 'OPTIONS', { 'access-control-request-method': 'PUT' })).toEqual([401]);
  });

  it('is judged by the rule for its method, HEAD as GET', async () => {
    await idp.services.roles.create({ name: 'method-writer' }).catch(() => undefined);
    const site = await aWebsite(kind, {
      paths: [
        { path: '/notes/', methods: ['GET'], rule: 'public' },
        { path: '/notes/', methods: ['POST', 'DELETE'], rule: { roles: ['method-writer'] } },
      ],
    });
    const statusOf = async (browser: HttpClient, method: string, path = '/notes/1') =>
      (await browser.request(method, `${site.origin}${path}`, { headers: { 'sec-fetch-mode': 'cors' } })).status;
    const anonymous = httpClient();
    for (const [method, status] of Object.entries({ GET: 200, HEAD: 401, POST: 401, PUT: 401, PATCH: 401 }))
      expect(await statusOf(anonymous, method), method).toBe(status);
    const user = await aUser(idp.services);
    const browser = httpClient();
    await opened(browser, site, '/', user);
    for (const [method, status] of Object.entries({
      GET: 200,
      HEAD: 200,
      PUT: 200,
      POST: 403,
      DELETE: 403,
      PROPFIND: 403,
      OPTIONS: 403,
    }))
      expect(await statusOf(browser, method), method).toBe(status);
    await idp.services.roles.assign(user.account.id, 'method-writer');
    expect(await statusOf(browser, 'POST')).toBe(200);
    // What is in the request about another method counts for nothing.
    const headers = { 'sec-fetch-mode': 'cors', 'x-http-method-override': 'GET', 'x-forwarded-method': 'GET' };
    expect((await anonymous.request('POST', `${site.origin}/notes/1`, { headers })).status).toBe(401);
  });

  it('of a frame gets a page for the whole window, never a redirect', async () => {
    const site = await aWebsite(kind);
    for (const dest of ['iframe', 'frame', 'embed', 'object']) {
      const headers = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': dest };
      const page = await httpClient().get(`${site.origin}/inside`, { headers });
      expect([page.status, page.location]).toEqual([401, undefined]);
      expect(page.text).toContain(`<a href="${site.origin}/.gatehouse/sign-in?page=%2Finside" target="_top"`);
    }
  });
});

describe('a website', () => {
  it('is closed to who loses the role, at once', async () => {
    await idp.services.roles.create({ name: 'wiki-reader' });
    const site = await aWebsite('caddy', { access: { roles: ['wiki-reader'] } });
    const user = await aUser(idp.services);
    await idp.services.roles.assign(user.account.id, 'wiki-reader');
    const browser = httpClient();
    expect((await opened(browser, site, '/', user)).status).toBe(200);
    await idp.services.roles.unassign(user.account.id, 'wiki-reader');
    const program = { headers: { 'sec-fetch-mode': 'cors' } };
    expect((await browser.get(`${site.origin}/`, program)).status).toBe(403);
    const page = await browser.follow(await browser.get(`${site.origin}/`));
    expect(page.url).toContain(idp.issuer);
    expect(page.text).toContain('Wiki caddy');
  });

  it('waits for a new version of the terms', async () => {
    const site = await aWebsite('caddy');
    const user = await aUser(idp.services);
    const browser = httpClient();
    await opened(browser, site, '/', user);
    const { settings } = idp.services;
    await settings.set('brand_terms_url', 'https://example.com/terms');
    await settings.set('terms_version', '2026-11');
    await settings.reload();
    const page = await browser.follow(await browser.get(`${site.origin}/`));
    expect(page.url).toContain(idp.issuer);
    expect(page.text).toContain('https://example.com/terms');
    await settings.unset('terms_version');
    await settings.reload();
  });

  it('gets the statement that was signed before, until it says something else', async () => {
    const site = await aWebsite('caddy');
    const user = await aUser(idp.services);
    const browser = httpClient();
    await opened(browser, site, '/', user);
    const statement = async () => headersOf(await browser.get(`${site.origin}/`))['x-gatehouse-jwt'] ?? '';
    const signed = await statement();
    // After a change of the directory, accounts are read anew.
    const { id } = await idp.services.groups.create({ name: 'Of others' });
    await idp.services.groups.addMembers(id, [{ userId: (await aUser(idp.services)).account.id }]);
    expect(await statement()).toBe(signed);
    await idp.services.accounts.update(user.account.id, { name: 'Another Name' }, {});
    expect(decodeJwt(await statement())).toMatchObject({ sub: user.account.id, name: 'Another Name' });
  });

  it('that knows the headers of authentik gets its groups with bars between them', async () => {
    const site = await aWebsite('traefik', { headers: 'authentik' });
    const user = await aUser(idp.services);
    for (const name of ['Lab', 'Chemistry']) {
      const { id } = await idp.services.groups.create({ name });
      await idp.services.groups.addMembers(id, [{ userId: user.account.id }]);
    }
    const browser = httpClient();
    await opened(browser, site, '/', user);
    const cookie = browser.cookies.headerFor(new URL(site.origin)) ?? '';
    const answer = await httpClient(idp.issuer).get('/forward-auth/traefik', {
      headers: { ...askedHeaders(site, '/'), cookie },
    });
    expect(answer.headers['x-authentik-groups']).toBe('Chemistry|Lab');
  });

  it('with a rule that needs two-step verification is closed to who has none, who may set one up', async () => {
    const site = await aWebsite('caddy', { paths: [{ path: '/admin/', rule: 'mfa' }] });
    const user = await aUser(idp.services);
    const browser = httpClient();
    expect((await opened(browser, site, '/', user)).status).toBe(200);
    const page = await opened(browser, site, '/admin/', user);
    // The sign-in offers to set one up.
    expect(page.text).toContain('Wiki caddy requires two-step verification');
    expect((await browser.get(`${site.origin}/`)).status).toBe(200);
  });

  it.each([
    ['a script', 'GET', { 'sec-fetch-mode': 'cors' }],
    ['a form', 'POST', { 'sec-fetch-mode': 'navigate', accept: 'text/html' }],
    ['a frame', 'GET', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe', accept: 'text/html' }],
  ] as const)('leads %s of a public page to the sign-in that its path needs, and back', async (_, method, headers) => {
    const paths = [
      { path: '/', rule: 'public' as const },
      { path: '/secure/', rule: 'mfa' as const },
    ];
    const site = await aWebsite('caddy', { paths });
    const user = await aUser(idp.services);
    const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
    await idp.services.mfa.totp.importSecret(user.account.id, secret);
    const browser = httpClient();
    const ask = () =>
      browser.request(method, `${site.origin}/secure/api`, {
        headers: { ...headers, referer: `${site.origin}/app?view=1` },
      });
    const addressIn = (page: Page) =>
      page.text.startsWith('{')
        ? page.json<{ login_url: string }>().login_url
        : (/<a href="([^"]+)"/.exec(page.text)?.[1] ?? '').replaceAll('&amp;', '&');
    // Without a session, only one factor is asked for at first.
    const first = await ask();
    expect(first.status).toBe(401);
    let page = await completeSignIn(browser, addressIn(first), { user, redirectUri: `${site.origin}/.gatehouse/` });
    page = await browser.submit(page, { code: generateSync({ secret }) });
    page = await browser.follow(page);
    expect(page.url).toBe(`${site.origin}/app?view=1`);
    expect((await ask()).status).toBe(200);
  });

  it('leads a script whose sign-in is too weak to a stronger one', async () => {
    const paths = [
      { path: '/', rule: 'public' as const },
      { path: '/mail/', rule: { roles: ['member'] } },
      { path: '/secure/', rule: 'mfa' as const },
    ];
    await idp.services.roles.create({ name: 'member' });
    const site = await aWebsite('nginx', { paths });
    const user = await aUser(idp.services);
    await idp.services.roles.assign(user.account.id, 'member');
    const browser = httpClient();
    expect((await opened(browser, site, '/mail/', user)).status).toBe(200);
    const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
    await idp.services.mfa.totp.importSecret(user.account.id, secret);
    const ask = () => browser.get(`${site.origin}/secure/api`, { headers: { 'sec-fetch-mode': 'cors' } });
    const weak = await ask();
    expect([weak.status, weak.json()]).toMatchObject([401, { error: 'login_required', reference: expect.any(String) }]);
    const { login_url } = weak.json<{ login_url: string }>();
    const asked = await browser.follow(await browser.get(login_url));
    const page = await browser.follow(await browser.submit(asked, { code: generateSync({ secret }) }));
    expect(page.url).toBe(`${site.origin}/`);
    expect((await ask()).status).toBe(200);
    // A sign-in that is strong enough leads back at once.
    expect((await browser.get(login_url)).location).toBe(`${site.origin}/`);
  });

  it('leads from the begin of a sign-in to its own pages only', async () => {
    const site = await aWebsite('caddy');
    const browser = httpClient();
    await opened(browser, site, '/', await aUser(idp.services));
    for (const [wanted, page] of [
      ['/a?b=c', '/a?b=c'],
      ['//evil.example/', '//evil.example/'],
      ['https://evil.example/', '/'],
      ['@evil.example/', '/'],
      ['.evil.example/', '/'],
      ['', '/'],
      ['/a\r\nset-cookie: a=b', '/'],
      [`/${'a'.repeat(2000)}`, '/'],
    ]) {
      const query = new URLSearchParams({ page: wanted ?? '', acr: 'urn:unknown' });
      const { location } = await browser.get(`${site.origin}/.gatehouse/sign-in?${query}`);
      expect(location).toBe(`${site.origin}${page}`);
    }
  });

  it('leads each request with a session on from the begin of a sign-in, and a program without one to it', async () => {
    const site = await aWebsite('caddy');
    const browser = httpClient();
    const at = `${site.origin}/.gatehouse/sign-in?page=/a`;
    const { status, text } = await browser.get(at, { headers: { accept: 'application/json' } });
    expect([status, text]).toEqual([401, expect.stringContaining('login_required')]);
    await opened(browser, site, '/', await aUser(idp.services));
    for (const method of ['GET', 'HEAD'])
      for (const headers of [{ accept: '*/*' }, { accept: 'text/html' }]) {
        const { location } = await browser.request(method, at, { headers });
        expect([method, headers, location]).toEqual([method, headers, `${site.origin}/a`]);
      }
    expect((await browser.request('HEAD', `${site.origin}/.gatehouse/callback?code=x`)).status).toBe(405);
  });

  it.each(['caddy', 'nginx'] as const)(
    'behind %s says that a sign-in was cancelled, with a way to it',
    async (kind) => {
      const site = await aWebsite(kind);
      const browser = httpClient();
      const begun = await browser.get(`${site.origin}/a?b=c`, asPage);
      const state = new URL(begun.location ?? '').searchParams.get('state') ?? '';
      const answer = new URLSearchParams({ error: 'access_denied', state });
      const page = await browser.get(`${site.origin}/.gatehouse/callback?${answer}`, asPage);
      expect([page.status, page.headers['x-gatehouse-reference']]).toEqual([401, undefined]);
      expect(page.text).toContain('The sign-in was canceled');
      expect(page.text).not.toContain('reference');
      const [, link = ''] = /<a href="([^"]*)"/.exec(page.text) ?? [];
      expect(link).toBe(`${site.origin}/.gatehouse/sign-in?page=%2Fa%3Fb%3Dc`);
      expect((await browser.get(link, asPage)).location).toContain('/authorize?');
    },
  );

  it('leads a sign-out back to its first page only where that is public', async () => {
    for (const [paths, uri] of [
      [[{ path: '/', rule: 'public' as const }], 'its first page'],
      [[{ path: '/public/', rule: 'public' as const }], null],
    ] as const) {
      const { origin } = await aWebsite('caddy', { paths: [...paths] });
      const { location = '' } = await httpClient().get(`${origin}/.gatehouse/logout`, asPage);
      const found = new URL(location).searchParams.get('post_logout_redirect_uri');
      expect(found).toBe(uri && `${origin}/`);
    }
  });

  it('asks before it signs out, unless the user clicked on a page of the website', async () => {
    const site = await aWebsite('caddy');
    const browser = httpClient();
    await opened(browser, site, '/', await aUser(idp.services));
    const click = {
      'sec-fetch-mode': 'navigate',
      'sec-fetch-site': 'same-origin',
      'sec-fetch-user': '?1',
      'sec-fetch-dest': 'document',
      accept: 'text/html',
    };
    const hasHint = async (changed: Record<string, string>) => {
      const { location = '' } = await browser.get(`${site.origin}/.gatehouse/logout`, {
        headers: { ...click, ...changed },
      });
      expect(location).toContain('/end-session?');
      return new URL(location).searchParams.has('id_token_hint');
    };
    expect(await hasHint({})).toBe(true);
    const others: Record<string, string>[] = [
      { 'sec-fetch-user': '' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-dest': 'iframe' },
      { 'sec-purpose': 'prefetch' },
      { 'sec-purpose': 'prefetch;prerender' },
    ];
    for (const changed of others) expect(await hasHint(changed), JSON.stringify(changed)).toBe(false);
  });

  it('signs nobody out for a picture or a script of a page', async () => {
    const site = await aWebsite('caddy');
    const at = `${site.origin}/.gatehouse/logout`;
    for (const mode of ['no-cors', 'cors', 'websocket']) {
      const { status, location } = await httpClient().get(at, { headers: { 'sec-fetch-mode': mode } });
      expect([status, location]).toEqual([403, undefined]);
    }
    expect((await httpClient().get(at, asPage)).location).toContain('/end-session?');
    expect((await httpClient().get(at)).location).toContain('/end-session?');
  });

  it('answers the second question of nginx, which hands on the answer as it is, with neither a user nor a redirect', async () => {
    const site = await aWebsite('nginx');
    const browser = httpClient();
    await opened(browser, site, '/', await aUser(idp.services));
    const session = browser.cookies.headerFor(new URL(site.origin));
    const ask = (query: string, cookie: string, headers: Record<string, string>) =>
      httpClient(idp.issuer).get(`/forward-auth/nginx${query}`, {
        headers: { cookie, 'X-Original-URL': `${site.origin}/`, 'X-Original-Method': 'GET', ...headers },
      });
    expect((await ask('', session, asPage.headers)).headers).toHaveProperty('remote-user');
    for (const query of ['?401', '?403'])
      for (const cookie of [session, '']) {
        const reloaded = await ask(query, cookie, asPage.headers);
        expect([reloaded.status, reloaded.text]).toEqual([403, expect.stringContaining('http-equiv="refresh"')]);
        const program = await ask(query, cookie, { 'sec-fetch-mode': 'cors' });
        expect([program.status, program.text]).toEqual([401, expect.stringContaining('login_required')]);
        for (const { headers } of [reloaded, program])
          for (const name of ['remote-user', 'x-gatehouse-jwt', 'location']) expect(headers).not.toHaveProperty(name);
      }
  });

  it('answers 503 while a query fails, and lets nobody through', async () => {
    const site = await aWebsite('traefik');
    const user = await aUser(idp.services);
    const browser = httpClient();
    expect((await opened(browser, site, '/', user)).status).toBe(200);
    const query = vi.spyOn(idp.services.sql, 'query').mockRejectedValue(new Error('no such table: rp_sessions'));
    try {
      for (const mode of ['navigate', 'cors']) {
        const answer = await browser.get(`${site.origin}/`, { headers: { 'sec-fetch-mode': mode } });
        expect([answer.status, answer.headers['retry-after']]).toEqual([503, expect.stringMatching(/^\d+$/)]);
      }
    } finally {
      query.mockRestore();
    }
    expect((await browser.get(`${site.origin}/`)).status).toBe(200);
  });

  it('is closed from other networks than its own, without going in circles', async () => {
    // The proxy of the tests says 192.0.2.7.
    const site = await aWebsite('caddy', { allowed_networks: ['127.0.0.0/8'] });
    const browser = httpClient();
    const page = await opened(browser, site, '/', await aUser(idp.services));
    expect([page.status, page.url]).toEqual([403, `${site.origin}/`]);
    const own = await aWebsite('caddy', { allowed_networks: ['127.0.0.0/8', '192.0.2.0/24'] });
    expect((await opened(httpClient(), own, '/', await aUser(idp.services))).status).toBe(200);
  });

  it('is closed to a denied address, which is that of the user and not that of the proxy', async () => {
    const site = await aWebsite('caddy');
    const browser = httpClient();
    expect((await opened(browser, site, '/', await aUser(idp.services))).status).toBe(200);
    const { settings } = idp.services;
    const denied = async (network: string) => {
      await settings.set('denied_networks', [network]);
      await settings.reload();
      return (await browser.get(`${site.origin}/`)).status;
    };
    expect(await denied('192.0.2.0/24')).toBe(403);
    expect(await denied('198.51.100.0/24')).toBe(200);
    await settings.unset('denied_networks');
    await settings.reload();
  });

  it('asks nobody to sign in for a form of another site, with which no cookie comes', async () => {
    const site = await aWebsite('caddy');
    const form = { headers: { accept: 'text/html', 'sec-fetch-mode': 'navigate' } };
    const own = await httpClient().request('POST', `${site.origin}/save`, form);
    expect([own.status, own.text.includes('Sign in to continue')]).toEqual([401, true]);
    const foreign = { headers: { ...form.headers, 'sec-fetch-site': 'cross-site', origin: 'https://pay.example' } };
    const page = await httpClient().request('POST', `${site.origin}/save`, foreign);
    expect([page.status, page.text.includes('Not sent by this website')]).toEqual([403, true]);
  });

  it('takes changes from its own pages only, where it says so', async () => {
    const user = await aUser(idp.services);
    const visit = async (csrf?: 'reject') => {
      const paths = [{ path: '/hook', rule: 'public' as const }];
      const site = await aWebsite('caddy', { paths, ...(csrf && { csrf }) });
      const browser = httpClient();
      await opened(browser, site, '/', user);
      const send = async (path: string, headers: Record<string, string>, method = 'POST') =>
        (await browser.request(method, `${site.origin}${path}`, { headers })).status;
      return { site, send };
    };
    const other = { origin: 'http://evil.example', 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' };
    const { send: toAny } = await visit();
    expect(await toAny('/', other)).toBe(200);
    const { site, send } = await visit('reject');
    expect(await send('/', other)).toBe(403);
    expect(await send('/', { ...other, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).toBe(403);
    expect(await send('/', { origin: 'http://evil.example' }, 'DELETE')).toBe(403);
    expect(await send('/', { ...other, 'sec-websocket-key': 'x' }, 'GET')).toBe(403);
    expect(await send('/', other, 'GET')).toBe(200);
    expect(await send('/', { origin: site.origin, 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await send('/', { origin: site.origin })).toBe(200);
    expect(await send('/', { 'sec-fetch-site': 'none' })).toBe(200);
    expect(await send('/', {})).toBe(200);
    // Nobody is signed in there.
    expect(await send('/hook', other)).toBe(200);
  });

  it('opens although the address of its proxy has stored as much as one may', async () => {
    const site = await aWebsite('caddy');
    const user = await aUser(idp.services);
    const browser = httpClient();
    const callback = await completeSignIn(browser, `${site.origin}/`, {
      user,
      redirectUri: `${site.origin}/.gatehouse/`,
    });
    for (const address of ['127.0.0.1', '192.0.2.7']) {
      const charge = idp.services.storageBudget.forRequest(address, () => undefined);
      charge('any', 1e12);
      expect(idp.services.storageBudget.peek(address).allowed).toBe(false);
    }
    expect((await browser.follow(callback)).status).toBe(200);
    expect((await browser.get(`${site.origin}/again`)).status).toBe(200);
  });

  it('decides itself whether its host, and those below it, have https', async () => {
    const headers = askedHeaders(await aWebsite('traefik'), '/');
    const answer = await httpClient(idp.issuer).get('/forward-auth/traefik', { headers });
    expect(answer.location).toContain(`${idp.issuer}/authorize?`);
    expect(answer.headers['strict-transport-security']).toBeUndefined();
  });

  it.each([
    ['http://[::1]:8080', 'http', '[::1]:8080'],
    ['https://[2001:db8::1]:8443', 'https', '[2001:DB8:0::1]:8443'],
    ['https://ports.example:8443', 'https', 'Ports.EXAMPLE:8443'],
    ['https://ports.example', 'https', 'ports.example:443'],
  ])('at %s is found under %s and %s', async (url, scheme, host) => {
    const { applications } = idp.services;
    const { id } = await applications.createProxied({ name: url, url, proxy: 'traefik' });
    const ask = (headers: Record<string, string>) =>
      httpClient(idp.issuer).get('/forward-auth/traefik', {
        headers: { 'X-Forwarded-Method': 'GET', 'X-Forwarded-Uri': '/', ...headers },
      });
    const answer = await ask({ 'X-Forwarded-Proto': scheme, 'X-Forwarded-Host': host });
    expect(new URL(answer.location ?? '').searchParams.get('client_id')).toBe(new URL(url).origin);
    for (const other of [`${host}1`, `x${host}`, host.replace(/:\d+$/, ':1'), host.replace(/(?=:\d+$|$)/, '.')])
      expect((await ask({ 'X-Forwarded-Proto': scheme, 'X-Forwarded-Host': other })).status).toBeGreaterThanOrEqual(
        400,
      );
    await applications.remove(id);
  });

  it('is unknown at every other origin', async () => {
    const answer = await httpClient(idp.issuer).get('/forward-auth/caddy', {
      headers: {
        'X-Forwarded-Method': 'GET',
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': 'other.example',
        'X-Forwarded-Uri': '/',
        'Sec-Fetch-Mode': 'cors',
      },
    });
    expect(answer.status).toBe(403);
    expect(answer.json()).toMatchObject({ error: 'unknown_website' });
  });

  it('takes no cookie of another website', async () => {
    const [one, other] = [await aWebsite('caddy'), await aWebsite('traefik')];
    const user = await aUser(idp.services);
    const browser = httpClient();
    await opened(browser, one, '/', user);
    const port = (site: Website) => new URL(site.origin).port;
    const [, value] =
      new RegExp(`gatehouse_app_${port(one)}=([^;]+)`).exec(browser.cookies.headerFor(new URL(one.origin)) ?? '') ?? [];
    expect(value).toBeDefined();
    const cookie = `gatehouse_app_${port(other)}=${value}`;
    const answer = await httpClient().get(`${other.origin}/`, { headers: { cookie, 'sec-fetch-mode': 'cors' } });
    expect(answer.status).toBe(401);
  });

  it('answers no question about another website than its configuration names', async () => {
    const [one, other] = [
      await aWebsite('traefik', { paths: [{ path: '/', rule: 'public' }] }),
      await aWebsite('caddy'),
    ];
    const ask = (named: string) =>
      httpClient(idp.issuer).get(`/forward-auth/traefik?website=${named}`, { headers: askedHeaders(one, '/') });
    expect((await ask(one.origin)).status).toBe(200);
    // The proxy of the other one hands on all that it is asked for, whatever the host.
    expect((await ask(other.origin)).status).toBe(400);
  });

  it('has the scheme that its configuration names, where TLS ends before the proxy', async () => {
    const url = 'https://outer.example';
    const { id } = await idp.services.applications.createProxied({ name: 'Outer', url, proxy: 'caddy' });
    const about = { 'X-Forwarded-Method': 'GET', 'X-Forwarded-Host': 'outer.example', 'X-Forwarded-Uri': '/' };
    for (const headers of [about, { ...about, 'X-Forwarded-Proto': 'http' }]) {
      const answer = await httpClient(idp.issuer).get(`/forward-auth/caddy?website=${url}`, { headers });
      expect(new URL(answer.location ?? '').searchParams.get('redirect_uri')).toBe(`${url}/.gatehouse/callback`);
      expect(answer.setCookie[0]).toMatch(/^__Host-gatehouse_app=.*; secure$/);
    }
    await idp.services.applications.remove(id);
  });

  it('has no code that anybody else can redeem', async () => {
    // The tests before have signed in as often as one address may.
    const { settings } = idp.services;
    await settings.set('rate_limits', false);
    await settings.reload();
    const site = await aWebsite('caddy');
    const [user, browser] = [await aUser(idp.services), httpClient()];
    await opened(browser, site, '/', user);
    const redirectUri = `${site.origin}/.gatehouse/callback`;
    const verifier = 'v'.repeat(43);
    const answerTo = async (more: Record<string, string>) => {
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: site.origin,
        redirect_uri: redirectUri,
        scope: 'openid',
        code_challenge: challenge,
        code_challenge_method: 'S256',
        ...more,
      });
      const page = await completeSignIn(browser, `${idp.issuer}/authorize?${query}`, { user, redirectUri });
      return page.location ?? page.text;
    };
    const [, code = ''] = /[?&]code=([^&]+)/.exec(await answerTo({})) ?? [];
    expect(code).not.toBe('');
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
    const redeemed = await httpClient(idp.issuer).post('/token', { form: { ...form, client_id: site.origin } });
    expect([redeemed.status, redeemed.json().error]).toEqual([401, 'invalid_client']);
    for (const mode of ['fragment', 'form_post', 'jwt'])
      expect(await answerTo({ response_mode: mode })).not.toMatch(/[?&#]code=|name="code"/);
    await settings.unset('rate_limits');
    await settings.reload();
  });

  it.each(['/@me/', '/%40me/', '/%40%6De/x', '/%40Me', '/a(b)', '/a%28b%29', '/a(b)/'])(
    'a rule that closes a part counts for %s, as the backend decodes it',
    async (path) => {
      await idp.services.roles.create({ name: 'nobody' }).catch(() => undefined);
      const rule = { roles: ['nobody'] };
      const paths = [
        { path: '/', rule: 'public' as const },
        { path: '/@me/', rule },
        { path: '/a(b)', rule },
      ];
      const site = await aWebsite('traefik', { paths });
      const answer = await httpClient(idp.issuer).get('/forward-auth/traefik', {
        headers: { ...askedHeaders(site, path), 'Sec-Fetch-Mode': 'cors' },
      });
      expect(answer.status).toBe(401);
    },
  );

  it('takes a long path for a rule, or rejects it, without delay', () => {
    const declared = (path: string) =>
      proxiedApplication.safeParse({
        name: 'Wiki',
        url: 'https://wiki.example',
        proxy: 'caddy',
        paths: [{ path, rule: 'public' }],
      });
    for (const path of ['/', '/a', '/a/', '/a/b.c', `/${'a'.repeat(500)}`]) expect(declared(path).success).toBe(true);
    const started = performance.now();
    for (const path of ['', 'a/', '//', '/a//b', '/../', `/${'a'.repeat(500)}%`])
      expect(declared(path).success).toBe(false);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it.each([
    '/..%2fadmin',
    '/a/../admin',
    '//admin',
    '/a;x/b',
    '/%5cadmin',
    '/%2e%2e/admin',
    '/a%00',
    '/%252e%252e/',
    '/.%09./',
    '/%c0%ae%c0%ae%c0%af',
    '/a%2',
  ])('with path rules rejects the ambiguous path %s', async (path) => {
    const site = await aWebsite('traefik', { paths: [{ path: '/admin/', rule: 'mfa' }] });
    const headers = askedHeaders(site, path);
    expect((await httpClient(idp.issuer).get('/forward-auth/traefik', { headers })).status).toBe(400);
  });
});

describe('the declaration of a website', () => {
  it.each<[Partial<Declared>, { path: (string | number)[]; code: string }]>([
    [{ url: 'https://wiki.example.com/a' }, { path: ['url'], code: 'site-url' }],
    [{ url: 'https://wiki.example.com.' }, { path: ['url'], code: 'site-host' }],
    [{ url: 'https://*.apps.example.com' }, { path: ['url'], code: 'site-host' }],
    [{ depends_on: ['https://api.example.com.'] }, { path: ['depends_on', 0], code: 'site-host' }],
    [{ paths: [{ path: '/.gatehouse/', rule: 'public' }] }, { path: ['paths', 0, 'path'], code: 'path-reserved' }],
    [{ paths: [{ path: '/.Gatehouse', rule: 'public' }] }, { path: ['paths', 0, 'path'], code: 'path-reserved' }],
    [{ headers: { 'X User': 'email' } }, { path: ['headers', 'X User'], code: 'header-name' }],
    [{ headers: { 'X-User': 'email', Cookie: 'email' } }, { path: ['headers', 'Cookie'], code: 'header-of-request' }],
    [{ headers: { 'X-User': 'email', 'x-user': 'name' } }, { path: ['headers'], code: 'unique' }],
  ])('%j is a fault that names what is wrong', async (declared, found) => {
    const whole = { name: 'Wiki', url: 'https://wiki.example.com', proxy: 'caddy' as const, ...declared };
    const made = async () => idp.services.applications.createProxied(whole);
    await expect(made()).rejects.toMatchObject({ code: 'invalid_input', faults: [found] });
  });

  it('names every header that may not be about the user, and takes those of X-Forwarded-* that are', async () => {
    const people = ['User', 'Login', 'Name', 'Email', 'Groups', 'Preferred-Username'].map(
      (name) => `X-Forwarded-${name}`,
    );
    const others = [
      'X-Forwarded-For',
      'X-Forwarded',
      'X-Forwarded-User-Agent',
      'X-Forwarded-Users',
      'X User',
      'Cookie',
    ];
    const make = async (names: string[]) =>
      idp.services.applications.createProxied({
        name: 'Wiki',
        url: 'https://own-headers.example.com',
        proxy: 'caddy',
        headers: Object.fromEntries(names.map((name) => [name, 'email' as const])),
      });
    await expect(make([...people, ...others])).rejects.toMatchObject({
      faults: others.map((name) => ({ path: ['headers', name] })),
    });
    const application = await make(people);
    for (const proxy of proxyKinds) {
      const registered = { ...application, metadata: { ...application.metadata, proxy } } as ProxiedApplication;
      const { text } = proxyConfiguration(registered, 'https://id.example.com');
      for (const name of people) expect(text.toLowerCase()).toContain(name.toLowerCase());
    }
  });
});
