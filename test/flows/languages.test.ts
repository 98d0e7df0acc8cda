// The settings `languages` and `default_language`: what is offered, and what is used where nothing else decides.
import { afterEach, describe, expect, it } from 'vitest';
import { languages } from '../../src/base/texts/languages.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { anApplication, authorizeUrl } from '../oidc/support.ts';
import { forgot, linkIn, mailIsIdle, NEW_PASSWORD } from '../recovery/support.ts';
import { office } from '../registration/support.ts';
import { aUser } from '../support/factories.ts';
import { failSignIn } from '../support/failed-sign-in.ts';
import { httpClient } from '../support/http.ts';
import { textOf } from '../support/pages/html.ts';

const test = office();
const browserIn = (language: string) => httpClient(test.idp.issuer, { headers: { 'accept-language': language } });
const htmlLanguage = (text: string) => text.match(/<html lang="([^"]+)"/)?.[1];
const offeredBy = (text: string) => [...text.matchAll(/href="\/language\/([^?"]+)/g)].map(([, tag]) => tag).sort();

async function set(values: { default_language?: string; languages?: string[] }) {
  const { settings } = test.idp.services;
  if (values.default_language) await settings.set('default_language', values.default_language);
  if (values.languages) await settings.set('languages', values.languages);
  await settings.reload();
}

afterEach(async () => {
  const { settings } = test.idp.services;
  await settings.unset('default_language');
  await settings.unset('languages');
  await settings.reload();
});

describe('the offered languages', () => {
  it('are those of the setting, in the picker, in discovery, and for what a browser or an application asks', async () => {
    await set({ languages: ['de', 'fr'], default_language: 'de' });
    const app = await anApplication(test.idp);
    const browser = browserIn('ja, en');
    const page = await browser.follow(await browser.get(authorizeUrl(test.idp, app.clientId, { ui_locales: 'it fr' })));
    expect(htmlLanguage(page.text)).toBe('fr');
    expect(offeredBy(page.text)).toEqual(['de', 'fr']);
    expect((await browser.get('/language/ja')).status).toBe(404);
    expect(htmlLanguage((await browser.get('/forgot-password')).text)).toBe('de');
    const { ui_locales_supported: supported } = (await browser.get('/.well-known/openid-configuration')).json();
    expect(supported).toEqual(['de', 'fr']);
  });

  it('include the default language, and without the setting they are all', async () => {
    const discovery = async () => (await browserIn('en').get('/.well-known/openid-configuration')).json();
    expect((await discovery()).ui_locales_supported).toEqual(languages);
    await set({ languages: ['de'], default_language: 'pl' });
    expect((await discovery()).ui_locales_supported).toEqual(['de', 'pl']);
  });

  it('leave a page without a picker where there is only one', async () => {
    await set({ languages: ['nl'], default_language: 'nl' });
    const page = await browserIn('de').get('/forgot-password');
    expect([htmlLanguage(page.text), offeredBy(page.text)]).toEqual(['nl', []]);
  });
});

it('a label has the colon of its language', async () => {
  const colons = async (language: string) => {
    const { text } = await browserIn(language).get('/verify-email/no-such-page');
    return [/<span class="sr-only">([^<]+)<\/span>/.exec(text)?.[1], /<p class="small">([^<]+)<code/.exec(text)?.[1]];
  };
  expect(await colons('en')).toEqual(['Language: ', 'Request ID: ']);
  expect(await colons('fr')).toEqual(['Langue\u00a0: ', 'ID de requête\u00a0: ']);
});

describe('the default language', () => {
  it('is that of pages and emails for which nothing else decides', async () => {
    await set({ default_language: 'it' });
    expect(htmlLanguage((await browserIn('tlh').get('/forgot-password')).text)).toBe('it');
    expect(htmlLanguage((await browserIn('de').get('/forgot-password')).text)).toBe('de');
    const [user, spaniard] = [await aUser(test.idp.services), await aUser(test.idp.services)];
    await test.idp.services.accounts.update(spaniard.account.id, { locale: 'es' }, { actorId: spaniard.account.id });
    for (const { username } of [user, spaniard]) await forgot(test.idp, username, browserIn('tlh'));
    await mailIsIdle(test.idp.services);
    const subject = async (email: string | null) => (await test.box.waitForMail(email ?? '')).subject;
    expect(await subject(user.account.email)).toBe('Reimposta la password');
    expect(await subject(spaniard.account.email)).toBe('Restablece tu contraseña');
  });
});

describe('the tab Languages of the console', () => {
  it('changes both settings, and Branding leads to it', async () => {
    const admin = await consoleOf(test.idp, await staff(test.idp, 'admin'));
    expect((await admin.get('/admin/branding')).text).toContain('href="/admin/settings/languages"');
    const page = await admin.get('/admin/settings/languages');
    expect(page.text).toContain('lang="ja"');
    const none = await admin.submit(page, { default_language: 'de', languages: [] });
    expect([none.status, textOf(none.text)]).toEqual([400, expect.stringContaining('Choose at least one language')]);
    const saved = await admin.follow(await admin.submit(page, { default_language: 'de', languages: ['de', 'fr'] }));
    expect(textOf(saved.text)).toContain('Standardsprache');
    expect(textOf(saved.text)).toContain('Gespeichert.');
    const { settings } = test.idp.services;
    expect(await settings.reload()).toMatchObject({ default_language: 'de', languages: ['de', 'fr'] });
    const all = await admin.submit(saved, { default_language: 'en', languages: [...languages] });
    expect(textOf((await admin.follow(all)).text)).toMatch(/Default language.*Saved\.|Saved\..*Default language/s);
    expect((await settings.list()).filter(({ name }) => name === 'languages')).toEqual([
      { name: 'languages', value: [], source: 'default' },
    ]);
  });
});

describe('the languages of the console', () => {
  const previewed = (text: string) =>
    /<option value="([^"]+)"[^>]* selected/.exec(text.split('name="language"')[1] ?? '')?.[1];

  it('are its own, whatever is offered to people', async () => {
    await set({ languages: ['fr'], default_language: 'fr' });
    const admin = await consoleOf(test.idp, await staff(test.idp, 'admin'));
    const page = await admin.get('/admin/settings/languages');
    expect([htmlLanguage(page.text), offeredBy(page.text)]).toEqual(['en', ['de', 'en']]);
    const picked = await admin.get('/language/de?next=/admin/branding');
    expect([picked.status, picked.headers.location]).toEqual([303, '/admin/branding']);
    const branding = await admin.follow(picked);
    expect([htmlLanguage(branding.text), previewed(branding.text)]).toEqual(['de', 'fr']);
    const saved = await admin.follow(await admin.submit(branding, { brand_name: 'Example Corp' }));
    expect(textOf(saved.text)).toContain('Gespeichert.');
    expect(htmlLanguage((await admin.get('/admin/branding/preview')).text)).toBe('fr');
    expect(htmlLanguage((await admin.get('/account')).text)).toBe('fr');
    expect((await admin.get('/language/de?next=/administration')).status).toBe(404);
    await test.idp.services.settings.unset('brand_name');
  });

  it('come from the browser before the default language, and are not those of an error page for other users', async () => {
    await set({ languages: ['de', 'fr'], default_language: 'de' });
    const english = { headers: { 'accept-language': 'en' } };
    const admin = await consoleOf(test.idp, await staff(test.idp, 'admin'));
    expect(htmlLanguage((await admin.get('/admin', english)).text)).toBe('en');
    expect(htmlLanguage((await admin.get('/admin/nowhere', english)).text)).toBe('en');
    expect(htmlLanguage((await admin.get('/account', english)).text)).toBe('de');
    const person = await consoleOf(test.idp, await aUser(test.idp.services));
    const rejected = await person.get('/admin', { headers: { 'accept-language': 'fr' } });
    expect([rejected.status, htmlLanguage(rejected.text)]).toEqual([403, 'fr']);
  });
});

describe('the buttons beside the offered languages', () => {
  const ticked = ({ text }: { text: string }) =>
    [...text.matchAll(/name="languages" value="([^"]+)" checked/g)].map(([, tag = '']) => tag).sort();

  it('tick the default language alone, or all, in one step, and save nothing', async () => {
    const { settings } = test.idp.services;
    await set({ default_language: 'en', languages: [] });
    const admin = await consoleOf(test.idp, await staff(test.idp, 'admin'));
    const page = await admin.get('/admin/settings/languages');
    expect(ticked(page)).toEqual([...languages].sort());
    const one = await admin.submit(page, {}, { button: 'Offer only the default language' });
    expect([one.status, ticked(one)]).toEqual([200, ['en']]);
    expect((await settings.reload()).languages).toEqual([]);
    const saved = await admin.follow(await admin.submit(one, {}, { button: 'Save changes' }));
    expect((await settings.reload()).languages).toEqual(['en']);
    const all = await admin.submit(saved, {}, { button: 'Offer all languages' });
    expect(ticked(all)).toEqual([...languages].sort());
    await admin.submit(all, {}, { button: 'Save changes' });
    expect((await settings.reload()).languages).toEqual([]);
  });

  it('use the default language that is chosen in the form', async () => {
    const admin = await consoleOf(test.idp, await staff(test.idp, 'admin'));
    const page = await admin.get('/admin/settings/languages');
    const one = await admin.submit(page, { default_language: 'ja' }, { button: 'Offer only the default language' });
    expect(ticked(one)).toEqual(['ja']);
  });
});

describe('an email that is requested on a page', () => {
  const subjectFor = async (email: string | null) => (await test.box.waitForMail(email ?? '')).subject;

  it('is in the language of the page, unless the user has a locale', async () => {
    const [user, frenchman] = [await aUser(test.idp.services), await aUser(test.idp.services)];
    await test.idp.services.accounts.update(frenchman.account.id, { locale: 'fr' }, { actorId: frenchman.account.id });
    for (const { username } of [user, frenchman]) await forgot(test.idp, username, browserIn('de'));
    const mail = await test.box.waitForMail(user.account.email ?? '');
    expect(mail.subject).toBe('Setzen Sie Ihr Passwort zurück');
    expect(await subjectFor(frenchman.account.email)).toBe('Réinitialisez votre mot de passe');
    const browser = browserIn('de');
    const form = await browser.follow(await browser.get(linkIn(mail)));
    await browser.submit(form, { password: NEW_PASSWORD });
    expect(await subjectFor(user.account.email)).toBe('Ihr Passwort wurde geändert');
  });

  it('is in the language of the page that ends a lockout, and of the page for a new account', async () => {
    const user = await aUser(test.idp.services);
    for (let tries = 0; tries < 6; tries += 1)
      await failSignIn(test.idp.services.lockout, { login: user.username, address: `192.0.2.${tries}` });
    const browser = browserIn('de');
    await browser.submit(await browser.get('/unlock/ask'), { username: user.username });
    expect(await subjectFor(user.account.email)).toBe('Entsperren Sie Ihr Konto');
    await test.idp.services.settings.set('self_registration', true);
    await test.idp.services.settings.reload();
    for (const email of ['neu@example.com', user.account.email ?? ''])
      await browser.submit(await browser.get('/sign-up'), { email });
    expect(await subjectFor('neu@example.com')).toBe('Schließen Sie Ihre Registrierung ab');
    expect(await subjectFor(user.account.email)).toBe('Sie haben bereits ein Konto');
  });
});
