// Codes by email and SMS, from the form to the mailbox and to the HTTP request to the gateway (docs/accounts.md).
import { text } from 'node:stream/consumers';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mailOf, NEW_PASSWORD, redeem, resetLink } from '../recovery/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Listening, listen } from '../support/listen.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { atAccount, signedIn } from '../support/pages/account.ts';

interface Message {
  method: string | undefined;
  path: string | undefined;
  authorization: string | undefined;
  type: string | undefined;
  body: { to: string; text: string; from?: string };
}

let box: Mailbox;
let gateway: Listening;
let idp: TestIdp;
let user: TestUser;
let messages: Message[] = [];
let gatewayStatus = 202;

beforeAll(async () => {
  box = await mailbox();
  gateway = await listen(async (request, response) => {
    const { method, url: path, headers } = request;
    const body = JSON.parse(await text(request));
    messages.push({ method, path, authorization: headers.authorization, type: headers['content-type'], body });
    response.writeHead(gatewayStatus).end();
  });
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  await idp.services.settings.set('email_codes', true);
  const sms = { url: `${gateway.origin}/messages`, token: 'a gateway token', sender: 'Gatehouse' };
  await idp.services.settings.set('sms_gateway', sms);
  await idp.services.settings.set('mfa', 'required');
  await idp.services.settings.reload();
});
afterAll(async () => {
  await idp?.stop();
  await gateway?.close();
  await box?.close();
});
beforeEach(async () => {
  user = await aUser(idp.services);
  messages = [];
  gatewayStatus = 202;
});

const email = () => user.account.email ?? '';
const codeIn = (words: string) => /\b(\d{6})\b/.exec(words)?.[1] ?? '';
/** A browser at the page for a code, before one is sent. */
async function atQuestion(): Promise<{ browser: HttpClient; page: Page }> {
  const browser = httpClient(idp.issuer);
  return { browser, page: await atAccount(idp, user, browser) };
}
const send = async (browser: HttpClient, page: Page) =>
  browser.follow(await browser.submit(page, {}, { form: 'send-code' }));
const mailedCode = async () => codeIn((await mailOf(box, email(), 'Your sign-in code')).text);
/** Whether this is the page that sets up a second factor. */
const asksToEnrol = (page: Page) => page.forms.some(({ action }) => action.endsWith('/enrol-totp'));
const enter = (browser: HttpClient, page: Page, code: string) => browser.submit(page, { code });

describe('a code by email', () => {
  it('is sent on request, has six digits, and works once', async () => {
    const { browser, page } = await atQuestion();
    expect(page.text).toContain('Send code');
    expect(box.messages.filter(({ to }) => to.includes(email()))).toEqual([]);
    const sent = await send(browser, page);
    const code = await mailedCode();
    expect(code).toMatch(/^\d{6}$/);
    const wrong = await enter(browser, sent, code === '000000' ? '000001' : '000000');
    expect(wrong.status).toBe(401);
    const enrol = await browser.follow(await enter(browser, wrong, code));
    expect(asksToEnrol(enrol)).toBe(true);

    const other = await atQuestion();
    expect((await enter(other.browser, await send(other.browser, other.page), code)).status).toBe(401);
  });

  it('is no second factor: the user sets one up', async () => {
    const { browser, page } = await atQuestion();
    const enrol = await browser.follow(await enter(browser, await send(browser, page), await mailedCode()));
    expect(asksToEnrol(enrol)).toBe(true);
    expect(asksToEnrol(await browser.get(new URL(page.url).pathname))).toBe(true);
    const secret = /<code>([A-Z2-7 ]{16,})<\/code>/.exec(enrol.text)?.[1]?.replaceAll(' ', '') ?? '';
    await browser.submit(enrol, { code: generateSync({ secret }) }, { form: 'enrol-totp' });
    expect((await browser.follow(await browser.get(new URL(page.url).pathname))).text).toContain('Your account');
    const where = { type: 'sign-in.completed', subjectId: user.account.id };
    const [completed] = await idp.services.db.auditEvent.findMany({ where });
    expect(JSON.parse(String(completed?.data)).amr).toEqual(['pwd', 'email', 'otp', 'mfa']);
  });

  it('proves nothing more than the mailbox after a reset by mail', async () => {
    await redeem(idp, await resetLink(idp, box, user.username, email()));
    user = { ...user, password: NEW_PASSWORD };
    const { browser, page } = await atQuestion();
    const enrol = await browser.follow(await enter(browser, await send(browser, page), await mailedCode()));
    expect(asksToEnrol(enrol)).toBe(true);
  });

  it('is invalid after ten minutes, and after a newer one', async () => {
    const { browser, page } = await atQuestion();
    let sent = await send(browser, page);
    const older = await mailedCode();
    sent = await send(browser, sent);
    const newer = await mailedCode();
    if (older !== newer) expect((await enter(browser, sent, older)).status).toBe(401);
    const [row] = await idp.services.db.oneTimeCode.findMany({ where: { userId: user.account.id } });
    expect(Number(row?.expiresAt) - Number(row?.createdAt)).toBe(10 * 60_000);
    await idp.services.db.oneTimeCode.updateMany({ data: { expiresAt: new Date() } });
    const late = await enter(browser, sent, newer);
    expect(late.status).toBe(401);
    expect(late.text).toContain('expired');
  });

  it('is rejected after five wrong attempts, even the right one, and the form says how long to wait', async () => {
    const { browser, page } = await atQuestion();
    const sent = await send(browser, page);
    const code = await mailedCode();
    const wrong = code === '000000' ? '000001' : '000000';
    const statuses = [];
    for (let tries = 0; tries < 5; tries += 1) statuses.push((await enter(browser, sent, wrong)).status);
    const rejected = await enter(browser, sent, code);
    expect([...statuses, rejected.status]).toEqual([401, 401, 401, 401, 401, 429]);
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(0);
    expect(rejected.text).toContain('Too many attempts');
    expect(rejected.forms).toContainEqual(expect.objectContaining({ fields: expect.objectContaining({ code: '' }) }));
  });

  it('is sent to one user at most ten times in an hour', async () => {
    const { browser, page } = await atQuestion();
    const statuses = [];
    for (let times = 0; times < 11; times += 1) {
      statuses.push((await browser.submit(page, {}, { form: 'send-code' })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 303), 429]);
  });
});

describe('a code by SMS', () => {
  const NUMBER = '+491701234567';

  // With codes by email, the account pages would demand one before the number (test/attacks/stolen-password.test.ts).
  beforeAll(async () => {
    await idp.services.settings.set('email_codes', false);
    await idp.services.settings.set('mfa', 'optional');
    await idp.services.settings.reload();
  });

  /** Confirms the number on the account page. */
  async function withPhone(phone = '+49 170 1234567'): Promise<HttpClient> {
    const browser = await signedIn(idp, user);
    const form = await browser.follow(await browser.get('/account/factors/phone'));
    const confirmation = await browser.submit(form, { phone });
    expect(confirmation.text).toContain('567');
    const code = codeIn(messages.at(-1)?.body.text ?? '');
    const wrong = await browser.submit(
      confirmation,
      { code: code === '000000' ? '000001' : '000000' },
      { form: '/confirm' },
    );
    expect(wrong.status).toBe(400);
    const done = await browser.follow(await browser.submit(wrong, { code }, { form: '/confirm' }));
    expect(done.text).toMatch(/recovery codes|Text message codes set up/);
    await mailOf(box, email(), 'The phone number on your account was changed');
    return browser;
  }

  it('is sent by one request in the documented form, and signs the user in', async () => {
    await withPhone();
    const phone = async () =>
      (await idp.services.mfa.factors.list(user.account.id)).find(({ kind }) => kind === 'phone');
    expect(await phone()).toMatchObject({ name: NUMBER, addedAt: expect.any(Date), lastUsedAt: null });
    messages = [];
    const { browser, page } = await atQuestion();
    const chosen = page.text.includes('method" value="sms"')
      ? page
      : await browser.get(`${new URL(page.url).pathname}?method=sms`);
    const sent = await send(browser, chosen);
    const host = new URL(idp.issuer).host;
    const code = codeIn(messages[0]?.body.text ?? '');
    expect(messages).toEqual([
      {
        method: 'POST',
        path: '/messages',
        authorization: 'Bearer a gateway token',
        type: 'application/json',
        body: {
          to: NUMBER,
          from: 'Gatehouse',
          text: `${code} is your sign-in code for ${host}. Valid for 10 minutes.\n\n@${host} #${code}`,
        },
      },
    ]);
    expect((await browser.follow(await enter(browser, sent, code))).text).toContain('Your account');
    expect((await phone())?.lastUsedAt).toBeInstanceOf(Date);
  });

  it('causes a message to the user when the gateway rejects it, and a log line without the code', async () => {
    await withPhone();
    gatewayStatus = 500;
    messages = [];
    const { browser, page } = await atQuestion();
    const chosen = await browser.get(`${new URL(page.url).pathname}?method=sms`);
    const failed = await browser.submit(chosen, {}, { form: 'send-code' });
    expect(failed.status).toBe(502);
    expect(failed.text).toContain('We couldn’t send');
    const log = idp.log.join('');
    expect(log).toContain('the SMS gateway rejected a message');
    expect(log).not.toContain(codeIn(messages[0]?.body.text ?? ''));
    expect(log).not.toContain('a gateway token');
  });

  it('is sent at most five times in an hour', async () => {
    await withPhone();
    const { browser, page } = await atQuestion();
    const chosen = await browser.get(`${new URL(page.url).pathname}?method=sms`);
    const statuses = [];
    for (let times = 0; times < 5; times += 1) {
      statuses.push((await browser.submit(chosen, {}, { form: 'send-code' })).status);
    }
    expect(statuses).toEqual([303, 303, 303, 303, 429]);
  });

  it('is removed with its number', async () => {
    await withPhone('+49 170 7654567'); // no other test used up its limit
    const { browser, page: step } = await atQuestion();
    const sent = await send(browser, step);
    await browser.follow(await enter(browser, sent, codeIn(messages.at(-1)?.body.text ?? '')));
    const page = await browser.get('/account/factors');
    const gone = await browser.follow(await browser.submit(page, {}, { form: '/phone/remove' }));
    expect(gone.text).toContain('Phone number removed.');
    expect(await idp.services.mfa.factors.hasSecondFactor(user.account.id)).toBe(false);
  });

  it.each(['0170 1234567', 'my phone', '+1'])('cannot be set up for %j', async (phone) => {
    const browser = await signedIn(idp, user);
    const form = await browser.get('/account/factors/phone');
    const rejected = await browser.submit(form, { phone });
    expect(rejected.status).toBe(400);
    expect(messages).toEqual([]);
  });
});

describe('the phone number in the profile', () => {
  beforeAll(async () => {
    await idp.services.settings.set('mfa', 'optional');
    await idp.services.settings.reload();
  });

  const phoneOf = async () => {
    const { phoneNumber, phoneNumberVerified } = (await idp.services.accounts.find(user.account.id)) ?? {};
    return { phoneNumber, phoneNumberVerified };
  };
  /** Sends the number on its page, and the code that comes back to it. */
  async function prove(browser: HttpClient, phone: string): Promise<Page> {
    const sent = await browser.submit(await browser.get('/account/profile/phone'), { phone });
    const code = codeIn(messages.at(-1)?.body.text ?? '');
    const wrong = { code: code === '000000' ? '000001' : '000000' };
    expect((await browser.submit(sent, wrong, { form: '/confirm' })).status).toBe(400);
    return browser.submit(sent, { code }, { form: '/confirm' });
  }

  it('is set by a code that was sent to it, is verified, and is no second factor', async () => {
    const browser = await signedIn(idp, user);
    expect(await phoneOf()).toEqual({ phoneNumber: null, phoneNumberVerified: false });
    await prove(browser, '+49 170 6666661');
    expect(await phoneOf()).toEqual({ phoneNumber: '+491706666661', phoneNumberVerified: true });
    expect(await idp.services.db.phoneFactor.count({ where: { userId: user.account.id } })).toBe(0);
    expect((await browser.get('/account/profile')).text).toContain('+491706666661, verified');
    await browser.submit(await browser.get('/account/profile'), {}, { form: '/remove' });
    expect(await phoneOf()).toEqual({ phoneNumber: null, phoneNumberVerified: false });
  });

  it('is unverified again after another change, and stays verified after one of other fields', async () => {
    await idp.services.accounts.update(user.account.id, { phoneNumber: '+49 170 6666662' });
    const browser = await signedIn(idp, user);
    await prove(browser, '+491706666662');
    expect(await phoneOf()).toEqual({ phoneNumber: '+49 170 6666662', phoneNumberVerified: true });
    await idp.services.accounts.update(user.account.id, { name: 'Renamed' });
    expect(await phoneOf()).toEqual({ phoneNumber: '+49 170 6666662', phoneNumberVerified: true });
    await idp.services.accounts.update(user.account.id, { phoneNumber: '+491700000000' });
    expect(await phoneOf()).toEqual({ phoneNumber: '+491700000000', phoneNumberVerified: false });
  });

  it('is verified by the codes of the second factor where it is the same number', async () => {
    await idp.services.accounts.update(user.account.id, { phoneNumber: '+49 170 6666663' });
    const browser = await signedIn(idp, user);
    const sent = await browser.submit(await browser.get('/account/factors/phone'), { phone: '+491706666663' });
    await browser.submit(sent, { code: codeIn(messages.at(-1)?.body.text ?? '') }, { form: '/confirm' });
    expect(await phoneOf()).toEqual({ phoneNumber: '+49 170 6666663', phoneNumberVerified: true });
  });

  it('cannot be replaced by the user where the configuration file declares the account', async () => {
    const declared = { phoneNumber: '+49 170 6666664', source: 'file' } as const;
    await idp.services.accounts.update(user.account.id, declared);
    const browser = await signedIn(idp, user);
    const page = await browser.get('/account/profile/phone');
    expect((await browser.submit(page, { phone: '+491700000000' })).status).toBe(403);
    await prove(browser, '+491706666664');
    expect(await phoneOf()).toEqual({ phoneNumber: '+49 170 6666664', phoneNumberVerified: true });
  });
});

it('a sign-in offers no codes without the settings', async () => {
  await idp.services.settings.unset('sms_gateway');
  await idp.services.settings.reload();
  const browser = await signedIn(idp, user);
  expect((await browser.get('/account/factors')).text).not.toContain('SMS');
  expect((await browser.get('/account/factors/phone')).status).toBe(404);
});
