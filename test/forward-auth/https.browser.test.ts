// Websites with https in a real browser, on a host each, as they are run: cookies with the prefix `__Host-`, behind proxies with TLS.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../admin/console/real-browser.ts';
import type { BrowserContext, Page } from '../support/browser/browser.ts';
import { desktop } from '../support/browser/browser.ts';
import { openPage } from '../support/browser/pages.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import type { Listening } from '../support/listen.ts';
import { aCertificate, tlsProxy } from '../support/tls.ts';
import { type Website, website } from '../support/website.ts';

let idp: TestIdp;
let front: Listening;
let [wikiServer, notesServer]: Website[] = [];
let [wiki, notes]: string[] = [];
let user: TestUser;

/** Browsers find every name below `localhost` on their own machine. */
const at = (name: string, { origin }: { origin: string }) => origin.replace('127.0.0.1', `${name}.localhost`);
const PAGE = { '/app': '<!doctype html><title>App</title><h1>App</h1>' };

beforeAll(async () => {
  const tls = await aCertificate('localhost');
  front = await tlsProxy(tls, () => idp.port);
  idp = await startIdp({ environment: { ISSUER: at('id', front), TRUST_PROXY: '1' } });
  const inner = () => `http://127.0.0.1:${idp.port}`;
  wikiServer = await website('caddy', inner, ['Remote-User'], { pages: PAGE, tls });
  notesServer = await website('nginx', inner, ['Remote-User'], { pages: PAGE, tls });
  [wiki, notes] = [at('wiki', wikiServer), at('notes', notesServer)];
  const { applications } = idp.services;
  await applications.createProxied({ name: 'Wiki', url: wiki, proxy: 'caddy' });
  await applications.createProxied({ name: 'Notes', url: notes, proxy: 'nginx' });
  user = await aUser(idp.services);
});
afterAll(async () => {
  for (const server of [wikiServer, notesServer, front]) await server?.close();
  await idp?.stop();
});

const hostOf = (origin = '') => new URL(origin).hostname;
const cookiesOf = async (context: BrowserContext, origin = '') =>
  (await context.cookies()).filter(({ domain }) => domain === hostOf(origin));
const userAt = async (page: Page, origin = '') => {
  await page.goto(`${origin}/`);
  return JSON.parse((await page.textContent('body')) ?? '').headers['remote-user'];
};
const statusAt = (page: Page, path = '/') =>
  page.evaluate(async (url) => (await fetch(url, { credentials: 'include' })).status, path);

async function signedIn(): Promise<Page> {
  const page = await openPage({ ...desktop, ignoreHTTPSErrors: true });
  await page.goto(`${wiki}/app`);
  expect(page.url()).toContain(`${idp.issuer}/signin`);
  await signIn(page, user);
  await page.waitForURL(`${wiki}/app`);
  return page;
}

it('each has a cookie of its own, which no other host can read or set', async () => {
  const page = await signedIn();
  const context = page.context();
  expect(await userAt(page, wiki)).toBe(user.username);
  // Without a page.
  expect(await userAt(page, notes)).toBe(user.username);
  const flags = { path: '/', secure: true, httpOnly: true, sameSite: 'Lax' };
  const own = await Promise.all([wiki, notes].map((origin) => cookiesOf(context, origin)));
  for (const cookies of own) {
    expect(cookies).toHaveLength(1);
    expect(cookies[0]).toMatchObject({
      ...flags,
      name: expect.stringMatching(/^__Host-gatehouse_app_\d+$/),
      domain: expect.not.stringMatching(/^\./),
    });
  }
  expect(own[0]?.[0]?.value).not.toBe(own[1]?.[0]?.value);
  // From the other website, for the domain that both share.
  await page.goto(`${notes}/app`);
  const name = `__Host-gatehouse_app_${new URL(wiki ?? '').port}`;
  for (const forged of [name, `\u2028${name}`, name.toLowerCase()])
    for (const domain of ['', '; domain=localhost', '; domain=wiki.localhost'])
      await page.evaluate(`document.cookie = '${forged}=${'a'.repeat(44)}; path=/; secure${domain}'`);
  expect(await userAt(page, wiki)).toBe(user.username);
  expect(await userAt(page, notes)).toBe(user.username);
});

it('two on one host, at two ports, have a session each', async () => {
  const sameHost = (notes ?? '').replace('notes.', 'wiki.');
  await idp.services.applications.createProxied({ name: 'Other port', url: sameHost, proxy: 'nginx' });
  const page = await signedIn();
  expect(await userAt(page, sameHost)).toBe(user.username);
  await page.goto(`${wiki}/app`);
  expect(page.url()).toBe(`${wiki}/app`);
  await page.goto(`${sameHost}/app`);
  expect(await statusAt(page, `${sameHost}/app`)).toBe(200);
  expect(await cookiesOf(page.context(), wiki)).toHaveLength(2);
  await page.goto(`${wiki}/app`);
  expect(await statusAt(page)).toBe(200);
});

it('the cookie of one opens no other one', async () => {
  const page = await signedIn();
  const [cookie] = await cookiesOf(page.context(), wiki);
  const other = await openPage({ ...desktop, ignoreHTTPSErrors: true });
  await other.context().addCookies([{ ...(cookie ?? expect.fail()), domain: hostOf(notes) }]);
  await other.goto(`${notes}/app`);
  expect(other.url()).toContain(`${idp.issuer}/signin`);
});

it('a WebSocket opens for who is signed in', async () => {
  const page = await signedIn();
  const open = () =>
    page.evaluate(
      (url) =>
        new Promise<string>((resolve) => {
          const socket = new WebSocket(url);
          socket.onmessage = ({ data }) => resolve(data);
          socket.onerror = () => resolve('rejected');
        }),
      `${wiki?.replace('https', 'wss')}/socket`,
    );
  expect(await open()).toBe(user.username);
  await page.context().clearCookies();
  expect(await open()).toBe('rejected');
});

it('a sign-out at one is one at the other', async () => {
  const page = await signedIn();
  await userAt(page, notes);
  await page.goto(`${notes}/app`);
  await page.evaluate(() => {
    const link = document.createElement('a');
    link.href = '/.gatehouse/logout';
    link.textContent = 'Log out';
    document.body.append(link);
  });
  await page.getByRole('link', { name: 'Log out' }).click();
  await page.getByText('You’re signed out').waitFor();
  for (const origin of [wiki, notes]) {
    await page.goto(`${origin}/app`);
    expect(page.url()).toContain(`${idp.issuer}/signin`);
  }
});

it('scripts and pages of the website under http get nothing', async () => {
  const page = await signedIn();
  expect(await statusAt(page, '/api')).toBe(200);
  const { port } = new URL(wiki ?? '');
  const answer = await fetch(`http://127.0.0.1:${idp.port}/forward-auth/caddy`, {
    headers: {
      'x-forwarded-method': 'GET',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': `wiki.localhost:${port}`,
      'x-forwarded-uri': '/',
      cookie: (await cookiesOf(page.context(), wiki)).map(({ name, value }) => `${name}=${value}`).join('; '),
    },
  });
  expect(answer.status).toBe(403);
});
