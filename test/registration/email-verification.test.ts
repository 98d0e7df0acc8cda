// Verification and change of an email address: the new address is verified, the old one gets a notice, and the
// response does not reveal whether another account has it.
import { describe, expect, it } from 'vitest';
import { linkIn, mailIsIdle, mailOf, open, redeem, resetLink } from '../recovery/support.ts';
import { aUser } from '../support/factories.ts';
import { office } from './support.ts';

const test = office();
let count = 0;
function fresh(): string {
  count += 1;
  return `address${count}@example.org`;
}
const now = (id: string) => test.idp.services.accounts.find(id);

async function press(link: string) {
  const { browser, page } = await open(test.idp, link);
  return page.status === 200 ? browser.follow(await browser.submit(page)) : page;
}

describe('the verification of an address', () => {
  it('needs a click on the page, so that a scanner that opens the link verifies nothing', async () => {
    const { account } = await aUser(test.idp.services, { emailVerified: false });
    expect(await test.links.emailVerification.requestVerification(account)).toEqual({ outcome: 'sent' });
    const link = linkIn(await mailOf(test.box, account.email ?? '', 'Confirm your email address'));
    const { page } = await open(test.idp, link);
    expect(page).toMatchObject({ status: 200, url: `${test.idp.issuer}/verify-email` });
    expect(await now(account.id)).toMatchObject({ emailVerified: false });
    expect((await press(link)).url).toBe(`${test.idp.issuer}/verify-email/done`);
    expect(await now(account.id)).toMatchObject({ emailVerified: true });
    expect((await press(link)).status).toBe(400);
    const verified = await now(account.id);
    if (!verified) throw new Error('the account is gone');
    expect(await test.links.emailVerification.requestVerification(verified)).toEqual({ outcome: 'already-verified' });
  });

  it('can be requested again, which replaces the older link, within a limit', async () => {
    const { account } = await aUser(test.idp.services, { emailVerified: false });
    const outcomes = [];
    const links = [];
    for (let times = 0; times < 6; times += 1) {
      const result = await test.links.emailVerification.requestVerification(account);
      outcomes.push(result.outcome);
      if (result.outcome === 'sent')
        links.push(linkIn(await mailOf(test.box, account.email ?? '', 'Confirm your email address')));
    }
    expect(outcomes).toEqual(['sent', 'sent', 'sent', 'sent', 'sent', 'wait']);
    expect((await press(links[0] ?? '')).status).toBe(400);
    expect((await press(links[4] ?? '')).status).toBe(200);
  });

  it('expires, and does not verify another address', async () => {
    const { account } = await aUser(test.idp.services, { emailVerified: false });
    const link = async () => linkIn(await mailOf(test.box, account.email ?? '', 'Confirm your email address'));
    await test.links.emailVerification.requestVerification(account);
    const late = await link();
    test.clock.advance({ hours: 24 });
    expect((await press(late)).status).toBe(400);
    await test.links.emailVerification.requestVerification(account);
    const old = await link();
    await test.idp.services.accounts.update(account.id, { email: fresh() });
    expect((await press(old)).status).toBe(400);
    expect(await now(account.id)).toMatchObject({ emailVerified: false });
  });
});

describe('a change of address', () => {
  it('takes effect when the new address is verified; the old one gets a notice and no longer signs in', async () => {
    const { account, username } = await aUser(test.idp.services);
    const before = account.email ?? '';
    const after = fresh();
    const resetToOld = await resetLink(test.idp, test.box, username, before);
    expect(await test.links.emailVerification.requestEmailChange(account, after)).toEqual({ outcome: 'sent' });
    const mail = await mailOf(test.box, after, 'Confirm your new email address');
    expect(mail.text).not.toContain(username);
    expect(await now(account.id)).toMatchObject({ email: before });
    await press(linkIn(mail));
    expect(await now(account.id)).toMatchObject({ email: after, emailVerified: true });
    const notice = await mailOf(test.box, before, 'Your email address was changed');
    expect(notice.text).toContain('a•••@example.org');
    expect(notice.text).not.toContain(after);
    expect((await redeem(test.idp, resetToOld)).status).toBe(400);
    const types = (await test.idp.services.audit.list({ subjectId: account.id })).map(({ type }) => type);
    expect(types).toContain('email.change-requested');
    expect(types).toContain('email.changed');
  });

  it('gets the same response for an address that is taken, and its owner gets a notice', async () => {
    const { account } = await aUser(test.idp.services);
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
    const { settings, accounts } = test.idp.services;
    await settings.set('username_domains', ['upn.example']);
    await settings.reload();
    const { account } = await aUser(test.idp.services);
    const holder = await accounts.create({ username: 'holder@upn.example', email: 'holder@mail.example' });
    const { emailVerification } = test.links;
    expect(await emailVerification.requestEmailChange(account, 'Holder@upn.example')).toEqual({ outcome: 'sent' });
    await mailOf(test.box, 'holder@mail.example', 'Your email address is already in use');
    // Its holder may have it as email address, too.
    expect(await emailVerification.requestEmailChange(holder, 'holder@upn.example')).toEqual({ outcome: 'sent' });
    const link = linkIn(await mailOf(test.box, 'holder@upn.example', 'Confirm your new email address'));
    expect((await press(link)).url).toContain('/verify-email');
    expect(await now(holder.id)).toMatchObject({ email: 'holder@upn.example', emailVerified: true });
  });

  it('fails when another account took the address first', async () => {
    const { account } = await aUser(test.idp.services);
    const wanted = fresh();
    await test.links.emailVerification.requestEmailChange(account, wanted);
    const link = linkIn(await mailOf(test.box, wanted, 'Confirm your new email address'));
    await aUser(test.idp.services, { email: wanted });
    expect((await press(link)).status).toBe(400);
    expect(await now(account.id)).toMatchObject({ email: account.email });
  });

  it.each([
    ['nobody', 'not-an-address'],
    ['', 'not-an-address'],
    ['a@example.com\r\nBcc: b@example.com', 'not-an-address'],
  ])('is rejected to %j', async (email, outcome) => {
    const { account } = await aUser(test.idp.services);
    expect(await test.links.emailVerification.requestEmailChange(account, email)).toEqual({ outcome });
  });

  it('is rejected for the same address, and for an account of the configuration file', async () => {
    const { account } = await aUser(test.idp.services);
    const { emailVerification } = test.links;
    expect(await emailVerification.requestEmailChange(account, (account.email ?? '').toUpperCase())).toEqual({
      outcome: 'unchanged',
    });
    const declared = { ...account, source: 'file' };
    expect(await emailVerification.requestEmailChange(declared, fresh())).toEqual({ outcome: 'owned-by-file' });
  });
});
