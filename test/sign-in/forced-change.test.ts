// A password that an administrator set is changed at the first sign-in, to one that fulfils the rules.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Application, anApplication, authorizeUrl } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { enter as enterApp, expectNotSignedIn, expectSignedIn, isThere } from '../support/pages/enter.ts';

let idp: TestIdp;
let app: Application;

beforeAll(async () => {
  idp = await startIdp();
  app = await anApplication(idp);
});
afterAll(() => idp?.stop());

const enter = (username: string, password: string, browser?: HttpClient) =>
  enterApp(idp, { clientId: app.clientId, username, password }, browser);

describe('a password that must be changed', () => {
  async function atChange(): Promise<{ user: TestUser; browser: HttpClient; page: Page }> {
    const user = await aUser(idp.services, { mustChange: true });
    const browser = httpClient(idp.issuer);
    return { user, browser, page: await enter(user.username, user.password, browser) };
  }
  const NEW = 'quite another pass phrase of mine';

  it('is changed before the sign-in continues, and the new one works', async () => {
    const { user, browser, page } = await atChange();
    expect(page.text).toContain('autocomplete="new-password"');
    const changed = await browser.submit(page, { password: NEW });
    expectSignedIn(await browser.follow(changed, isThere));
    expectNotSignedIn(await enter(user.username, user.password));
    expectSignedIn(await enter(user.username, NEW));
  });

  it('is not changed to a short or common one, to the user’s name, or to itself', async () => {
    const { user, browser, page } = await atChange();
    const rejectedPasswords = [
      '',
      'short',
      'passwordpassword',
      user.username.repeat(3),
      user.password,
      'x'.repeat(300),
      'a\0 pass phrase with a NUL in it',
    ];
    for (const password of rejectedPasswords) {
      const rejected = await browser.submit(page, { password });
      expect(rejected.status, password).toBe(400);
    }
    expectNotSignedIn(await enter(user.username, user.password));
  });

  it('ends a sign-in that an attacker began with the old one', async () => {
    const { user, browser, page } = await atChange();
    const thief = httpClient(idp.issuer);
    const parked = await enter(user.username, user.password, thief);
    expect(parked.text).toContain('autocomplete="new-password"');
    await browser.follow(await browser.submit(page, { password: NEW }), isThere);
    const resumed = await thief.follow(await thief.get(parked.url), isThere);
    expectNotSignedIn(resumed);
    expect(resumed.text).toContain('autocomplete="current-password"');
  });

  it.each(['while the old one is checked', 'at the last step'])(
    'rejects the old one when it is replaced %s',
    async (when) => {
      const user = await aUser(idp.services);
      const { credentials, mfa } = idp.services;
      const { checkPassword } = credentials;
      const { remember } = mfa.knownBrowsers;
      const replace = () => credentials.setPassword(user.account, NEW);
      if (when === 'at the last step')
        mfa.knownBrowsers.remember = async (...args) => {
          await replace();
          return remember(...args);
        };
      else
        credentials.checkPassword = async (...args) => {
          const result = await checkPassword(...args);
          await replace();
          return result;
        };
      const thief = httpClient(idp.issuer);
      const page = await enter(user.username, user.password, thief);
      credentials.checkPassword = checkPassword;
      mfa.knownBrowsers.remember = remember;
      expectNotSignedIn(page);
      expect(page.status).toBe(400);
      const silent = await thief.get(authorizeUrl(idp, app.clientId, { prompt: 'none' }));
      expect(silent.location).toContain('error=login_required');
      expectSignedIn(await enter(user.username, NEW));
    },
  );

  it('cannot be skipped by going back to the application', async () => {
    const { browser, page } = await atChange();
    const uid = new URL(page.url).pathname.split('/')[2];
    const resumed = await browser.follow(await browser.get(`/authorize/${uid}`), isThere);
    expectNotSignedIn(resumed);
    expectNotSignedIn(
      await browser.follow(await browser.get(authorizeUrl(idp, app.clientId, { prompt: 'none' })), isThere),
    );
  });
});
