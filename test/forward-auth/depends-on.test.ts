// A website that depends on others: a sign-in passes through them, and they learn nothing about it but that they get a cookie.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { completeSignIn } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Website, website } from '../support/website.ts';

let idp: TestIdp;
let [site, closed, one, other]: Website[] = [];
let user: TestUser;
beforeAll(async () => {
  idp = await startIdp();
  [site, closed, one, other] = await Promise.all(
    (['nginx', 'traefik', 'caddy', 'envoy'] as const).map((kind) => website(kind, () => idp.issuer, ['Remote-User'])),
  );
  const { applications, roles } = idp.services;
  await roles.create({ name: 'nobody-has-it' });
  const depends_on = [closed, one, other].map((there) => originOf(there));
  await applications.createProxied({ name: 'App', url: originOf(site), proxy: 'nginx', depends_on });
  const access = { roles: ['nobody-has-it'] };
  await applications.createProxied({ name: 'Closed', url: originOf(closed), proxy: 'traefik', access });
  await applications.createProxied({ name: 'One', url: originOf(one), proxy: 'caddy' });
  await applications.createProxied({ name: 'Other', url: originOf(other), proxy: 'envoy' });
  user = await aUser(idp.services);
});
afterAll(async () => {
  for (const there of [site, closed, one, other]) await there?.close();
  await idp?.stop();
});

const originOf = (there: Website | undefined) => there?.origin ?? expect.fail('no website');
const wanted = '/notes/secret-plan?view=all&q=%22x%22';

/** Every answer on the way to the page, after the sign-in. */
async function wayTo(browser: HttpClient, page = wanted): Promise<Page[]> {
  const origin = originOf(site);
  const redirectUri = `${origin}/.gatehouse/`;
  let answer = await completeSignIn(browser, `${origin}${page}`, { user, redirectUri });
  const found: Page[] = [];
  while (answer.location && found.length < 20) {
    answer = await browser.get(answer.location);
    found.push(answer);
  }
  return found;
}

const asProgram = { headers: { 'sec-fetch-mode': 'cors' } };

it('is signed in there too, and leads to the page that was wanted', async () => {
  const browser = httpClient();
  const last = (await wayTo(browser)).at(-1);
  expect([last?.status, last?.url]).toEqual([200, `${originOf(site)}${wanted}`]);
  for (const there of [one, other]) expect((await browser.get(`${originOf(there)}/`, asProgram)).status).toBe(200);
  expect((await browser.get(`${originOf(closed)}/`, asProgram)).status).toBe(401);
});

it('opens when the page is loaded again, while the proxy of another one is down', async () => {
  const browser = httpClient();
  const origin = originOf(site);
  const callback = await completeSignIn(browser, `${origin}/`, { user, redirectUri: `${origin}/.gatehouse/` });
  // The browser is led to the other one, and gets no answer.
  expect((await browser.get(callback.location ?? '')).location).toContain('/.gatehouse/join?');
  expect((await browser.get(`${origin}${wanted}`)).status).toBe(200);
});

it('the others see neither the page nor the website nor each other, and not how long the page is', async () => {
  const lengths = new Set<number>();
  for (const page of ['/', wanted, `/${'a'.repeat(900)}`]) {
    const seen = (await wayTo(httpClient(), page)).filter(({ url }) =>
      [one, other].some((there) => there && url.startsWith(there.origin)),
    );
    expect(seen.map(({ url }) => new URL(url).pathname)).toEqual(
      ['join', 'callback', 'join', 'callback'].map((name) => `/.gatehouse/${name}`),
    );
    for (const { url, location = '', setCookie, text } of seen) {
      expect([text, new URL(location).origin]).toEqual(['', idp.issuer]);
      expect(setCookie).toHaveLength(1);
      const own = new URL(url).origin;
      const all = decodeURIComponent(decodeURIComponent(`${url} ${location} ${setCookie}`));
      const others = [site, one, other].map(originOf).filter((origin) => origin !== own);
      for (const part of ['secret-plan', 'aaaa', ...others]) expect(all).not.toContain(part);
      lengths.add(new URL(location).searchParams.get('chain')?.length ?? 0);
    }
  }
  // Those of the redirects to the sign-in have no chain, which the state contains.
  expect([...lengths].filter((length) => length > 0)).toHaveLength(1);
});

it('who repeats what another website saw, in another browser or for another user, gets nowhere', async () => {
  const seen = (await wayTo(httpClient())).flatMap(({ url, location = '' }) => [url, location]);
  const urls = seen.filter((url) => url.startsWith(originOf(one)) || url.includes('/forward-auth/next'));
  expect(urls.length).toBeGreaterThan(4);
  const another = httpClient();
  await completeSignIn(another, `${originOf(other)}/`, {
    user: await aUser(idp.services),
    redirectUri: `${originOf(other)}/.gatehouse/`,
  });
  for (const browser of [httpClient(), another])
    for (const url of urls) {
      let answer = await browser.get(url);
      for (let hops = 0; answer.location && hops < 10; hops += 1) {
        expect(answer.location).not.toContain('secret-plan');
        expect(answer.location.startsWith(originOf(site))).toBe(false);
        answer = await browser.get(answer.location);
      }
    }
});

it('a chain that was made up leads nowhere', async () => {
  const answer = await httpClient().get(`${idp.issuer}/forward-auth/next?chain=x`);
  expect([answer.status, answer.location]).toEqual([303, `${idp.issuer}/account`]);
  const there = await httpClient().get(`${originOf(one)}/.gatehouse/join?chain=x`);
  expect(there.location).toBe(`${originOf(one)}/`);
});

it('a page whose address is too long is replaced by the first one', async () => {
  const last = (await wayTo(httpClient(), `/${'a'.repeat(1450)}`)).at(-1);
  expect([last?.status, last?.url]).toEqual([200, `${originOf(site)}/`]);
});
