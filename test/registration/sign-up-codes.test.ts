// Sign-up with invitation codes, while the setting sign_up_code_required is on: the form, the mailed link, and the number of uses.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { linkIn, mailIsIdle, mailOf, NEW_PASSWORD, open } from '../recovery/support.ts';
import { testClock } from '../support/clock.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';

const REJECTED = 'This sign-up code can’t be used.';

const clock = testClock();
let box: Mailbox;
let idp: TestIdp;
let number = 0;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url }, now: clock.now });
});
beforeEach(async () => {
  await change({ self_registration: true, sign_up_code_required: true });
  await idp.services.db.rateLimit.deleteMany();
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

async function change(values: { self_registration?: boolean; sign_up_code_required?: boolean }): Promise<void> {
  const { settings } = idp.services;
  for (const [name, value] of Object.entries(values)) await settings.set(name as 'self_registration', value);
  await settings.reload();
}
async function aCode({ maxUses = 1, days = 1 } = {}) {
  number += 1;
  return idp.services.signUpCodes.create({ name: `Code ${number}`, maxUses, days }, {});
}
async function ask(email: string, code: string, browser: HttpClient = httpClient(idp.issuer)): Promise<Page> {
  return browser.submit(await browser.get('/sign-up'), { email, code });
}
async function linkFor(email: string, code: string): Promise<string> {
  expect((await ask(email, code)).status).toBe(303);
  return linkIn(await mailOf(box, email, 'Finish creating your account'));
}
/** The form of a link, filled in but not sent. */
async function formOf(link: string) {
  const { browser, page } = await open(idp, link);
  expect(page.status).toBe(200);
  return () => browser.submit(page, { password: NEW_PASSWORD });
}
const find = (email: string) => idp.services.accounts.findByEmail(email);
const usesOf = async (id: string) => (await idp.services.signUpCodes.get(id)).uses;
const rejections = async () =>
  (await idp.services.audit.list({ types: ['sign-up-code.rejected'] })).map(({ reason }) => reason);

describe('a sign-up code', () => {
  itOnSqlite('lets a person sign up, and counts one use when the account is created', async () => {
    const { code, text } = await aCode({ maxUses: 2 });
    const form = await httpClient(idp.issuer).get('/sign-up');
    expect(form.text).toContain('name="code"');
    const send = await formOf(await linkFor('first@example.com', ` ${text.replaceAll('-', ' ').toUpperCase()} `));
    expect(await usesOf(code.id)).toBe(0);
    expect((await send()).status).toBe(303);
    const account = await find('first@example.com');
    expect(account).toMatchObject({ emailVerified: true, roles: [] });
    expect(await usesOf(code.id)).toBe(1);
    const [event] = await idp.services.audit.list({ subjectId: account?.id ?? '', types: ['account.registered'] });
    expect(event?.data).toMatchObject({ codeId: code.id, codeName: code.name });
  });

  it('with one use creates one account of twelve at the same moment', async () => {
    const { code, text } = await aCode();
    const addresses = Array.from({ length: 12 }, (_, index) => `race${index}@example.com`);
    const send = [];
    for (const email of addresses) {
      await idp.services.db.rateLimit.deleteMany();
      send.push(await formOf(await linkFor(email, text)));
    }
    const answers = await Promise.all(send.map((one) => one()));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array.from({ length: 11 }, () => 400)]);
    const accounts = await Promise.all(addresses.map(find));
    expect(accounts.filter((account) => account !== undefined)).toHaveLength(1);
    expect(await usesOf(code.id)).toBe(1);
  });

  itOnSqlite('with three uses creates three accounts of eight at the same moment', async () => {
    const { code, text } = await aCode({ maxUses: 3 });
    const send = [];
    for (let index = 0; index < 8; index += 1)
      send.push(await formOf(await linkFor(`three${index}@example.com`, text)));
    const answers = await Promise.all(send.map((one) => one()));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(3);
    expect(await usesOf(code.id)).toBe(3);
  });

  it('counts no use when the same address is created twice', async () => {
    const { code, text } = await aCode({ maxUses: 5 });
    const link = await linkFor('twice@example.com', text);
    const send = await Promise.all([formOf(link), formOf(link), formOf(link)]);
    const answers = await Promise.all(send.map((one) => one()));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 400, 400]);
    expect(await usesOf(code.id)).toBe(1);
  });

  itOnSqlite('gets the same answer when it is unknown, used, expired, revoked or missing', async () => {
    const used = await aCode({ days: 3 });
    expect((await (await formOf(await linkFor('used@example.com', used.text)))()).status).toBe(303);
    const revoked = await aCode();
    await idp.services.signUpCodes.revoke(revoked.code.id, {});
    const expired = await aCode();
    const later = await aCode({ days: 3 });
    clock.advance({ hours: 24 });
    const answers = [];
    for (const code of ['7h3k-9qxm-2vtb', used.text, expired.text, revoked.text, '', 'x'.repeat(64)]) {
      const page = await ask('eve@example.com', code);
      const text = page.text.replace(/value="[^"]*"/g, '').replace(/nonce-[\w-]+|nonce="[^"]*"/g, '');
      answers.push({ status: page.status, text });
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({ status: 400, text: expect.stringContaining(REJECTED) });
    expect(await rejections()).toEqual(expect.arrayContaining(['unknown_code', 'used', 'expired']));
    await mailIsIdle(idp.services);
    expect(box.messages.flatMap(({ to }) => to)).not.toContain('eve@example.com');
    // The form keeps the address.
    const browser = httpClient(idp.issuer);
    const rejected = await ask('eve@example.com', 'wrong', browser);
    expect(rejected.text).toContain('value="eve@example.com"');
    expect((await browser.submit(rejected, { email: 'eve@example.com', code: later.text })).status).toBe(303);
  });

  it('is guessed ten times an hour from one network address', async () => {
    const { text } = await aCode();
    for (let times = 0; times < 10; times += 1)
      expect((await ask('eve@example.com', `guess-${times}`)).status).toBe(400);
    expect(await ask('eve@example.com', 'guess-10')).toMatchObject({ status: 429 });
    // The right one is not told from a wrong one any more.
    expect(await ask('eve@example.com', text)).toMatchObject({ status: 429 });
  });

  itOnSqlite('does not tell whether the address has an account', async () => {
    const { text } = await aCode({ maxUses: 2 });
    await (await formOf(await linkFor('known@example.com', text)))();
    const [known, unknown] = [await ask('known@example.com', text), await ask('other@example.com', text)];
    expect([known.status, known.location]).toEqual([unknown.status, unknown.location]);
    await mailOf(box, 'known@example.com', 'You already have an account');
  });
});

describe('a mailed link', () => {
  itOnSqlite('stops working when its code is revoked or expires', async () => {
    const [revoked, expiring] = [await aCode(), await aCode()];
    const sendLate = await formOf(await linkFor('late@example.com', revoked.text));
    const link = await linkFor('expired@example.com', expiring.text);
    await idp.services.signUpCodes.revoke(revoked.code.id, {});
    expect((await sendLate()).status).toBe(400);
    expect(await find('late@example.com')).toBeUndefined();
    clock.advance({ hours: 24 });
    expect((await open(idp, link)).page.status).toBe(400);
  });

  itOnSqlite('from before the setting has no code and stops working', async () => {
    await change({ sign_up_code_required: false });
    const browser = httpClient(idp.issuer);
    const form = await browser.get('/sign-up');
    expect(form.text).not.toContain('name="code"');
    expect((await browser.submit(form, { email: 'before@example.com' })).status).toBe(303);
    const send = await formOf(linkIn(await mailOf(box, 'before@example.com', 'Finish creating your account')));
    await change({ sign_up_code_required: true });
    expect((await send()).status).toBe(400);
    expect(await find('before@example.com')).toBeUndefined();
  });
});

itOnSqlite('a sign-up code admits no address outside of the domains', async () => {
  const { settings } = idp.services;
  const { text } = await aCode();
  await settings.set('sign_up_domains', ['example.com']);
  await settings.reload();
  try {
    expect((await ask('eve@elsewhere.example', text)).text).toContain('You can’t create an account with this email');
    expect((await ask('eve@example.com', text)).status).toBe(303);
  } finally {
    await settings.unset('sign_up_domains');
    await settings.reload();
  }
});
