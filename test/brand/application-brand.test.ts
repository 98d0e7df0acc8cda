// The brand of an application beyond the pages of its sign-in: on error pages, on the pages for a forgotten password, and in the mails that
// the sign-in causes; and the name of the brand as that of the sender.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkDatabase } from '../../src/cli/doctor/check-database.ts';
import { prepareData } from '../../src/server/start.ts';
import { type Application, anApplication, completeSignIn } from '../oidc/support.ts';
import { aServiceProvider } from '../support/applications/sp.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';

let idp: TestIdp;
let mail: Mailbox;
let app: Application;

const brand = async (applications: Record<string, { name: string; color?: string }>, name = 'Everyone') => {
  const { settings } = idp.services;
  await settings.set('brand_name', name);
  await settings.set('brand_applications', applications);
  await settings.reload();
};

beforeAll(async () => {
  mail = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: mail.url } });
  app = await anApplication(idp, { scope: 'openid' });
  await brand({ [app.clientId]: { name: 'Shop', color: '#aa0000' } });
});
afterAll(async () => {
  await idp?.stop();
  await mail?.close();
});

/** A browser at the first page of a sign-in at the application. */
async function atSignIn(): Promise<{ browser: HttpClient; page: Page }> {
  const browser = httpClient(idp.issuer);
  return { browser, page: await browser.follow(await browser.get((await app.rp.start({ scope: 'openid' })).url)) };
}

const SHOP = '· Shop</title>';

it('a brand of an application that does not exist is named at the start and by doctor', async () => {
  const { config, logger, now } = idp.services;
  await brand({ [app.clientId]: { name: 'Shop', color: '#aa0000' }, 'shop-typo': { name: 'Shop' } });
  idp.log.splice(0);
  await prepareData(idp.services);
  expect(idp.log.filter((line) => line.includes('brand_applications'))).toEqual([
    expect.stringContaining('brand_applications names shop-typo, which is'),
  ]);
  const findings = await checkDatabase({ config, logger, now });
  expect(findings.filter(({ check }) => check === 'brand')).toEqual([
    expect.objectContaining({ status: 'warning', message: expect.stringContaining('shop-typo') }),
  ]);
  await brand({ [app.clientId]: { name: 'Shop', color: '#aa0000' } });
});

describe('an error page of a sign-in at an application with a brand of its own', () => {
  it('has that brand when the request is wrong', async () => {
    const wrong = new URLSearchParams({
      client_id: app.clientId,
      redirect_uri: 'https://evil.example',
      response_type: 'code',
    });
    const page = await httpClient(idp.issuer).get(`/authorize?${wrong}`, { headers: { accept: 'text/html' } });
    expect(page.status).toBe(400);
    expect(page.text).toContain(SHOP);
    expect(page.text).toContain('/assets/brand.aa0000');
    const unknown = await httpClient(idp.issuer).get('/authorize?client_id=x', { headers: { accept: 'text/html' } });
    expect(unknown.text).toContain('· Everyone</title>');
  });

  it('has that brand when the form is wrong, and when the sign-in is over', async () => {
    const { browser, page } = await atSignIn();
    const forged = await browser.post(String(page.forms[0]?.action), { form: { username: 'a', password: 'b' } });
    expect(forged.status).toBe(403);
    expect(forged.text).toContain(SHOP);
    const user = await aUser(idp.services);
    await completeSignIn(browser, page, { user });
    const again = await browser.get(page.url);
    expect(again.status).toBe(400);
    expect(again.text).toContain(SHOP);
  });

  it('has that brand at a SAML application', async () => {
    const sp = await aServiceProvider(idp.services);
    await brand({ [sp.entityId]: { name: 'Payroll' }, [app.clientId]: { name: 'Shop', color: '#aa0000' } });
    const other = await aServiceProvider(idp.services, { entityId: `${sp.entityId}/2` });
    sp.saml.options.callbackUrl = other.acsUrl;
    const page = await httpClient(idp.issuer).get(await sp.saml.getAuthorizeUrlAsync('', undefined, {}));
    expect(page.status).toBe(400);
    expect(page.text).toContain('· Payroll</title>');
  });
});

describe('a mail that a sign-in at an application causes', () => {
  it('has the brand of the application, and its name in the sender', async () => {
    const user = await aUser(idp.services);
    const { browser, page } = await atSignIn();
    await completeSignIn(browser, page, { user });
    const notice = await mail.waitForMail(`${user.username}@example.com`);
    expect(notice.source).toMatch(/^From: Shop <no-reply@localhost>\r?$/m);
    expect(notice.html).toContain('Shop');
    expect(notice.text).toContain('-- \nShop\n');
  });

  it('has it also for a password that was forgotten there, as have the pages', async () => {
    const user = await aUser(idp.services);
    const { browser, page } = await atSignIn();
    const forgot = await browser.get(/href="(\/forgot-password[^"]*)"/.exec(page.text)?.[1] ?? '');
    expect(forgot.text).toContain(SHOP);
    const sent = await browser.follow(await browser.submit(forgot, { username: user.username }));
    expect(sent.text).toContain(SHOP);
    expect((await mail.waitForMail(`${user.username}@example.com`)).source).toMatch(/^From: Shop </m);
  });

  it('has the brand of all pages where it was not caused by one', async () => {
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    await browser.follow(await browser.submit(await browser.get('/forgot-password'), { username: user.username }));
    expect((await mail.waitForMail(`${user.username}@example.com`)).source).toMatch(/^From: Everyone </m);
  });

  it('is about an application: its contacts get it with its brand', async () => {
    const to = { email: 'contact@example.com', application: app.clientId };
    const facts = { application: 'Shop', until: new Date(), isNextPublished: true };
    await idp.services.outbox.send({ kind: 'saml-certificate', to, ...facts });
    expect((await mail.waitForMail(to.email)).source).toMatch(/^From: Shop </m);
  });
});

describe('the sender', () => {
  it.each([
    ['Own Name <own@example.com>', 'From: Own Name <own@example.com>'],
    ['own@example.com', 'From: "A \\"quoted\\", name" <own@example.com>'],
  ])('has the name of the brand unless MAIL_FROM has one: %s', async (sender, header) => {
    const other = await startIdp({ environment: { SMTP_URL: mail.url, MAIL_FROM: sender } });
    try {
      await other.services.settings.set('brand_name', 'A "quoted", name');
      await other.services.settings.reload();
      const to = { email: `sender-${sender.length}@example.com` };
      await other.services.outbox.send({ kind: 'test', to, at: new Date() });
      expect((await mail.waitForMail(to.email)).source).toContain(`${header}\r\n`);
    } finally {
      await other.stop();
    }
  });
});
