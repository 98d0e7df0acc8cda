// Self-registration: an account with a verified address, and responses that do not reveal which addresses have one.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { linkIn, mailIsIdle, mailOf, NEW_PASSWORD, open, passwordWorks } from '../recovery/support.ts';
import { testClock } from '../support/clock.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';

const clock = testClock();
let box: Mailbox;
let idp: TestIdp;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url }, now: clock.now });
});
beforeEach(async () => {
  await idp.services.settings.set('self_registration', true);
  await idp.services.settings.reload();
  await idp.services.db.rateLimit.deleteMany();
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

async function ask(email: string, browser: HttpClient = httpClient(idp.issuer)): Promise<Page> {
  return browser.submit(await browser.get('/sign-up'), { email });
}
async function linkFor(email: string): Promise<string> {
  await ask(email);
  return linkIn(await mailOf(box, email, 'Finish creating your account'));
}
const find = (email: string) => idp.services.accounts.findByEmail(email);

describe('a new account', () => {
  it('is created with the mailed link, which verifies its address', async () => {
    const { browser, page } = await open(idp, await linkFor('new@example.com'));
    expect(await find('new@example.com')).toBeUndefined();
    const rejected = await browser.submit(page, { name: 'Nora New', password: 'short' });
    expect(rejected.status).toBe(400);
    expect(rejected.text).toContain('value="Nora New"');
    const done = await browser.follow(await browser.submit(rejected, { name: 'Nora New', password: NEW_PASSWORD }));
    expect(done.url).toBe(`${idp.issuer}/sign-up/done`);
    const account = await find('new@example.com');
    expect(account).toMatchObject({ username: 'new@example.com', name: 'Nora New', emailVerified: true, roles: [] });
    expect(await passwordWorks(idp.services, account?.id ?? '', NEW_PASSWORD)).toBe('ok');
    const events = await idp.services.audit.list({ subjectId: account?.id ?? '' });
    expect(events.map(({ type }) => type)).toEqual(['account.registered', 'password.set', 'account.created']);
  });

  it('is created for an address that was typed or filled in with blank ends', async () => {
    await ask('\u00a0 blanks@example.com  ');
    const link = linkIn(await mailOf(box, 'blanks@example.com', 'Finish creating your account'));
    const { browser, page } = await open(idp, link);
    const done = await browser.submit(page, { username: ' blanks@example.com ', password: NEW_PASSWORD });
    expect(done.status).toBe(303);
    expect(await find('blanks@example.com')).toMatchObject({ username: 'blanks@example.com' });
  });

  it('is created once by twenty requests', async () => {
    const link = await linkFor('twenty@example.com');
    const forms = await Promise.all(Array.from({ length: 20 }, () => open(idp, link)));
    const answers = await Promise.all(
      forms.map(({ browser, page }) => browser.submit(page, { password: NEW_PASSWORD })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array.from({ length: 19 }, () => 400)]);
    expect((await open(idp, link)).page.status).toBe(400);
  });

  it('is created only for the address that got the mail', async () => {
    const { browser, page } = await open(idp, await linkFor('mine@example.com'));
    const rejected = await browser.submit(page, { username: 'victim@example.com', password: NEW_PASSWORD });
    expect(rejected.status).toBe(400);
    expect(await find('victim@example.com')).toBeUndefined();
    await browser.submit(page, { password: NEW_PASSWORD });
    expect(await find('mine@example.com')).toBeDefined();
  });

  it('is not created with an expired or made-up link', async () => {
    const link = await linkFor('late@example.com');
    clock.advance({ hours: 24 });
    expect((await open(idp, link)).page.status).toBe(400);
    const changed = `${link.slice(0, -3)}AAA`;
    expect((await open(idp, changed)).page.status).toBe(400);
  });
});

describe('the registration form', () => {
  it('gives the same response whether the address has an account, whose owner gets a mail', async () => {
    const user = await aUser(idp.services, { username: 'owner' });
    const disabled = await aUser(idp.services, { username: 'gone' });
    await idp.services.accounts.setActive(disabled.account.id, false);
    const answers = [];
    for (const email of ['fresh@example.com', 'OWNER@example.com', 'gone@example.com']) {
      const browser = httpClient(idp.issuer);
      const answer = await ask(email, browser);
      const { status, location } = answer;
      answers.push({ status, location, text: (await browser.follow(answer)).text });
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    await mailIsIdle(idp.services);
    const mail = await mailOf(box, user.account.email ?? '', 'You already have an account');
    expect(mail.text).toContain('owner');
    expect(mail.text).not.toContain('token=');
    expect(box.messages.flatMap(({ to }) => to)).not.toContain('gone@example.com');
  });

  it.each(['nobody', 'a@b@c', '', 'a b@example.com'])('rejects a malformed address: %j', async (email) => {
    const answer = await ask(email);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('Enter an email address, such as name@example.com.');
  });

  it('is limited to ten requests per network address and ten mails per recipient', async () => {
    for (let times = 0; times < 10; times += 1) expect((await ask('often@example.com')).status).toBe(303);
    const rejected = await ask('other@example.com');
    expect(rejected).toMatchObject({ status: 429 });
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(0);
    await idp.services.rateLimits.reset('registration:address', '127.0.0.1');
    await ask('often@example.com');
    await mailIsIdle(idp.services);
    expect(box.messages.filter(({ to }) => to.includes('often@example.com'))).toHaveLength(10);
  });

  it('does not exist while the setting is off, and links from before do not work', async () => {
    const link = await linkFor('before@example.com');
    const { browser, page } = await open(idp, link);
    await idp.services.settings.set('self_registration', false);
    await idp.services.settings.reload();
    for (const path of ['/sign-up', '/sign-up/sent', '/sign-up/done']) {
      expect((await httpClient(idp.issuer).get(path)).status).toBe(404);
    }
    expect((await browser.submit(page, { password: NEW_PASSWORD })).status).toBe(404);
    expect((await open(idp, link)).page.status).toBe(404);
    expect(await find('before@example.com')).toBeUndefined();
  });
});

describe('the domains that may sign up', () => {
  it('are those of the setting, in the form, the mail and the link', async () => {
    const { settings } = idp.services;
    const link = await linkFor('early@elsewhere.example');
    await settings.set('sign_up_domains', ['example.com', 'b\u00fccher.example']);
    await settings.reload();
    try {
      for (const email of [
        'eve@elsewhere.example',
        'eve@sub.example.com',
        'eve@example.com.evil.example',
        'eve@notexample.com',
        'eve@ex\u0430mple.com',
      ]) {
        const page = await ask(email);
        expect({ email, status: page.status, text: page.text }).toMatchObject({
          status: 400,
          text: expect.stringContaining('You can’t create an account with this email address'),
        });
      }
      // Removed after the link was mailed.
      expect((await open(idp, link)).page.status).toBe(400);
      expect((await ask('Eve@EXAMPLE.com')).status).toBe(303);
      await mailOf(box, 'Eve@example.com', 'Finish creating your account');
      for (const domain of ['b\u00fccher.example', 'B\u00dcCHER.example', 'xn--bcher-kva.example'])
        expect((await ask(`eve@${domain}`)).status, domain).toBe(303);
      // A known address outside of the domains gets the same answer as an unknown one.
      const member = await aUser(idp.services, { email: 'member@elsewhere.example' });
      expect((await ask(member.account.email ?? '')).status).toBe(400);
    } finally {
      await settings.unset('sign_up_domains');
      await settings.reload();
    }
  });
});
