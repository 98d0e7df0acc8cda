// What a real browser does with the answers for each kind of request: pages, forms, frames, scripts and WebSockets.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { signIn } from '../admin/console/real-browser.ts';
import { type Page, phone, screenshot } from '../support/browser/browser.ts';
import { looksRight, openPage } from '../support/browser/pages.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Website, website } from '../support/website.ts';

const pages = {
  '/form':
    '<!doctype html><title>Form</title><form method="post" action="/save"><textarea name="note"></textarea><button>Save</button></form>',
  '/public/outside':
    '<!doctype html><meta name="viewport" content="width=device-width"><title>Outside</title><iframe src="/inside" title="inside"></iframe>',
  '/inside': '<!doctype html><title>Inside</title><p>The inside</p>',
  '/app': '<!doctype html><title>App</title><p id="app">The app</p>',
};
let idp: TestIdp;
let site: Website;
let user: TestUser;
beforeAll(async () => {
  idp = await startIdp();
  site = await website('traefik', () => idp.issuer, ['Remote-User'], { pages });
  const paths = [{ path: '/public/', rule: 'public' }];
  await idp.services.applications.createProxied({
    name: 'Wiki',
    url: site.origin,
    proxy: 'traefik',
    paths,
    csrf: 'reject',
  });
});
afterAll(async () => {
  await site?.close();
  await idp?.stop();
});
beforeEach(async () => {
  user = await aUser(idp.services);
});

async function opened(path: string, options?: Parameters<typeof openPage>[0]): Promise<Page> {
  const page = await openPage(options);
  await page.goto(`${site.origin}${path}`);
  await signIn(page, user);
  await page.waitForURL(`${site.origin}${path}`);
  return page;
}

/** Ends the sessions everywhere, as a sign-out in another browser does. */
const endSessions = () => idp.services.endSession.all(user.account.id, 'ended-by-admin');

describe('a person whose session ended', () => {
  it('keeps a form: signs in in a new tab, reloads, and the browser sends it again', async () => {
    const page = await opened('/form');
    await page.fill('[name=note]', 'A long note');
    await endSessions();
    await page.click('button');
    await page.waitForSelector('h1:has-text("Sign in to continue")');
    await looksRight(page, 'website-form');
    const [tab] = await Promise.all([page.waitForEvent('popup'), page.click('main a')]);
    await signIn(tab, user);
    await tab.waitForURL(`${site.origin}/form`);
    await page.reload();
    await page.waitForSelector('body:has-text("remote-user")');
    expect(site.received.at(-1)).toMatchObject({ method: 'POST', url: '/save', body: 'note=A+long+note' });
    expect(site.received.at(-1)?.headers['remote-user']).toBe(user.username);
  });

  it('goes on in a single-page application that opens the address of the sign-in', async () => {
    const page = await opened('/app');
    await endSessions();
    const answer = await page.evaluate(async () => {
      const response = await fetch('/api/notes', { method: 'POST', body: 'x' });
      return { status: response.status, type: response.headers.get('content-type'), body: await response.json() };
    });
    expect(answer).toMatchObject({ status: 401, body: { error: 'login_required' } });
    expect(answer.type).toContain('application/json');
    await page.goto(answer.body.login_url);
    await signIn(page, user);
    await page.waitForURL(`${site.origin}/app`);
    expect(await page.evaluate(async () => (await fetch('/api/notes', { method: 'POST', body: 'x' })).status)).toBe(
      200,
    );
  });

  it('leaves a frame for the whole window to sign in', async () => {
    const page = await openPage(phone);
    await page.goto(`${site.origin}/public/outside`);
    const link = page.frameLocator('iframe').locator('main a');
    await link.waitFor();
    await screenshot(page, 'website-frame');
    await link.click();
    await page.waitForURL(/\/signin\//);
    await signIn(page, user);
    await page.waitForURL(`${site.origin}/public/outside`);
    await page.frameLocator('iframe').locator('text=The inside').waitFor();
  });
});

describe('a page on the host of the website', () => {
  it('is in the language of the browser, from right to left too', async () => {
    const page = await opened('/form', { ...phone, locale: 'ar' });
    await endSessions();
    await page.click('button');
    await page.waitForSelector('html[dir=rtl] h1');
    await looksRight(page, 'website-form-ar');
  });

  it('stands in a frame of another website, and says nothing about other hosts', async () => {
    const frame = {
      headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'same-site' },
    };
    const { headers } = await httpClient().get(`${site.origin}/inside`, frame);
    expect(headers['x-frame-options']).toBeUndefined();
    expect(headers['content-security-policy']).not.toContain('frame-ancestors');
    expect(headers['strict-transport-security']).toBeUndefined();
  });
});

describe('a website that fetches from another one', () => {
  it('is signed in there too, by redirects that nobody sees, and signed out with it', async () => {
    const [closed, api] = [
      await website('caddy', () => idp.issuer, []),
      await website('envoy', () => idp.issuer, ['Remote-User']),
    ];
    onTestFinished(() => Promise.all([closed.close(), api.close()]).then(() => undefined));
    const { applications, roles } = idp.services;
    await roles.create({ name: 'nobody-has-it' });
    const access = { roles: ['nobody-has-it'] };
    await applications.createProxied({ name: 'Closed', url: closed.origin, proxy: 'caddy', access });
    await applications.createProxied({ name: 'API', url: api.origin, proxy: 'envoy' });
    const fetched = async (page: Page) => {
      const before = api.received.length;
      await page.evaluate(async (url) => {
        await fetch(url, { mode: 'no-cors', credentials: 'include' });
      }, `${api.origin}/notes`);
      return api.received.slice(before).map(({ headers }) => headers['remote-user']);
    };
    expect(await fetched(await opened('/app'))).toEqual([]);

    const known = await applications.find(site.origin);
    if (known?.protocol !== 'proxy') throw new Error('no website');
    const declared = { name: known.name, url: site.origin, ...known.metadata };
    const depends_on = [closed.origin, 'https://unknown.example.com', api.origin];
    await applications.update('proxy', known.id, { ...declared, depends_on });
    const page = await opened('/app');
    expect(await fetched(page)).toEqual([user.username]);
    // Signed in there, with a session that is not here: the second sign-in goes through.
    await page.context().clearCookies({ name: new RegExp(`_${new URL(site.origin).port}$`) });
    await page.goto(`${site.origin}/app`);
    expect(page.url()).toBe(`${site.origin}/app`);
    expect(await fetched(page)).toEqual([user.username]);
    await endSessions();
    expect(await fetched(page)).toEqual([]);
    await applications.update('proxy', known.id, declared);
  });
});

describe('a preflight request (CORS), which carries no cookie', () => {
  it('reaches a website that allows it, and then the request of the user', async () => {
    const api = await website('traefik', () => idp.issuer, ['Remote-User']);
    onTestFinished(() => api.close());
    const declared = { name: 'Notes', url: api.origin, proxy: 'traefik' } as const;
    const { id } = await idp.services.applications.createProxied(declared);
    const page = await opened('/app');
    // A sign-in there, without a page.
    await page.goto(`${api.origin}/`);
    await page.goto(`${site.origin}/app`);
    const put = async () => {
      const before = api.received.length;
      const result = await page.evaluate(
        (url) =>
          fetch(url, { method: 'PUT', body: 'x', credentials: 'include' }).then(
            ({ status }) => status,
            () => 0,
          ),
        `${api.origin}/notes`,
      );
      return [result, ...api.received.slice(before).map(({ method, headers }) => [method, headers['remote-user']])];
    };
    expect(await put()).toEqual([0]);
    await idp.services.applications.update('proxy', id, { ...declared, preflight: 'allow' });
    expect(await put()).toEqual([200, ['OPTIONS', ''], ['PUT', user.username]]);
  });
});

describe('a WebSocket', () => {
  const connect = (page: Page) =>
    page.evaluate(
      (url) =>
        new Promise<string>((resolve) => {
          const socket = new WebSocket(url);
          socket.onmessage = ({ data }) => resolve(`said ${data}`);
          socket.onerror = () => resolve('refused');
        }),
      `${site.origin.replace('http', 'ws')}/socket`,
    );

  it('opens for who is signed in, and is refused without a session, and from another website', async () => {
    const page = await opened('/app');
    expect(await connect(page)).toBe(`said ${user.username}`);
    const elsewhere = await page.context().newPage();
    await elsewhere.goto(idp.issuer);
    expect(await connect(elsewhere)).toBe('refused');
    await endSessions();
    expect(await connect(page)).toBe('refused');
  });
});

describe('a form of another website', () => {
  it('is rejected with a page that says so', async () => {
    const page = await opened('/app');
    const elsewhere = await page.context().newPage();
    await elsewhere.route('http://127.0.0.1:1/evil', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<form method="post" action="${site.origin}/save"><button>Win</button></form>`,
      }),
    );
    await elsewhere.goto('http://127.0.0.1:1/evil');
    const before = site.received.length;
    await elsewhere.click('button');
    await elsewhere.waitForSelector('h1:has-text("Not sent by this website")');
    await looksRight(elsewhere, 'website-elsewhere');
    expect(site.received.length).toBe(before);
  });
});
