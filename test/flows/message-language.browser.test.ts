// A message has the language of its page: what a script asks for, what is displayed after a switch, and the English of the admin API.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../admin/console/real-browser.ts';
import { aService } from '../admin/support.ts';
import { anApplication, authorizeUrl } from '../oidc/support.ts';
import { type Browser, launchBrowser } from '../support/browser/browser.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';
import { textOf } from '../support/pages/html.ts';

let idp: TestIdp;
let browser: Browser;
beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

it('the strength of a password is told in the language of the profile, as the page around it', async () => {
  const context = await browser.newContext({ locale: 'fr' });
  const page = await context.newPage();
  await page.goto(`${idp.issuer}/account/password`);
  expect(await page.getAttribute('html', 'lang')).toBe('fr');
  await signIn(page, await aUser(idp.services, { locale: 'de' }));
  await page.waitForURL('**/account/password');
  expect(await page.getAttribute('html', 'lang')).toBe('de');
  const meter = page.waitForResponse('**/password-strength');
  await page.locator('input[autocomplete="new-password"]').first().pressSequentially('passwordpassword');
  expect(await (await meter).text()).toMatch(/Sehr schwach/);
  await context.close();
});

it('and in that of ui_locales, where the application chose the language', async () => {
  const user = await aUser(idp.services, { mustChange: true });
  const app = await anApplication(idp);
  const context = await browser.newContext({ locale: 'en' });
  const page = await context.newPage();
  await page.goto(authorizeUrl(idp, app.clientId, { ui_locales: 'it' }));
  await signIn(page, user);
  await page.waitForSelector('input[autocomplete="new-password"]');
  expect(await page.getAttribute('html', 'lang')).toBe('it');
  const meter = page.waitForResponse('**/password-strength');
  await page.locator('input[autocomplete="new-password"]').first().pressSequentially('passwordpassword');
  expect(await (await meter).text()).toMatch(/debole/i);
  await context.close();
});

it('a message that waits for the next page is in the language that was picked meanwhile', async () => {
  const person = await signedIn(idp, await aUser(idp.services));
  const saved = await person.submit(await person.get('/account/profile'), { name: 'Anna Beispiel' });
  await person.get('/language/de?next=/account');
  const page = await person.follow(saved);
  expect(page.text).toContain('<html lang="de"');
  expect(textOf(/<p class="note \w+" role="status">(.*?)<\/p>/s.exec(page.text)?.[1] ?? '')).toMatch(/gespeichert/i);
});

it('the admin API answers in English, whatever language is asked for', async () => {
  const api = await aService(idp);
  for (const path of ['/users/nobody', '/applications/nothing', '/sign-up-codes/nothing', '/mail?limit=0']) {
    const [english, german] = await Promise.all([api.get(path), api.get(path, { 'accept-language': 'de' })]);
    expect(german.status, path).toBeGreaterThanOrEqual(400);
    const told = ({ message, fields }: Record<string, unknown>) => ({ message, fields });
    expect(told(german.json()), path).toEqual(told(english.json()));
    expect(JSON.stringify(german.json()), path).not.toMatch(/ (ist|nicht|existiert|wurde)\b/);
  }
});
