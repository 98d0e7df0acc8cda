// The address of a linked account follows its upstream, and a reset of the password follows the address.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgot, mailIsIdle, mailOf, open, passwordWorks, redeem, resetLink } from '../recovery/support.ts';
import { aUser, PASSWORD } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { expectSignedIn } from '../support/pages/enter.ts';
import { accountOf, anUpstream, type Connected, isAtApplication, signInOver } from './support.ts';

let box: Mailbox;
let idp: TestIdp;
let corp: Connected;
let count = 0;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  corp = await anUpstream(idp);
});
afterAll(async () => {
  await corp?.upstream.stop();
  await idp?.stop();
  await box?.close();
});

/** An account with a password that is linked to an identity with its address. */
async function aLinkedUser() {
  count += 1;
  const sub = `linked-${count}`;
  const email = `old-${count}@linked.example`;
  const user = await aUser(idp.services, { email, emailVerified: true });
  corp.upstream.user = { sub, email, email_verified: true };
  const { page, browser } = await signInOver(idp, corp.connection);
  const { username, password } = user;
  expectSignedIn(await browser.follow(await browser.submit(page, { username, password }), isAtApplication));
  return { ...user, sub, email, newEmail: `new-${count}@linked.example` };
}

async function signInWith(email: string, sub: string, isVerified: boolean): Promise<void> {
  corp.upstream.user = { sub, email, email_verified: isVerified };
  expectSignedIn((await signInOver(idp, corp.connection)).page);
}

describe('a new address that the upstream proves', () => {
  it('replaces the old one, which gets a mail about it, and the change is audited', async () => {
    const { account, email, newEmail, sub } = await aLinkedUser();
    await signInWith(newEmail, sub, true);
    expect(await accountOf(idp, corp.connection, sub)).toMatchObject({ email: newEmail, emailVerified: true });
    const mail = await mailOf(box, email, 'Your email address was changed');
    expect(mail.text).toContain('is now n•••@linked.example.');
    expect(mail.text).not.toContain(newEmail);
    const [entry] = await idp.services.audit.list({ types: ['email.changed'], subjectId: account.id });
    expect(entry?.data).toEqual({ before: email, after: newEmail, application: expect.stringMatching(/^client/) });
  });

  it('is reported once, not at each sign-in', async () => {
    const { email, newEmail, sub } = await aLinkedUser();
    await signInWith(newEmail, sub, true);
    await signInWith(newEmail, sub, true);
    await mailIsIdle(idp.services);
    const notices = box.messages.filter(({ to, subject }) => to.includes(email) && subject.includes('was changed'));
    expect(notices).toHaveLength(1);
  });

  it('ends the links that were mailed to the old one', async () => {
    const { account, username, email, newEmail, sub } = await aLinkedUser();
    const link = await resetLink(idp, box, username, email);
    await signInWith(newEmail, sub, true);
    expect((await open(idp, link)).page.status).not.toBe(200);
    await redeem(idp, link);
    expect(await passwordWorks(idp.services, account.id, PASSWORD)).toBe('ok');
  });
});

describe('a new address that the upstream only states', () => {
  it('resets no password: neither that of its account, nor that of the account which has the address', async () => {
    const { account, email, newEmail, sub } = await aLinkedUser();
    const victim = await aUser(idp.services, { email: `victim-${count}@linked.example`, emailVerified: true });
    for (const [stated, isVerified] of [
      [newEmail, false],
      [victim.account.email ?? '', true],
    ] as const) {
      await signInWith(stated, sub, isVerified);
      expect(await accountOf(idp, corp.connection, sub)).toMatchObject({ id: account.id, email });
    }
    await forgot(idp, newEmail);
    await forgot(idp, victim.account.email ?? '');
    const mail = await mailOf(box, victim.account.email ?? '', 'Reset your password');
    await mailIsIdle(idp.services);
    expect(mail.text).toContain(victim.username);
    expect(mail.text).not.toContain(account.username);
    expect(box.messages.filter(({ to }) => to.includes(newEmail))).toEqual([]);
  });
});
