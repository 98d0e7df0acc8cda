// Seed 5.7 and 8: how often a reset may be asked for. A limit of the account changes nothing in the answer.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testClock } from '../support/clock.ts';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { forgot, mailIsIdle } from './support.ts';

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
const mailsTo = (email: string | null) => box.messages.filter(({ to }) => to.includes(email ?? '')).length;

describe('asking again and again', () => {
  it('sends three mails in an hour to one account, and answers all alike', async () => {
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

  it('is refused to one address after twenty times, whoever is asked about, and to no other address', async () => {
    const user = await aUser(idp.services);
    for (let index = 0; index < 20; index += 1) {
      expect((await forgot(idp, `nobody${index}`, from('192.0.2.2'))).status).toBe(303);
    }
    for (const username of ['somebody', user.username]) {
      const refused = await forgot(idp, username, from('192.0.2.2'));
      expect(refused.status).toBe(429);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3000);
    }
    expect((await forgot(idp, user.username, from('192.0.2.3'))).status).toBe(303);
  });

  it('with links that were made up is refused after thirty times, and good links do not count', async () => {
    const browser = from('192.0.2.4');
    const open = () => browser.get(`/reset-password?token=${'A'.repeat(43)}`).then((page) => browser.follow(page));
    for (let index = 0; index < 30; index += 1) expect((await open()).status).toBe(400);
    expect((await open()).status).toBe(429);
  });

  it.each(['', ' ', 'x'.repeat(255)])('without a name (%j) is a fault of the form', async (username) => {
    expect((await forgot(idp, username, from('192.0.2.5'))).status).toBe(400);
  });

  it('needs the form of this site', async () => {
    const browser = from('192.0.2.6');
    const page = await browser.get('/forgot-password');
    const foreign = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } };
    expect((await browser.submit(page, { username: 'x' }, foreign)).status).toBe(403);
    expect((await browser.post('/forgot-password', { form: { username: 'x' } })).status).toBe(403);
    expect((await browser.post('/reset-password', { form: { password: 'x' } })).status).toBe(403);
  });
});
