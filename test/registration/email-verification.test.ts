// Verification and change of an email address: the new address is verified, the old one gets a notice, and the
// response does not reveal whether another account has it.
import { describe, expect, it } from 'vitest';
import { linkIn, mailIsIdle, mailOf, open, redeem, resetLink } from '../recovery/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { signedIn } from '../support/pages/account.ts';
import { office } from './support.ts';

const test = office();
let count = 0;
function fresh(): string {
  count += 1;
  return `address${count}@example.org`;
}
const now = (id: string) => test.idp.services.accounts.find(id);

/** As the user who asked for the mail. */
async function press(link: string, user: TestUser) {
  const browser = await signedIn(test.idp, user);
  const page = await browser.follow(await browser.get(link));
  return page.status === 200 ? browser.follow(await browser.submit(page)) : page;
}

describe('the verification of an address', () => {
  it('needs a click on the page, so that a scanner that opens the link verifies nothing', async () => {
    const user = await aUser(test.idp.services, { emailVerified: false });
    const { account } = user;
    expect(await test.links.emailVerification.requestVerification(account)).toEqual({ outcome: 'sent' });
    const link = linkIn(await mailOf(test.box, account.email ?? '', 'Confirm your email address'));
    const browser = await signedIn(test.idp, user);
    const page = await browser.follow(await browser.get(link));
    expect(page).toMatchObject({ status: 200, url: `${test.idp.issuer}/verify-email` });
    expect(await now(account.id)).toMatchObject({ emailVerified: false });
    expect((await press(link, user)).url).toBe(`${test.idp.issuer}/verify-email/done`);
    expect(await now(account.id)).toMatchObject({ emailVerified: true });
    expect((await press(link, user)).status).toBe(400);
    const verified = await now(account.id);
    if (!verified) throw new Error('the account is gone');
    expect(await test.links.emailVerification.requestVerification(verified)).toEqual({ outcome: 'already-verified' });
  });

  it('can be requested again, which replaces the older link, within a limit', async () => {
    const user = await aUser(test.idp.services, { emailVerified: false });
    const { account } = user;
    const outcomes = [];
    const links = [];
    for (let times = 0; times < 6; times += 1) {
      const result = await test.links.emailVerification.requestVerification(account);
      outcomes.push(result.outcome);
      if (result.outcome === 'sent')
        links.push(linkIn(await mailOf(test.box, account.email ?? '', 'Confirm your email address')));
    }
    expect(outcomes).toEqual(['sent', 'sent', 'sent', 'sent', 'sent', 'wait']);
    expect((await press(links[0] ?? '', user)).status).toBe(400);
    expect((await press(links[4] ?? '', user)).status).toBe(200);
  });

  it('expires, and does not verify another address', async () => {
    const user = await aUser(test.idp.services, { emailVerified: false });
    const { account } = user;
    const link = async () => linkIn(await mailOf(test.box, account.email ?? '', 'Confirm your email address'));
    await test.links.emailVerification.requestVerification(account);
    const late = await link();
    const token = new URL(late).searchParams.get('token') ?? '';
    expect(await test.links.emailVerification.find(token)).toMatchObject({ userId: account.id });
    test.clock.advance({ hours: 24 });
    expect(await test.links.emailVerification.find(token)).toBeUndefined();
    test.clock.advance({ hours: -24 });
    await test.links.emailVerification.requestVerification(account);
    const old = await link();
    await test.idp.services.accounts.update(account.id, { email: fresh() });
    expect((await press(old, user)).status).toBe(400);
    expect(await now(account.id)).toMatchObject({ emailVerified: false });
  });
});

describe('a change of address', () => {
  it('takes effect when the new address is verified; the old one gets a notice and no longer signs in', async () => {
    const user = await aUser(test.idp.services);
    const { account, username } = user;
    const before = account.email ?? '';
    const after = fresh();
    const resetToOld = await resetLink(test.idp, test.box, username, before);
    expect(await test.links.emailVerification.requestEmailChange(account, after)).toEqual({ outcome: 'sent' });
    const mail = await mailOf(test.box, after, 'Confirm your new email address');
    expect(mail.text).not.toContain(username);
    expect(await now(account.id)).toMatchObject({ email: before });
    await press(linkIn(mail), user);
    expect(await now(account.id)).toMatchObject({ email: after, emailVerified: true });
    const notice = await mailOf(test.box, before, 'Your email address was changed');
    expect(notice.text).toContain('a•••@example.org');
    expect(notice.text).not.toContain(after);
    expect((await redeem(test.idp, resetToOld)).status).toBe(400);
    const types = (await test.idp.services.audit.list({ subjectId: account.id })).map(({ type }) => type);
    expect(types).toContain('email.change-requested');
    expect(types).toContain('email.changed');
  });

  it('works only for the user who asked for it: not for the recipient, without a session or with another one', async () => {
    const user = await aUser(test.idp.services);
    const victim = await aUser(test.idp.services);
    const wanted = fresh();
    await test.links.emailVerification.requestEmailChange(user.account, wanted);
    const link = linkIn(await mailOf(test.box, wanted, 'Confirm your new email address'));
    const { page } = await open(test.idp, link);
    expect(page.forms[0]?.fields).toHaveProperty('password');
    const foreign = await press(link, victim);
    expect([foreign.status, foreign.text]).toEqual([400, expect.stringContaining('belongs to another account')]);
    // A form that was filled in before is no way around it.
    const browser = await signedIn(test.idp, victim);
    await browser.get(link);
    const sent = await browser.post('/verify-email', { form: { displayedValue: wanted } });
    expect(sent.status).toBeGreaterThanOrEqual(400);
    expect((await httpClient(test.idp.issuer).post('/verify-email', { form: {} })).status).toBe(401);
    expect(await now(user.account.id)).toMatchObject({ email: user.account.email });
    // Signed in on the way, the owner goes on where the link led.
    const owner = httpClient(test.idp.issuer);
    const form = await owner.follow(await owner.get(link));
    const confirm = await owner.follow(await owner.submit(form, { username: user.username, password: user.password }));
    expect(confirm.url).toBe(`${test.idp.issuer}/verify-email`);
    await owner.follow(await owner.submit(confirm));
    expect(await now(user.account.id)).toMatchObject({ email: wanted, emailVerified: true });
  });

  it('gets the same response for an address that is taken, and its owner gets a notice', async () => {
    const user = await aUser(test.idp.services);
    const { account } = user;
    const other = await aUser(test.idp.services);
    const result = await test.links.emailVerification.requestEmailChange(
      account,
      (other.account.email ?? '').toUpperCase(),
    );
    expect(result).toEqual({ outcome: 'sent' });
    const mail = await mailOf(test.box, other.account.email ?? '', 'Your email address is already in use');
    expect(mail.text).not.toContain('token=');
    expect(mail.text).not.toContain(account.username);
    await mailIsIdle(test.idp.services);
    expect(await now(account.id)).toMatchObject({ email: account.email });
  });

  it('gets the same response for an address that is the username of another account', async () => {
    const { settings } = test.idp.services;
    await settings.set('username_domains', ['upn.example']);
    await settings.reload();
    const user = await aUser(test.idp.services);
    const { account } = user;
    const { account: holder, ...signIn } = await aUser(test.idp.services, {
      username: 'holder@upn.example',
      email: 'holder@mail.example',
    });
    const { emailVerification } = test.links;
    expect(await emailVerification.requestEmailChange(account, 'Holder@upn.example')).toEqual({ outcome: 'sent' });
    await mailOf(test.box, 'holder@mail.example', 'Your email address is already in use');
    // Its holder may have it as email address, too.
    expect(await emailVerification.requestEmailChange(holder, 'holder@upn.example')).toEqual({ outcome: 'sent' });
    const link = linkIn(await mailOf(test.box, 'holder@upn.example', 'Confirm your new email address'));
    expect((await press(link, { account: holder, ...signIn })).url).toContain('/verify-email');
    expect(await now(holder.id)).toMatchObject({ email: 'holder@upn.example', emailVerified: true });
  });

  it('fails when another account took the address first', async () => {
    const user = await aUser(test.idp.services);
    const { account } = user;
    const wanted = fresh();
    await test.links.emailVerification.requestEmailChange(account, wanted);
    const link = linkIn(await mailOf(test.box, wanted, 'Confirm your new email address'));
    await aUser(test.idp.services, { email: wanted });
    expect((await press(link, user)).status).toBe(400);
    expect(await now(account.id)).toMatchObject({ email: account.email });
  });

  it.each([
    ['nobody', 'not-an-address'],
    ['', 'not-an-address'],
    ['a@example.com\r\nBcc: b@example.com', 'not-an-address'],
  ])('is rejected to %j', async (email, outcome) => {
    const user = await aUser(test.idp.services);
    const { account } = user;
    expect(await test.links.emailVerification.requestEmailChange(account, email)).toEqual({ outcome });
  });

  it('is rejected for the same address, and for an account of the configuration file', async () => {
    const user = await aUser(test.idp.services);
    const { account } = user;
    const { emailVerification } = test.links;
    expect(await emailVerification.requestEmailChange(account, (account.email ?? '').toUpperCase())).toEqual({
      outcome: 'unchanged',
    });
    const declared = { ...account, source: 'file' };
    await expect(emailVerification.requestEmailChange(declared, fresh())).rejects.toMatchObject({
      code: 'owned_by_file',
    });
  });
});
