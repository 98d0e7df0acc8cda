// The reset link: a token of 32 random bytes that works for 15 to 30 minutes, once, and of which only the hash is
// stored.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/base/platform/random.ts';
import { aService } from '../admin/support.ts';
import { testClock } from '../support/clock.ts';
import { aUser, PASSWORD, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { forgot, linkIn, mailIsIdle, mailOf, NEW_PASSWORD, open, passwordWorks, redeem, resetLink } from './support.ts';

const clock = testClock();
let box: Mailbox;
let idp: TestIdp;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url }, now: clock.now });
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

async function aPerson(): Promise<TestUser & { email: string; link(): Promise<string> }> {
  const user = await aUser(idp.services);
  const email = user.account.email ?? '';
  return { ...user, email, link: () => resetLink(idp, box, user.username, email) };
}
const works = (user: TestUser, password: string) => passwordWorks(idp.services, user.account.id, password);

describe('a reset link', () => {
  it('sets a new password, and sends a notice by mail', async () => {
    const user = await aPerson();
    const done = await redeem(idp, await user.link());
    expect(done.url).toBe(`${idp.issuer}/reset-password/done`);
    expect(await works(user, PASSWORD)).toBe('wrong');
    expect(await works(user, NEW_PASSWORD)).toBe('ok');
    expect((await mailOf(box, user.email, 'Your password was changed')).text).toContain('signed out everywhere');
    // The link leads to a form, and signs no user in.
    expect(done.setCookie.join()).not.toContain('gatehouse_session');
  });

  it('says that an administrator sent it, to a person who did not request it, by their name', async () => {
    const user = await aUser(idp.services, { name: null, givenName: 'Finn', familyName: 'Test' });
    const email = user.account.email ?? '';
    const requested = await forgot(idp, user.username).then(() => mailOf(box, email, 'Reset your password'));
    expect(requested.text.replace(/\s+/g, ' ')).toContain('If you didn’t request it, ignore this email.');
    const admin = await aService(idp);
    await admin.send('POST', `/users/${user.account.id}/password-reset`);
    const { text } = await mailOf(box, email, 'Reset your password');
    const words = text.replace(/\s+/g, ' ');
    expect(words).toContain('Hello Finn Test,');
    expect(words).toContain('An administrator sent you this link.');
    expect(words).not.toContain('request');
    expect((await redeem(idp, linkIn({ ...requested, text }))).url).toBe(`${idp.issuer}/reset-password/done`);
  });

  it('has a token of 32 random bytes, of which the database contains only the hash', async () => {
    const user = await aPerson();
    const token = new URL(await user.link()).searchParams.get('token') ?? '';
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const row = await idp.services.db.asStored.passwordResetToken.findFirstOrThrow({
      where: { userId: user.account.id },
    });
    expect(row.tokenHash).toBe(sha256(token));
    expect(row.expiresAt.getTime() - row.createdAt.getTime()).toBe(20 * 60_000);
    expect(JSON.stringify(row)).not.toContain(token);
  });

  it('ends when it was to end, whatever another program wrote into its row', async () => {
    const user = await aPerson();
    const link = await user.link();
    clock.advance({ minutes: 21 });
    const expiresAt = new Date(clock.now().getTime() + 3_600_000);
    await idp.services.db.asStored.passwordResetToken.updateMany({
      where: { userId: user.account.id },
      data: { expiresAt },
    });
    expect((await open(idp, link)).page.status).toBe(400);
  });

  it('stays valid when it is opened, and its token is removed from the address', async () => {
    const user = await aPerson();
    const link = await user.link();
    for (let times = 0; times < 3; times += 1) {
      const { page } = await open(idp, link);
      expect(page).toMatchObject({ status: 200, url: `${idp.issuer}/reset-password` });
      expect(page.text).not.toContain(new URL(link).searchParams.get('token'));
      expect(page.headers['cache-control']).toBe('no-store');
    }
    await redeem(idp, link);
    expect(await works(user, NEW_PASSWORD)).toBe('ok');
  });

  it('still works after a rejected password', async () => {
    const user = await aPerson();
    const { browser, page } = await open(idp, await user.link());
    const rejected = await browser.submit(page, { password: 'too short' });
    expect(rejected).toMatchObject({ status: 400 });
    expect(rejected.text).toContain('at least 15 characters');
    const common = await browser.submit(rejected, { password: 'passwordfootball' });
    expect(common.status).toBe(400);
    await browser.submit(common, { password: NEW_PASSWORD });
    expect(await works(user, NEW_PASSWORD)).toBe('ok');
  });

  it('works once', async () => {
    const user = await aPerson();
    const link = await user.link();
    const second = await open(idp, link);
    await redeem(idp, link);
    const again = await redeem(idp, link, 'another password that is long enough');
    expect(again.status).toBe(400);
    expect(again.text).toContain('already used');
    expect(again.text).toContain('href="/forgot-password"');
    // Also in a form that was open before.
    const late = await second.browser.submit(second.page, { password: 'yet another long password here' });
    expect(late.status).toBe(400);
    expect(await works(user, NEW_PASSWORD)).toBe('ok');
  });

  it('works for 20 minutes', async () => {
    const user = await aPerson();
    const link = await user.link();
    const { browser, page } = await open(idp, link);
    clock.advance({ minutes: 19, seconds: 50 });
    expect((await open(idp, link)).page.status).toBe(200);
    clock.advance({ seconds: 10 });
    expect((await open(idp, link)).page.status).toBe(400);
    expect((await browser.submit(page, { password: NEW_PASSWORD })).status).toBe(400);
    expect(await works(user, PASSWORD)).toBe('ok');
  });

  it('works as long as the setting says', async () => {
    const user = await aPerson();
    await idp.services.settings.set('reset_token_minutes', 30);
    await idp.services.settings.reload();
    await forgot(idp, user.username);
    const mail = await mailOf(box, user.email, 'Reset your password');
    expect(mail.text).toContain('30 minutes');
    clock.advance({ minutes: 29 });
    expect((await open(idp, linkIn(mail))).page.status).toBe(200);
    await idp.services.settings.unset('reset_token_minutes');
    await idp.services.settings.reload();
  });

  it('stops working when a newer one is requested', async () => {
    const user = await aPerson();
    const older = await user.link();
    const newer = await user.link();
    expect((await open(idp, older)).page.status).toBe(400);
    await redeem(idp, newer);
    expect(await works(user, NEW_PASSWORD)).toBe('ok');
  });

  it('stops working when the account is disabled', async () => {
    const user = await aPerson();
    const link = await user.link();
    await idp.services.accounts.setActive(user.account.id, false);
    expect((await open(idp, link)).page.status).toBe(400);
  });

  it.each(['', 'x', 'A'.repeat(43), `${'A'.repeat(43)};x=y`, '%00', 'a b'])(
    'is rejected when it was made up (%j)',
    async (token) => {
      const { page } = await open(idp, `/reset-password?token=${encodeURIComponent(token)}`);
      expect(page.status).toBe(400);
    },
  );

  it('does not set the password of another account whose link was opened in the same browser', async () => {
    const [opened, other] = [await aPerson(), await aPerson()];
    const browser = httpClient(idp.issuer);
    const page = await browser.follow(await browser.get(await opened.link()));
    await browser.follow(await browser.get(await other.link()));
    const rejected = await browser.submit(page, { password: NEW_PASSWORD });
    expect(rejected.status).toBe(400);
    expect(rejected.text).toContain('You opened another link in this browser');
    for (const user of [opened, other]) expect(await works(user, PASSWORD)).toBe('ok');
  });

  it('is rejected without a token', async () => {
    expect((await open(idp, '/reset-password')).page.status).toBe(400);
    await mailIsIdle(idp.services);
  });
});
