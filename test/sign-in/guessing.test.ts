// Password guessing over HTTP: the lockout, with the same wait for known and unknown names.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Application, anApplication, authorizeUrl, redirectUri } from '../oidc/support.ts';
import { testClock } from '../support/clock.ts';
import { aUser } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { solvedCaptcha } from '../support/pages/captcha.ts';

const clock = testClock();
let idp: TestIdp;
let app: Application;

beforeAll(async () => {
  // Each test guesses from its own network address, as a proxy would report it.
  idp = await startIdp({ now: clock.now, environment: { TRUST_PROXY: '1', SMTP_URL: 'smtp://127.0.0.1:9' } });
  app = await anApplication(idp);
});
afterAll(() => idp?.stop());

let machine = 0;

/** Tries passwords until the server no longer checks them. */
async function guess(username: string, tries: number, password = 'a wrong password it is'): Promise<Page[]> {
  machine += 1;
  const browser = httpClient(idp.issuer, { headers: { 'x-forwarded-for': `198.51.100.${machine}` } });
  const form = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
  const pages: Page[] = [];
  for (let count = 0; count < tries; count += 1) {
    pages.push(await browser.submit(form, { username, password, altcha: await solvedCaptcha(idp) }));
  }
  return pages;
}

describe('password guessing', () => {
  it('ends in a page with the time to wait, for known and unknown names alike', async () => {
    const user = await aUser(idp.services);
    for (const name of [user.username, 'nobody.here']) {
      const pages = await guess(name, 7);
      expect(pages.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429, 429]);
      const last = pages.at(-1);
      const seconds = Number(last?.headers['retry-after']);
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(15 * 60);
      expect(last?.text).toContain('Too many attempts');
      expect(last?.text).toMatch(/Wait \d+ (second|minute)/);
      expect(last?.text).toContain('Unlock by email');
      expect(last?.forms[0]?.fields).toMatchObject({ username: name, password: '' });
    }
  });

  it('ends in a sign-in page that says when to try again where too many people sign in at once, and keeps the username', async () => {
    const user = await aUser(idp.services);
    const { lockout } = idp.services;
    const { attempt } = lockout;
    lockout.attempt = async () => ({ outcome: 'busy', retryAfterSeconds: 3 });
    const [busy] = await guess(user.username, 1, user.password).finally(() => {
      lockout.attempt = attempt;
    });
    expect([busy?.status, busy?.headers['retry-after']]).toEqual([503, '3']);
    expect(busy?.text).toContain('Try again in a few seconds');
    expect(busy?.forms[0]?.fields).toMatchObject({ username: user.username, password: '' });
    expect((await guess(user.username, 1, user.password))[0]?.status).toBe(303);
  });

  it('rejects the right password during the lockout, and accepts it afterwards', async () => {
    const user = await aUser(idp.services);
    await guess(user.username, 6);
    const [during] = await guess(user.username, 1, user.password);
    expect(during?.status).toBe(429);
    clock.advance({ minutes: 16 });
    const [after] = await guess(user.username, 1, user.password);
    expect(after?.status).toBe(303);
    expect(after?.location).not.toContain(redirectUri);
  });

  it('gets no more tries in parallel', async () => {
    const user = await aUser(idp.services);
    machine += 1;
    const browser = httpClient(idp.issuer, { headers: { 'x-forwarded-for': `198.51.100.${machine}` } });
    const form = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
    const pages = await Promise.all(
      Array.from({ length: 15 }, async () =>
        browser.submit(form, {
          username: user.username,
          password: 'a wrong password it is',
          altcha: await solvedCaptcha(idp),
        }),
      ),
    );
    expect(pages.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(pages.filter(({ status }) => status === 429)).toHaveLength(10);
  });

  it('is counted together under the username and the email address of one account', async () => {
    const user = await aUser(idp.services);
    const email = user.account.email ?? '';
    for (const login of [user.username, email, user.username, email, user.username]) {
      expect((await guess(login, 1))[0]?.status).toBe(401);
    }
    // The right password gets the response to a wrong one, as an unknown address does, so that it does not tell of the account.
    const [locked] = await guess(email, 1, user.password);
    expect(locked?.status).toBe(401);
    expect(locked?.text).toContain('Unlock by email');
    const other = await aUser(idp.services);
    await guess(other.username, 6);
    expect((await guess(other.account.email ?? '', 1, other.password))[0]?.status).toBe(401);
    clock.advance({ minutes: 16 });
    expect((await guess(email, 1, user.password))[0]?.status).toBe(303);
  });

  it('does not include simultaneous correct sign-ins from one address', async () => {
    machine += 1;
    const users = await Promise.all(Array.from({ length: 24 }, () => aUser(idp.services)));
    const headers = { 'x-forwarded-for': `198.51.100.${machine}` };
    const pages = await Promise.all(
      users.map(async ({ username, password }) => {
        const browser = httpClient(idp.issuer, { headers });
        const form = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
        return browser.submit(form, { username, password });
      }),
    );
    expect(pages.map(({ status }) => status)).toEqual(users.map(() => 303));
  });

  it('is limited from one network address over many names too', async () => {
    machine += 1;
    const browser = httpClient(idp.issuer, { headers: { 'x-forwarded-for': `198.51.100.${machine}` } });
    const form = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
    const statuses: number[] = [];
    for (let count = 0; count < 32; count += 1) {
      const fields = { username: `name${count}`, password: 'a wrong password it is', altcha: await solvedCaptcha(idp) };
      statuses.push((await browser.submit(form, fields)).status);
    }
    expect(statuses).toEqual([...Array(30).fill(401), 429, 429]);
  });

  it('locks neither other accounts nor other users of the same network address', async () => {
    const user = await aUser(idp.services);
    await guess('another.user', 6);
    const [page] = await guess(user.username, 1, user.password);
    expect(page?.status).toBe(303);
  });
});
