// Several tabs of the server's own pages sign in at the same moment: each answer finds the request of its own tab.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

const home = (url: string) => !/\/(authorize|signin|auth)\b/.test(new URL(url).pathname);

describe('the sign-in to the account pages', () => {
  it('returns each of two tabs to its own page, and accepts no callback twice', async () => {
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const first = await browser.follow(await browser.get('/login?return_to=/account/password'));
    const second = await browser.follow(await browser.get('/login?return_to=/account/sessions'));
    const fields = { username: user.username, password: user.password };
    const callback = (url: string) => new URL(url).pathname === '/auth/callback';
    const ready = await browser.follow(await browser.submit(first, fields), callback);
    expect((await browser.follow(await browser.submit(second, fields), home)).location).toBe(
      `${idp.issuer}/account/sessions`,
    );
    expect((await browser.follow(ready, home)).location).toBe(`${idp.issuer}/account/password`);
    expect((await browser.get(ready.location ?? '')).status).toBe(400);
  });

  it('returns tabs that begin with the same cookies to their own pages, as when a browser restores them', async () => {
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const form = await browser.follow(await browser.get('/login'));
    await browser.follow(await browser.submit(form, { username: user.username, password: user.password }), home);
    const ways = ['/account/password', '/account/sessions', '/account/profile'];
    const begun = await Promise.all(ways.map((way) => browser.get(`/login?return_to=${way}`)));
    const ends = [];
    for (const answer of begun) ends.push((await browser.follow(answer, home)).location);
    expect(ends).toEqual(ways.map((way) => `${idp.issuer}${way}`));
  });

  it('remembers the newest of many tabs, even with a long address to return to', async () => {
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const way = `/account?${'x'.repeat(900)}`;
    const pages = [];
    for (let tab = 0; tab < 7; tab += 1) pages.push(await browser.get(`/login?return_to=${way}${tab}`));
    const pending = browser.cookies
      .all()
      .filter(({ name, value }) => /^gatehouse_signin_[\w-]{8}$/.test(name) && value);
    expect(pending.length).toBeGreaterThan(2);
    expect(pending.reduce((sum, { value }) => sum + value.length, 0)).toBeLessThan(6000);
    const form = await browser.follow(pages.at(-1) ?? expect.fail());
    const answer = await browser.submit(form, { username: user.username, password: user.password });
    expect((await browser.follow(answer, home)).location).toBe(`${idp.issuer}${way}6`);
  });
});
