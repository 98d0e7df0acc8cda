import { describe, expect, it } from 'vitest';
import { languages } from '../../../src/base/texts/languages.ts';
import { anApplication, authorizeUrl } from '../../oidc/support.ts';
import { aUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { sharedIdp } from '../../support/shared-idp.ts';

const idp = await sharedIdp();
const app = await anApplication(idp);
const german = 'Benutzername oder E-\u2060Mail-Adresse';
const english = 'Username or email';

const browserIn = (language: string) => httpClient(idp.issuer, { headers: { 'accept-language': language } });

async function signInPage(browser: HttpClient, parameters: Record<string, string> = {}): Promise<Page> {
  return browser.follow(await browser.get(authorizeUrl(idp, app.clientId, { prompt: 'login', ...parameters })));
}

describe('the language of a page', () => {
  it('is one that the browser accepts, also on an error page; JSON is in English', async () => {
    const browser = browserIn('de-CH,de;q=0.9,en;q=0.5');
    const page = await signInPage(browser);
    expect(page.text).toContain('<html lang="de" dir="ltr">');
    expect(page.text).toContain(german);
    expect((await browser.get('/nowhere', { headers: { accept: 'text/html' } })).text).toContain(
      'Seite nicht gefunden',
    );
    const json = await browser.get('/nowhere', { headers: { accept: 'application/json' } });
    expect(json.text).toContain('Page not found');
  });

  it('is what the application requests with ui_locales, and what the user picks comes before that', async () => {
    const browser = browserIn('en');
    const page = await signInPage(browser, { ui_locales: 'xx de' });
    expect(page.text).toContain(german);
    const path = new URL(page.url).pathname;
    const links = [...page.text.matchAll(/href="(\/language\/[^"]+)"/g)].map(([, link = '']) => link);
    expect(links).toHaveLength(languages.length);
    const picked = links.find((link) => link.startsWith('/language/en?')) ?? '';
    const answer = await browser.get(picked.replaceAll('&amp;', '&'));
    expect([answer.status, answer.headers.location]).toEqual([303, path]);
    expect((await browser.get(path)).text).toContain(english);
  });

  it('is that of the profile once the user is known', async () => {
    const user = await aUser(idp.services);
    await idp.services.accounts.update(user.account.id, { locale: 'de-AT' }, { actorId: user.account.id });
    const browser = browserIn('en');
    const page = await browser.follow(await browser.get('/account'));
    expect(page.text).toContain(english);
    const account = await browser.follow(
      await browser.submit(page, { username: user.username, password: user.password }),
    );
    expect(account.text).toContain('Anmeldung und Sicherheit');
  });

  it('leads back only to pages of this server, and knows only languages with texts', async () => {
    const browser = browserIn('en');
    const away = await browser.get(`/language/de?next=${encodeURIComponent('https://evil.example/')}`);
    expect(away.headers.location).toBe('/');
    expect((await browser.get('/language/de?next=/&next=/x')).headers.location).toBe('/');
    expect((await browser.get('/language/xx')).status).toBe(404);
    const { text } = await browser.get('/.well-known/openid-configuration');
    expect(JSON.parse(text).ui_locales_supported).toEqual(languages);
  });
});
