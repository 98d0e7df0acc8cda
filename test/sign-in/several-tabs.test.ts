// Several tabs of one browser: a sign-in finds the session that another tab has begun, changed or ended, and goes on.
import { decodeJwt } from 'jose';
import { generateSync } from 'otplib';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Application, anApplication, authorizeUrl, postAs, redirectUri, verifier } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { sharedIdp } from '../support/shared-idp.ts';

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
let idp: TestIdp;
let user: TestUser;
let other: TestUser;
let app: Application;
let asking: Application;

beforeAll(async () => {
  idp = await sharedIdp();
  [user, other] = [await aUser(idp.services), await aUser(idp.services)];
  app = await anApplication(idp);
  asking = await anApplication(idp, { consent: 'explicit', client_name: 'Album' });
});

const isThere = (url: string) => url.startsWith(redirectUri);
const open = async (browser: HttpClient, client = app, parameters: Record<string, string> = {}) =>
  browser.follow(await browser.get(authorizeUrl(idp, client.clientId, parameters)), isThere);
const enter = async (browser: HttpClient, page: Page, { username, password }: TestUser = user) =>
  browser.follow(await browser.submit(page, { username, password }), isThere);
const reload = async (browser: HttpClient, page: Page) =>
  browser.follow(await browser.get(page.url.replace(/(\/signin\/[\w-]+).*/, '$1')), isThere);
const hasChanged = async (browser: HttpClient, page: Page) =>
  (await browser.get(`${new URL(page.url).pathname}/changed`)).json().changed;

/** Who is signed in at the application that was called back. */
async function subjectOf(page: Page, client: Application): Promise<unknown> {
  const code = new URL(page.location ?? expect.fail(textOf(page.text))).searchParams.get('code') ?? '';
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
  return decodeJwt(String((await postAs(idp, client, '/token', form)).json().id_token)).sub;
}

describe('a sign-in page in another tab', () => {
  it('goes on when it is opened again or reloaded', async () => {
    const browser = httpClient(idp.issuer);
    const [first, second] = [await open(browser), await open(browser)];
    expect(await hasChanged(browser, second)).toBe(false);
    await enter(browser, first);
    expect(await hasChanged(browser, second)).toBe(true);
    expect((await reload(browser, second)).location).toMatch(/[?&]code=/);
  });

  it('goes on when it is submitted for the same account, even with a typing error', async () => {
    const browser = httpClient(idp.issuer);
    const [first, second] = [await open(browser), await open(browser)];
    await enter(browser, first);
    const { username } = user;
    expect(
      (await enter(browser, second, { ...user, username: username.toUpperCase(), password: 'wrong' })).location,
    ).toMatch(/[?&]code=/);
  });

  it('signs in another account that is typed into it', async () => {
    const browser = httpClient(idp.issuer);
    const client = await anApplication(idp);
    const [first, second] = [await open(browser), await open(browser, client)];
    await enter(browser, first);
    const wrong = await enter(browser, second, { ...other, password: 'wrong' });
    expect(textOf(wrong.text)).toContain('incorrect');
    let page = await enter(browser, wrong, other);
    // The engine ends the first session by a form of its own.
    while (page.location === undefined && page.text.includes('One moment'))
      page = await browser.follow(await browser.submit(page), isThere);
    expect(await subjectOf(page, client)).toBe(other.account.id);
  });

  it('asks again where the request demands a new sign-in', async () => {
    const browser = httpClient(idp.issuer);
    const [first, second] = [await open(browser), await open(browser, app, { prompt: 'login' })];
    await enter(browser, first);
    const again = await reload(browser, second);
    expect(again.forms[0]?.fields).toHaveProperty('password');
    expect(await hasChanged(browser, again)).toBe(false);
    expect((await enter(browser, again)).location).toMatch(/[?&]code=/);
  });

  it('goes on to the consent page, and from there', async () => {
    const browser = httpClient(idp.issuer);
    const [first, second] = [await open(browser), await open(browser, asking)];
    await enter(browser, first);
    const consent = await reload(browser, second);
    expect(textOf(consent.text)).toContain('Allow Album');
    const done = await browser.follow(await browser.submit(consent, {}, { button: 'Allow' }), isThere);
    expect(done.location).toMatch(/[?&]code=/);
  });
});

describe('a second-factor page in another tab', () => {
  it.each(['reloaded', 'submitted with the code that the other tab has used'])('goes on when it is %s', async (how) => {
    const person = await aUser(idp.services);
    await idp.services.mfa.totp.importSecret(person.account.id, SECRET);
    const browser = httpClient(idp.issuer);
    const pages = [await open(browser), await open(browser)];
    const [first, second] = [
      await enter(browser, pages[0] as Page, person),
      await enter(browser, pages[1] as Page, person),
    ];
    const code = generateSync({ secret: SECRET });
    expect((await browser.follow(await browser.submit(first, { code }), isThere)).location).toMatch(/[?&]code=/);
    const done =
      how === 'reloaded'
        ? await reload(browser, second)
        : await browser.follow(await browser.submit(second, { code }), isThere);
    expect(done.location).toMatch(/[?&]code=/);
  });
});

describe('a consent page in another tab', () => {
  const consenting = () => anApplication(idp, { consent: 'explicit', client_name: 'Album' });

  it('asks the account that has signed in meanwhile', async () => {
    const browser = httpClient(idp.issuer);
    const consent = await enter(browser, await open(browser, await consenting()));
    expect(textOf(consent.text)).toContain(user.account.email);
    await browser.follow(await browser.submit(await browser.get('/end-session'), {}, { button: 'Sign out' }));
    await enter(browser, await open(browser), other);
    const answered = await browser.follow(await browser.submit(consent, {}, { button: 'Allow' }), isThere);
    expect(textOf(answered.text)).toContain(other.account.email);
    expect(textOf(answered.text)).not.toContain(user.account.email);
  });

  it('leads to the sign-in, or back to the application, when the session has ended by itself', async () => {
    const browser = httpClient(idp.issuer);
    const client = await consenting();
    const endSessions = () =>
      idp.services.db.oidcArtifact.deleteMany({ where: { model: 'Session', accountId: user.account.id } });
    const consent = await enter(browser, await open(browser, client));
    await endSessions();
    expect(await hasChanged(browser, consent)).toBe(true);
    expect((await reload(browser, consent)).forms[0]?.fields).toHaveProperty('password');
    const again = await enter(browser, await open(browser, client));
    await endSessions();
    const canceled = await browser.post(`${new URL(again.url).pathname}/cancel`, {
      form: { _csrf: again.forms[0]?.fields._csrf ?? '' },
    });
    expect((await browser.follow(canceled, isThere)).location).toContain('error=access_denied');
  });
});

describe('a browser that blocks cookies', () => {
  const first = async (browser = httpClient(idp.issuer)) =>
    httpClient(idp.issuer).get((await browser.get(authorizeUrl(idp, app.clientId))).location ?? '');

  it('is told so on the first page', async () => {
    const page = await first();
    expect([page.status, textOf(page.text)]).toEqual([400, expect.stringContaining('Your browser blocks cookies')]);
  });

  it('is not confused with another browser, or with a sign-in of long ago', async () => {
    const elsewhere = httpClient(idp.issuer);
    await open(elsewhere);
    const page = await elsewhere.get(
      (await httpClient(idp.issuer).get(authorizeUrl(idp, app.clientId))).location ?? '',
    );
    expect(textOf(page.text)).not.toContain('blocks cookies');
    expect(textOf((await httpClient(idp.issuer).get('/signin/long-ago-and-gone')).text)).not.toContain(
      'blocks cookies',
    );
  });
});
