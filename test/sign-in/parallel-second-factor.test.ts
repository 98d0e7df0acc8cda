// One second-factor code in several browsers at the same moment signs in only one of them. (One reset link:
// test/recovery/concurrency.test.ts.)
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mailOf } from '../recovery/support.ts';
import { databaseKind } from '../support/database/database.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { atAccount } from '../support/pages/account.ts';

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const BROWSERS = 5; // as many as tries are free, so that no limit decides
let box: Mailbox;
let idp: TestIdp;
let other: TestIdp | undefined;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  for (const [name, value] of [
    ['email_codes', true],
    ['mfa', 'required'],
  ] as const)
    await idp.services.settings.set(name, value);
  await idp.services.settings.reload();
  if (databaseKind() === 'postgresql') {
    const { DATABASE_URL } = idp.environment;
    other = await startIdp({
      environment: { DATABASE_URL: String(DATABASE_URL), SMTP_URL: box.url },
    });
  }
});
afterAll(async () => {
  await other?.stop();
  await idp?.stop();
  await box?.close();
});

interface Place {
  browser: HttpClient;
  page: Page;
}

/** Browsers at the second-factor step, on both instances where there are two. */
async function atQuestion(user: TestUser): Promise<Place[]> {
  const places: Place[] = [];
  for (let index = 0; index < BROWSERS; index += 1) {
    const at = index % 2 === 1 && other ? other : idp;
    const browser = httpClient(at.issuer);
    places.push({ browser, page: await atAccount(at, user, browser) });
  }
  return places;
}

/** How many of them got past this step. */
async function winners(places: Place[], method: string, code: string): Promise<number> {
  const answers = await Promise.all(
    places.map(({ browser, page }) => {
      const [form] = page.forms;
      const action = `${new URL(page.url).pathname}/code`;
      return browser.post(action, {
        form: { _csrf: form?.fields._csrf ?? '', method, code },
        headers: { origin: new URL(page.url).origin, 'sec-fetch-site': 'same-origin' },
      });
    }),
  );
  expect(answers.map(({ status }) => status).filter((status) => ![303, 401].includes(status))).toEqual([]);
  return answers.filter(({ status }) => status === 303).length;
}

describe('one browser of several in parallel signs in', () => {
  it('with one code of an authenticator app', async () => {
    const user = await aUser(idp.services);
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    const places = await atQuestion(user);
    expect(await winners(places, 'totp', generateSync({ secret: SECRET }))).toBe(1);
  });

  it('with one recovery code', async () => {
    const user = await aUser(idp.services);
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    const [code = ''] = await idp.services.mfa.recoveryCodes.create(user.account.id);
    expect(await winners(await atQuestion(user), 'recovery-code', code)).toBe(1);
    expect(await idp.services.mfa.recoveryCodes.remaining(user.account.id)).toBe(9);
  });

  it('with one code sent by email', async () => {
    const user = await aUser(idp.services);
    const places = await atQuestion(user);
    const [first] = places;
    if (!first) throw new Error('there is no browser');
    await first.browser.submit(first.page, {}, { form: 'send-code' });
    const code = /\b(\d{6})\b/.exec((await mailOf(box, user.account.email ?? '', 'Your sign-in code')).text)?.[1] ?? '';
    expect(await winners(places, 'email', code)).toBe(1);
  });
});
