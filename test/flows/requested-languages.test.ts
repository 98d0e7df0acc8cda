// `ui_locales` beyond the sign-in page: on the pages beside it, on its error pages, and in each step of a logout.
import { describe, expect, it } from 'vitest';
import { anApplication, authorizeUrl, completeSignIn } from '../oidc/support.ts';
import { office } from '../registration/support.ts';
import { aUser } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';

const test = office();
const german = () => httpClient(test.idp.issuer, { headers: { 'accept-language': 'de' } });
const htmlLanguage = ({ text }: Page) => text.match(/<html lang="([^"]+)"/)?.[1];

async function atSignIn() {
  const app = await anApplication(test.idp);
  const browser = german();
  const page = await browser.follow(await browser.get(authorizeUrl(test.idp, app.clientId, { ui_locales: 'xx ja' })));
  return { browser, page };
}

describe('ui_locales of a sign-in', () => {
  it('is the language of the pages beside it, and of the mails that these cause', async () => {
    await test.idp.services.settings.set('self_registration', true);
    await test.idp.services.settings.reload();
    const { browser, page } = await atSignIn();
    const linkTo = (path: string) => new RegExp(`href="(${path}\\?signin=[^"]*)"`).exec(page.text)?.[1] ?? '';
    const user = await aUser(test.idp.services);
    const forgot = await browser.get(linkTo('/forgot-password'));
    const sent = await browser.follow(await browser.submit(forgot, { username: user.username }));
    const signUp = await browser.get(linkTo('/sign-up'));
    const signedUp = await browser.follow(await browser.submit(signUp, { email: 'new-ja@example.com' }));
    expect([page, forgot, sent, signUp, signedUp].map(htmlLanguage)).toEqual(['ja', 'ja', 'ja', 'ja', 'ja']);
    expect((await test.box.waitForMail(user.account.email ?? '')).subject).toBe('パスワードの再設定');
    expect((await test.box.waitForMail('new-ja@example.com')).subject).toBe('アカウントの作成を完了してください');
    // A page without a sign-in has the language of the browser.
    expect(htmlLanguage(await browser.get('/forgot-password'))).toBe('de');
  });

  it('is the language of an error page for a wrong form', async () => {
    const { browser, page } = await atSignIn();
    const forged = await browser.post(String(page.forms[0]?.action), { form: { username: 'a', password: 'b' } });
    expect([forged.status, htmlLanguage(forged)]).toEqual([403, 'ja']);
  });
});

describe('ui_locales of a logout', () => {
  it('is the language of the question, and of the page at the end', async () => {
    const { browser, page } = await atSignIn();
    await completeSignIn(browser, page, { user: await aUser(test.idp.services) });
    const question = await browser.get('/end-session?ui_locales=ja');
    const done = await browser.follow(await browser.submit(question, { logout: 'yes' }));
    expect(new URL(done.url).pathname).toMatch(/^\/signout\//);
    expect([question, done].map(htmlLanguage)).toEqual(['ja', 'ja']);
  });

  it('is that of the pages for a browser without a session', async () => {
    const browser = german();
    const form = await browser.get('/end-session?ui_locales=xx%20ja');
    const done = await browser.follow(await browser.submit(form));
    expect(new URL(done.url).pathname).toBe('/end-session/success');
    expect([form, done].map(htmlLanguage)).toEqual(['ja', 'ja']);
  });

  it('is that of the page after a user chose to stay signed in', async () => {
    const { browser, page } = await atSignIn();
    await completeSignIn(browser, page, { user: await aUser(test.idp.services) });
    const question = await browser.get('/end-session?ui_locales=ja');
    const stayed = await browser.follow(await browser.submit(question));
    expect(htmlLanguage(stayed)).toBe('ja');
  });
});
