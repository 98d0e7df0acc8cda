// How often a link can be requested. A limit of the account does not change the response.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testClock } from '../support/clock.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { failSignIn } from '../support/failed-sign-in.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { forgot, linkIn, mailIsIdle, mailOf } from './support.ts';

const clock = testClock();
let box: Mailbox;
let idp: TestIdp;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url, TRUST_PROXY: '1' }, now: clock.now });
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

const from = (address: string) => httpClient(idp.issuer, { headers: { 'x-forwarded-for': address } });
const mailsTo = (email: string | null, about = '') =>
  box.messages.filter(({ to, subject }) => to.includes(email ?? '') && subject.includes(about)).length;

/** The owner ends a lockout in this browser, which is a known one from then on. */
async function knowBrowser({ username, account }: TestUser, browser: HttpClient): Promise<void> {
  for (let tries = 0; tries < 6; tries += 1)
    await failSignIn(idp.services.lockout, { login: username, address: `198.51.100.${tries}` });
  await browser.submit(await browser.get('/unlock/ask'), { username });
  const link = linkIn(await mailOf(box, account.email ?? '', 'Unlock your account'));
  await browser.submit(await browser.follow(await browser.get(link)));
}

describe('repeated requests for a link', () => {
  it('send three mails in an hour to one account, and all get the same response', async () => {
    const user = await aUser(idp.services);
    const answers = [];
    for (const username of [user.username, user.username, user.account.email, user.username, user.username, 'nobody']) {
      const { status, text, location } = await forgot(idp, username ?? '', from('192.0.2.1'));
      answers.push({ status, text, location });
      await mailIsIdle(idp.services);
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(mailsTo(user.account.email)).toBe(3);
    const [event] = await idp.services.audit.list({ subjectId: user.account.id, types: ['password.reset-requested'] });
    expect(event).toMatchObject({ outcome: 'failure', reason: 'too_many_requests' });
    clock.advance({ hours: 1 });
    await forgot(idp, user.username, from('192.0.2.1'));
    await mailIsIdle(idp.services);
    expect(mailsTo(user.account.email)).toBe(4);
  });

  it('leave the owner a link in a known browser, and a code to sign in, when they come from other browsers', async () => {
    const user = await aUser(idp.services);
    const { email } = user.account;
    const ask = async (browser: HttpClient) => {
      expect((await forgot(idp, user.username, browser)).status).toBe(303);
      await mailIsIdle(idp.services);
    };
    const sentMails = () => mailsTo(email, 'Reset your password');
    const mine = from('192.0.2.8');
    await knowBrowser(user, mine);
    for (let times = 0; times < 5; times += 1) await ask(from('192.0.2.7'));
    expect(sentMails()).toBe(3);
    for (let times = 0; times < 5; times += 1) await ask(mine);
    expect(sentMails()).toBe(6);
    for (const kind of ['reset', 'unlock', 'registration', 'address-proof'] as const)
      for (let times = 0; times < 11; times += 1) await idp.services.mailLimits.to(email ?? '', kind);
    expect((await idp.services.mailLimits.to(email ?? '', 'registration')).allowed).toBe(false);
    const sent = [];
    for (let times = 0; times < 11; times += 1)
      sent.push(
        await idp.services.codeDelivery.send(user.account, 'email', email ?? '', {
          requestId: 'x',
          address: '192.0.2.7',
          userAgent: '',
        }),
      );
    expect(sent.map(({ outcome }) => outcome)).toEqual([...Array(10).fill('sent'), 'wait']);
  });

  it('are rejected after twenty from one network address, for any login, and from no other address', async () => {
    const user = await aUser(idp.services);
    for (let index = 0; index < 20; index += 1) {
      expect((await forgot(idp, `nobody${index}`, from('192.0.2.2'))).status).toBe(303);
    }
    for (const username of ['unknown', user.username]) {
      const limited = await forgot(idp, username, from('192.0.2.2'));
      expect(limited.status).toBe(429);
      expect(Number(limited.headers['retry-after'])).toBeGreaterThan(3000);
    }
    expect((await forgot(idp, user.username, from('192.0.2.3'))).status).toBe(303);
  });

  it('are rejected after thirty with made-up tokens, and usable links do not count', async () => {
    const browser = from('192.0.2.4');
    const open = () => browser.get(`/reset-password?token=${'A'.repeat(43)}`).then((page) => browser.follow(page));
    for (let index = 0; index < 30; index += 1) expect((await open()).status).toBe(400);
    expect((await open()).status).toBe(429);
  });

  it.each(['', ' ', 'x'.repeat(255)])('are rejected as invalid input without a name (%j)', async (username) => {
    expect((await forgot(idp, username, from('192.0.2.5'))).status).toBe(400);
  });

  it('are rejected without the form of this site', async () => {
    const browser = from('192.0.2.6');
    const page = await browser.get('/forgot-password');
    const foreign = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } };
    expect((await browser.submit(page, { username: 'x' }, foreign)).status).toBe(403);
    expect((await browser.post('/forgot-password', { form: { username: 'x' } })).status).toBe(403);
    expect((await browser.post('/reset-password', { form: { password: 'x' } })).status).toBe(403);
  });
});
