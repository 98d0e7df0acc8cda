// Invitations: the owner of an account that an administrator created chooses the first password with a mailed link.
import { describe, expect, it } from 'vitest';
import { transaction } from '../../src/base/storage/database.ts';
import { checkConnection } from '../../src/federation/connections/schema.ts';
import type { Account } from '../../src/people/accounts/account.ts';
import { linkIn, mailOf, NEW_PASSWORD, open, passwordWorks, redeem } from '../recovery/support.ts';
import { office } from './support.ts';

const test = office();
let count = 0;

async function invited(mail = true) {
  count += 1;
  const username = `guest${count}`;
  const email = mail ? `${username}@example.com` : null;
  const account = await test.idp.services.accounts.create({ username, email, name: 'Greta Guest' });
  const outcome = await test.links.invitations.invite(account, { actorId: 'admin' });
  return {
    account,
    outcome,
    link: async () => linkIn(await mailOf(test.box, email ?? '', `You’ve been invited to ${host()}`)),
  };
}
const host = () => new URL(test.idp.issuer).host;

describe('an invitation', () => {
  it('names the account, and its link sets the first password and verifies the address', async () => {
    const { account, outcome, link } = await invited();
    expect(outcome).toBe('sent');
    const { browser, page } = await open(test.idp, await link());
    expect(page.url).toBe(`${test.idp.issuer}/invitation`);
    expect(page.text).toContain(account.username);
    const rejected = await browser.submit(page, { password: 'greta' });
    expect(rejected.status).toBe(400);
    const done = await browser.follow(await browser.submit(rejected, { password: NEW_PASSWORD }));
    expect(done.url).toBe(`${test.idp.issuer}/invitation/done`);
    expect(await passwordWorks(test.idp.services, account.id, NEW_PASSWORD)).toBe('ok');
    expect(await test.idp.services.accounts.find(account.id)).toMatchObject({ emailVerified: true });
    const [event] = await test.idp.services.audit.list({ types: ['account.invited'], subjectId: account.id });
    expect(event).toMatchObject({ actorId: 'admin' });
  });

  it('works once, for three days, and only the newest of them', async () => {
    const { account, link } = await invited();
    const older = await link();
    await test.links.invitations.invite(account);
    const newer = await link();
    expect((await open(test.idp, older)).page.status).toBe(400);
    test.clock.advance({ hours: 71 });
    await redeem(test.idp, newer);
    expect((await open(test.idp, newer)).page.status).toBe(400);
    const late = await invited();
    const lateLink = await late.link();
    test.clock.advance({ hours: 72 });
    expect((await open(test.idp, lateLink)).page.status).toBe(400);
  });

  it('counts once when it is accepted twenty times in parallel', async () => {
    const { link } = await invited();
    const token = new URL(await link()).searchParams.get('token') ?? '';
    const request = { requestId: 'r', address: '127.0.0.1', userAgent: '' };
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        test.links.invitations.accept(token, `password number ${index} of many`, request),
      ),
    );
    expect(outcomes.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
  });

  it('stops working when a password is set in another way, the address changes, or the account is disabled', async () => {
    const { accounts, credentials } = test.idp.services;
    const [set, moved, disabled] = [await invited(), await invited(), await invited()];
    const links = [await set.link(), await moved.link(), await disabled.link()];
    await credentials.setPassword(set.account, NEW_PASSWORD);
    await accounts.update(moved.account.id, { email: 'elsewhere@example.com' });
    await accounts.setActive(disabled.account.id, false);
    for (const link of links) expect((await open(test.idp, link)).page.status).toBe(400);
  });

  it('is sent to no account that has a password, a second factor or a connected sign-in', async () => {
    const { services } = test.idp;
    const { db } = services;
    const number = '+15550100';
    const connection = {
      id: 'guests',
      kind: 'oidc',
      name: 'Guests',
      issuer: 'https://guests.example.com',
      client_id: 'gatehouse',
      client_secret: 'a secret of the upstream',
    };
    const checked = checkConnection(connection);
    if (checked.ok) await services.connections.create(checked.value);
    const give: Record<string, (account: Account) => Promise<unknown>> = {
      password: (account) => services.credentials.setPassword(account, NEW_PASSWORD),
      phone: ({ id: userId }) => {
        return db.phoneFactor.create({ data: { userId, number, confirmedAt: new Date() } });
      },
      passkey: ({ id: userId }) =>
        db.asStored.passkey.create({
          data: { id: `of-${userId}`, userId, name: 'Phone', publicKey: new Uint8Array(1) },
        }),
      'connected sign-in': ({ id: userId }) =>
        services.identities.link({ connectionId: 'guests', subject: userId, userId, label: '' }, {}),
    };
    for (const [credential, add] of Object.entries(give)) {
      const { account, link } = await invited();
      const before = await link();
      await add(account);
      expect(await test.links.invitations.invite(account), credential).toBe('has-credentials');
      if (credential !== 'connected sign-in') continue;
      // The page of the earlier one says that no password is needed.
      const { text } = (await open(test.idp, before)).page;
      expect(text).toContain('<a href="/login?connection=guests">sign in with Guests</a>');
    }
  });

  it('needs an address, and is sent only if its account is stored', async () => {
    expect((await invited(false)).outcome).toBe('no-address');
    const { accounts, db } = test.idp.services;
    const failing = transaction(db, async (tx) => {
      const account = await accounts.create({ username: 'ghost', email: 'ghost@example.com' }, {}, tx);
      await test.links.invitations.invite(account, {}, tx);
      throw new Error('something else went wrong');
    });
    await expect(failing).rejects.toThrow('something else');
    expect(await db.mailMessage.count({ where: { recipient: 'ghost@example.com' } })).toBe(0);
  });

  it('does not work as a reset link, nor a reset link as an invitation', async () => {
    const { link } = await invited();
    const token = new URL(await link()).searchParams.get('token');
    expect((await open(test.idp, `/reset-password?token=${token}`)).page.status).toBe(400);
    expect((await open(test.idp, `/verify-email?token=${token}`)).page.status).toBe(400);
    expect((await open(test.idp, `/unlock?token=${token}`)).page.status).toBe(400);
  });
});
