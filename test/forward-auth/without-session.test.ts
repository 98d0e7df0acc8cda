// More questions without a session than the server has time for.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { completeSignIn } from '../oidc/support.ts';
import { openPage } from '../support/browser/pages.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { openWebsite, type Website, website } from '../support/website.ts';

let clock: TestClock;
let idp: TestIdp;
let site: Website;
let user: TestUser;

beforeAll(async () => {
  // Stands still: a slow test stays within its second.
  clock = testClock(new Date());
  idp = await startIdp({ now: clock.now });
  site = await website('caddy', () => idp.issuer, ['Remote-User']);
  await idp.services.applications.createProxied({
    name: 'Wiki',
    url: site.origin,
    proxy: 'caddy',
    paths: [{ path: '/public/', rule: 'public' }],
    app_passwords: true,
  });
  user = await aUser(idp.services);
});
afterAll(async () => {
  await site?.close();
  await idp?.stop();
});

const page = { 'sec-fetch-mode': 'navigate', accept: 'text/html' };
const madeUp = () => {
  const value = () => randomBytes(32).toString('base64url');
  return `gatehouse_app_${new URL(site.origin).port}=${value()}.${value()}`;
};
const ask = (headers: Record<string, string>, path = '/') =>
  httpClient().get(`${site.origin}${path}`, { headers: { ...page, ...headers } });

/** What one address may have of all, where no other asks. */
const OF_ADDRESS = limits.questionsWithoutSession.perSecond / 4;

/** Sends all, a few at a time. */
async function each(times: number, send: () => Promise<void>): Promise<void> {
  let left = times;
  const sendAll = async () => {
    for (; left > 0; await send()) left -= 1;
  };
  await Promise.all([sendAll(), sendAll(), sendAll(), sendAll()]);
}

/** As many as the limit of an address, in the next second, and each gets an answer. */
async function fill(cookie: () => string): Promise<void> {
  clock.advance({ seconds: 1 });
  await each(OF_ADDRESS, async () => expect((await ask({ cookie: cookie() })).status).toBe(302));
}

describe('a flood of made-up cookies', () => {
  it('is rejected beyond the limit of a second, and answered again in the next one', async () => {
    await fill(madeUp);
    for (const cookie of [madeUp(), '']) {
      const rejected = await ask({ cookie });
      expect(rejected.status).toBe(429);
      expect(rejected.headers['retry-after']).toBe(String(limits.questionsWithoutSession.retrySeconds));
      expect(rejected.headers['set-cookie']).toBeUndefined();
    }
    clock.advance({ seconds: 1 });
    expect((await ask({ cookie: madeUp() })).status).toBe(302);
  });

  it('from one address leaves first visits from another one their answers', async () => {
    await fill(madeUp);
    const { host } = new URL(site.origin);
    const asked = {
      'X-Forwarded-Method': 'GET',
      'X-Forwarded-Proto': 'http',
      'X-Forwarded-Host': host,
      'X-Forwarded-Uri': '/',
    };
    const status = async (address: string) => {
      const headers = { ...page, ...asked, 'X-Forwarded-For': `203.0.113.7, ${address}` };
      return (await httpClient(idp.issuer).get('/forward-auth/caddy', { headers })).status;
    };
    // The one that the proxy of the test names.
    expect(await status('192.0.2.7')).toBe(429);
    expect(await status('203.0.113.9')).toBe(302);
    clock.advance({ seconds: 1 });
  });

  it('of requests that no proxy asks about leaves first visits their answers', async () => {
    clock.advance({ seconds: 1 });
    const direct = httpClient(idp.issuer);
    // The second one has a path that describes no request.
    for (const [target, status] of [
      ['/.gatehouse/x', 403],
      [`/.gatehouse/${'x'.repeat(8192)}`, 400],
    ] as const) {
      await each(limits.questionsWithoutSession.perSecond, async () =>
        expect((await direct.get(target)).status).toBe(status),
      );
      expect((await ask({})).status).toBe(302);
    }
  });

  it('keeps neither sessions nor programs nor public pages from an answer', async () => {
    const browser = httpClient();
    await openWebsite(browser, site.origin, '/', user);
    await fill(madeUp);
    expect((await browser.get(`${site.origin}/notes`, { headers: page })).status).toBe(200);
    expect((await ask({ cookie: madeUp() }, '/public/logo')).status).toBe(200);
    const authorization = `Basic ${Buffer.from('bo:wrong').toString('base64')}`;
    expect((await ask({ authorization })).json()).toMatchObject({ error: 'invalid_credential' });
    expect((await ask({ cookie: madeUp() })).status).toBe(429);
  });

  it('meets the limit at the own pages of a website too, also with a credential', async () => {
    await fill(madeUp);
    const authorization = `Basic ${Buffer.from('bo:wrong').toString('base64')}`;
    const asked: Record<string, string>[] = [{ cookie: madeUp() }, { authorization }, {}];
    for (const headers of asked) {
      const rejected = await ask(headers, '/.gatehouse/');
      expect(rejected.status).toBe(429);
      expect(rejected.headers['retry-after']).toBe(String(limits.questionsWithoutSession.retrySeconds));
    }
    clock.advance({ seconds: 1 });
    expect((await ask({ authorization }, '/.gatehouse/')).status).not.toBe(429);
  });

  it('keeps nobody who began a sign-in from its end', async () => {
    const browser = httpClient();
    const redirectUri = `${site.origin}/.gatehouse/`;
    const returned = await completeSignIn(browser, `${site.origin}/notes`, { user, redirectUri });
    await fill(madeUp);
    expect((await browser.follow(returned)).url).toBe(`${site.origin}/notes`);
  });

  it('leads a browser to the sign-in as soon as there is time', async () => {
    await fill(madeUp);
    const browser = await openPage();
    expect((await browser.goto(`${site.origin}/notes`))?.status()).toBe(429);
    clock.advance({ seconds: 1 });
    await browser.waitForSelector('input[name=password], input[name=username]');
  });
});

it('limits those who repeat the cookie of a session that has ended, which is looked up once', async () => {
  const browser = httpClient();
  const live = httpClient();
  const own = await aUser(idp.services);
  await openWebsite(browser, site.origin, '/', own);
  const [first] = await idp.services.sessions.list(own.account.id);
  await openWebsite(live, site.origin, '/', own);
  const cookie = browser.cookies.headerFor(new URL(site.origin));
  await idp.services.endSession.one(first?.uid ?? '', 'ended-by-admin');
  const find = vi.spyOn(idp.services.sql, 'query');
  await fill(() => cookie);
  expect(find.mock.calls.filter(([{ name }]) => name.startsWith('rp-sessions')).length).toBeLessThan(2);
  find.mockRestore();
  expect((await ask({ cookie })).status).toBe(429);
  expect((await live.get(`${site.origin}/`)).status).toBe(200);
});

it('leaves others their first visits where a few addresses have all that they may', async () => {
  clock.advance({ seconds: 1 });
  const { host } = new URL(site.origin);
  const status = async (address: string) => {
    const headers = {
      ...page,
      'X-Forwarded-Method': 'GET',
      'X-Forwarded-Proto': 'http',
      'X-Forwarded-Host': host,
      'X-Forwarded-Uri': '/',
      'X-Forwarded-For': address,
    };
    return (await httpClient(idp.issuer).get('/forward-auth/caddy', { headers })).status;
  };
  const askedFrom = async (address: (count: number) => string) => {
    for (let count = 0; count < OF_ADDRESS; count += 1) if ((await status(address(count))) !== 302) return count;
    return OF_ADDRESS;
  };
  // The last has a network of 48 bits.
  const found = await Promise.all([
    askedFrom(() => '198.51.100.1'),
    askedFrom(() => '198.51.100.2'),
    askedFrom(() => '198.51.100.3'),
    askedFrom(() => '198.51.100.4'),
    askedFrom((count) => `2001:db8:1:${count.toString(16)}::1`),
  ]);
  for (const count of found) expect(count).toBeLessThan(OF_ADDRESS);
  expect(await status('203.0.113.9')).toBe(302);
});

it('limits those who repeat the cookie of a sign-in that they began, too', async () => {
  const browser = httpClient();
  await browser.get(`${site.origin}/`, { headers: page });
  const cookie = browser.cookies.headerFor(new URL(site.origin));
  expect(cookie).toContain('gatehouse_app');
  await fill(() => cookie);
  expect((await ask({ cookie })).status).toBe(429);
  expect((await ask({ cookie: madeUp() })).status).toBe(302);
});

it('has nginx ask anew whose second question finds time again', async () => {
  // The second question comes in the next second.
  let questions = 0;
  const behindNginx = await website('nginx', () => {
    if (++questions % 2 === 0) clock.advance({ seconds: 1 });
    return idp.issuer;
  }, []);
  onTestFinished(() => behindNginx.close());
  await idp.services.applications.createProxied({ name: 'Notes', url: behindNginx.origin, proxy: 'nginx' });
  await fill(madeUp);
  const answer = await httpClient().get(`${behindNginx.origin}/`, { headers: page });
  expect([questions, answer.status, answer.location]).toEqual([2, 403, undefined]);
  expect(answer.text).toContain('http-equiv="refresh"');
});

it('answers nginx 403, which takes other statuses for a fault of the server', async () => {
  const url = { 'X-Original-URL': `${site.origin}/`, 'X-Original-Method': 'GET', 'X-Forwarded-For': '192.0.2.7' };
  const status = async () =>
    (await httpClient(idp.issuer).get('/forward-auth/nginx', { headers: { ...page, ...url } })).status;
  expect(await status()).toBe(401);
  await fill(madeUp);
  expect(await status()).toBe(403);
});
