// The settings `admin_mfa` (by default everyone with a right in Gatehouse needs a second factor) and `mfa`: at the sign-in, and in
// sessions that began before they applied.
import { generateSync } from 'otplib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SettingName, SettingValues } from '../../src/core/settings/settings.ts';
import { commandLine } from '../cli/support.ts';
import { type Application, anApplication, authorizeUrl, completeSignIn, outcome } from '../oidc/support.ts';
import { answerIn } from '../saml/live.ts';
import { aServiceProvider } from '../support/applications/sp.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const PASSWORD = 'another long pass phrase, fine';
let idp: TestIdp;
let app: Application;

beforeAll(async () => {
  idp = await startIdp({ adminMfa: 'default' });
  await idp.services.settings.set('rate_limits', false);
  app = await anApplication(idp, { consent: 'implicit' });
});
afterAll(() => idp?.stop());

const changed = new Set<SettingName>();
async function set<Name extends SettingName>(name: Name, value: SettingValues[Name]): Promise<void> {
  changed.add(name);
  await idp.services.settings.set(name, value);
  await idp.services.settings.reload();
}
afterEach(async () => {
  for (const name of changed) await idp.services.settings.unset(name);
  if (changed.size > 0) await idp.services.settings.reload();
  changed.clear();
});

const open = async (browser: HttpClient, path: string) => browser.follow(await browser.get(path));
const isThere = (url: string) => url.startsWith(app.redirectUri);
const request = async (browser: HttpClient) =>
  browser.follow(await browser.get(authorizeUrl(idp, app.clientId)), isThere);
const silently = async (browser: HttpClient) =>
  (await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }))).get('error');
const isEnrolment = (page: Page) => page.forms.some(({ action }) => action.includes('enrol-totp'));
const asksForCode = (page: Page) => page.text.includes('autocomplete="one-time-code"') && !isEnrolment(page);

/** Sets up the authenticator app that the page offers, and goes on to the page that the sign-in was for. */
async function enrol(browser: HttpClient, page: Page): Promise<Page> {
  const secret = /<code>([A-Z2-7 ]{16,})<\/code>/.exec(page.text)?.[1]?.replaceAll(' ', '') ?? '';
  const codes = await browser.follow(
    await browser.submit(page, { code: generateSync({ secret }) }, { form: 'enrol-totp' }),
  );
  expect(codes.text.match(/<li><code>[^<]+/g)).toHaveLength(10);
  return browser.follow(await browser.get(page.url), isThere);
}

/** A user with a session at the application, which began with the password alone. */
async function withSession(...roles: string[]) {
  const user = await aUser(idp.services);
  const browser = httpClient(idp.issuer);
  expect((await completeSignIn(browser, authorizeUrl(idp, app.clientId), { user })).location).toContain('code=');
  for (const role of roles) await idp.services.roles.assign(user.account.id, role);
  return { user, browser };
}

describe('the first administrator', () => {
  it('replaces the temporary password and sets up a second factor at the first sign-in, and then reaches the console', async () => {
    const { username = '', password = '' } = idp.firstAdmin ?? {};
    const browser = httpClient(idp.issuer);
    const form = await open(browser, '/admin');
    const change = await browser.follow(await browser.submit(form, { username, password }));
    const next = await browser.follow(await browser.submit(change, { password: PASSWORD }));
    expect(isEnrolment(next)).toBe(true);
    expect((await open(browser, '/admin')).text).not.toContain('<h1>Overview</h1>');
    const console = await enrol(browser, next);
    expect(console.url).toBe(`${idp.issuer}/admin`);
    expect(console.text).toContain('Overview');
  });

  it('gets back in after the loss of every factor, when `gatehouse user reset-mfa` was run', async () => {
    const shell = await commandLine();
    const { DATABASE_URL = '', GATEHOUSE_SECRET = '' } = idp.environment;
    const ended = await shell.gatehouse(['user', 'reset-mfa', 'admin'], { env: { DATABASE_URL, GATEHOUSE_SECRET } });
    await shell.close();
    expect(ended).toMatchObject({ code: 0 });
    const browser = httpClient(idp.issuer);
    const page = await browser.submit(await open(browser, '/admin'), { username: 'admin', password: PASSWORD });
    const console = await enrol(browser, await browser.follow(page));
    expect(console.text).toContain('Overview');
  });
});

describe('a user with a right in Gatehouse', () => {
  it.each(['admin', 'auditor', 'support'])('needs a second factor at every application: %s', async (role) => {
    const user = await aUser(idp.services);
    await idp.services.roles.assign(user.account.id, role);
    const page = await completeSignIn(httpClient(idp.issuer), authorizeUrl(idp, app.clientId), { user });
    expect(isEnrolment(page)).toBe(true);
  });

  it('needs it also where the setting mfa is off', async () => {
    await set('mfa', 'off');
    const { browser } = await withSession('admin');
    expect(isEnrolment(await request(browser))).toBe(true);
    expect(isEnrolment(await open(browser, '/admin'))).toBe(true);
  });

  it('needs it also in a remembered browser, unlike other users', async () => {
    await set('remember_browser_days', 14);
    const needsSecondFactor = async (role?: string) => {
      const { user } = await withSession();
      await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
      const browser = httpClient(idp.issuer);
      const question = await completeSignIn(browser, authorizeUrl(idp, app.clientId), { user });
      const fields = { code: generateSync({ secret: SECRET }), remember: 'yes' };
      const back = await browser.follow(await browser.submit(question, fields), isThere);
      expect(back.location).toContain('code=');
      if (role) await idp.services.roles.assign(user.account.id, role);
      const again = authorizeUrl(idp, app.clientId, { prompt: 'login' });
      return asksForCode(await completeSignIn(browser, again, { user }));
    };
    const asked = { user: await needsSecondFactor(), admin: await needsSecondFactor('admin') };
    expect(asked).toEqual({ user: false, admin: true });
  });

  it('needs it at the next authorization of a session that began before the right was given', async () => {
    const { browser, user } = await withSession();
    const account = await open(browser, '/account');
    expect(account.text).toContain('Your account');
    await idp.services.roles.assign(user.account.id, 'support');
    expect(await silently(browser)).toBe('login_required');
    // The account pages have a session of their own, which the console does not accept.
    for (const path of ['/admin/users', `/admin/users/${user.account.id}/password`]) {
      expect(isEnrolment(await open(browser, path))).toBe(true);
    }
    const back = await enrol(browser, await request(browser));
    expect(back.location).toContain('code=');
    expect((await open(browser, '/admin/users')).text).toContain('Users');
  });

  it('needs a passkey where the setting says phishing-resistant', async () => {
    await set('admin_mfa', 'phishing-resistant');
    const { browser, user } = await withSession('admin');
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    const question = await request(browser);
    const next = await browser.follow(
      await browser.submit(question, { code: generateSync({ secret: SECRET }) }),
      isThere,
    );
    expect(next.text).toContain('Set up passkey');
    expect(isEnrolment(next)).toBe(false);
  });

  it('reaches the account pages with a recovery code in place of a lost passkey, but not the console', async () => {
    const { user } = await withSession('admin');
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    const [code = ''] = await idp.services.mfa.recoveryCodes.create(user.account.id);
    await set('admin_mfa', 'phishing-resistant');
    const browser = httpClient(idp.issuer);
    const form = await open(browser, '/account');
    const question = await browser.follow(
      await browser.submit(form, { username: user.username, password: user.password }),
    );
    const offered = await browser.follow(await browser.submit(question, { code }));
    const account = await browser.follow(await browser.submit(offered, {}, { form: 'keep-factors' }));
    expect(account.text).toContain('Your account');
    const console = await open(browser, '/admin');
    expect(console.status).toBe(401);
    expect(console.text).toContain('href="/account/factors"');
  });

  it('needs none where the setting says optional', async () => {
    await set('admin_mfa', 'optional');
    const { browser } = await withSession('admin');
    expect((await request(browser)).location).toContain('code=');
    expect((await open(browser, '/admin')).text).toContain('Overview');
  });
});

describe('mfa: required', () => {
  it('reaches a session that already exists, at its next authorization, by OpenID Connect and by SAML', async () => {
    const { browser, user } = await withSession();
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    expect((await request(browser)).location).toContain('code=');
    await set('mfa', 'required');
    const sp = await aServiceProvider(idp.services);
    const saml = await open(browser, await sp.saml.getAuthorizeUrlAsync('', undefined, {}));
    expect(answerIn(saml)).toBeUndefined();
    expect(asksForCode(saml)).toBe(true);
    expect(await silently(browser)).toBe('login_required');
    const question = await request(browser);
    expect(asksForCode(question)).toBe(true);
    expect(question.text).not.toContain('name="password"');
    const code = generateSync({ secret: SECRET });
    expect((await browser.follow(await browser.submit(question, { code }), isThere)).location).toContain('code=');
    expect(await silently(browser)).toBeNull();
  });

  it('reaches such a session also when the application itself begins to demand it', async () => {
    const { browser, user } = await withSession();
    const other = await anApplication(idp, { consent: 'implicit' });
    const url = authorizeUrl(idp, other.clientId);
    expect((await completeSignIn(browser, url, { user })).location).toContain('code=');
    const { id } = (await idp.services.applications.find(other.clientId)) ?? expect.fail();
    const rest = { redirect_uris: [other.redirectUri], consent: 'implicit' as const };
    await idp.services.applications.update('oidc', id, { ...rest, mfa: 'required' });
    expect(isEnrolment(await open(browser, url))).toBe(true);
  });
});
