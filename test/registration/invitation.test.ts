// Invitations: the owner of an account that an administrator created chooses the first password with a mailed link.
import { describe, expect, it } from 'vitest';
import { transaction } from '../../src/base/storage/database.ts';
import { checkConnection } from '../../src/federation/connections/schema.ts';
import type { Account } from '../../src/people/accounts/account.ts';
import { type Ceremony, softAuthenticator } from '../mfa/authenticator.ts';
import { linkIn, mailIsIdle, mailOf, NEW_PASSWORD, open, passwordWorks, redeem } from '../recovery/support.ts';
import { httpClient, type Page } from '../support/http.ts';
import { textOf } from '../support/pages/html.ts';
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
    link: async () => linkIn(await mailOf(test.box, email ?? '', 'You’ve been invited to Gatehouse')),
  };
}
/** Of the passkey that a page asks for. */
const optionsIn = ({ text }: Page) =>
  JSON.parse((/data-options="([^"]*)"/.exec(text)?.[1] ?? '').replaceAll('&quot;', '"'));

describe('an invitation', () => {
  it('names the account, and its link sets the first password, verifies the address and signs in', async () => {
    const { account, outcome, link } = await invited();
    expect(outcome).toBe('sent');
    const { browser, page } = await open(test.idp, await link());
    expect(page.url).toBe(`${test.idp.issuer}/invitation`);
    expect(page.text).toContain(account.username);
    const rejected = await browser.submit(page, { password: 'greta' });
    expect(rejected.status).toBe(400);
    const done = await browser.follow(await browser.submit(rejected, { password: NEW_PASSWORD }));
    expect(done.url).toBe(`${test.idp.issuer}/dashboard`);
    expect((await browser.get('/account')).text).toContain('Greta Guest');
    expect(await passwordWorks(test.idp.services, account.id, NEW_PASSWORD)).toBe('ok');
    expect(await test.idp.services.accounts.find(account.id)).toMatchObject({ emailVerified: true });
    const [event] = await test.idp.services.audit.list({ types: ['account.invited'], subjectId: account.id });
    expect(event).toMatchObject({ actorId: 'admin' });
  });

  it('brings no notice of a new browser, which a later sign-in elsewhere does', async () => {
    const { account, link } = await invited();
    await redeem(test.idp, await link());
    await mailIsIdle(test.idp.services);
    const subjects = () =>
      test.box.messages.filter(({ to }) => to.includes(account.email ?? '')).map(({ subject }) => subject);
    expect(subjects()).toEqual(['You’ve been invited to Gatehouse']);
    const elsewhere = httpClient(test.idp.issuer);
    const form = await elsewhere.follow(await elsewhere.get('/login'));
    const signedIn = await elsewhere.follow(
      await elsewhere.submit(form, { username: account.username, password: NEW_PASSWORD }),
    );
    expect(signedIn.url).toBe(`${test.idp.issuer}/dashboard`);
    await mailIsIdle(test.idp.services);
    expect(subjects()).toHaveLength(2);
  });

  it('brings no notice either where the sign-in was left at the profile, and begun again', async () => {
    const { settings } = test.idp.services;
    const badge = { type: 'string', title: 'Badge', visible_to: ['person'], editable_by: ['person'], ask: true };
    await settings.set('user_attributes', { type: 'object', properties: { badge } });
    const { account, link } = await invited();
    const { browser, page } = await open(test.idp, await link());
    const left = await browser.follow(await browser.submit(page, { password: NEW_PASSWORD }));
    expect(textOf(left.text)).toContain('Complete your profile');
    const form = await browser.follow(await browser.get('/login'));
    const asked = await browser.follow(
      await browser.submit(form, { username: account.username, password: NEW_PASSWORD }),
    );
    const done = await browser.follow(await browser.submit(asked, { 'attributes.badge': '44' }));
    expect(done.url).toBe(`${test.idp.issuer}/dashboard`);
    await settings.set('user_attributes', {});
    await mailIsIdle(test.idp.services);
    const own = test.box.messages.filter(({ to }) => to.includes(account.email ?? ''));
    expect(own.map(({ subject }) => subject)).toEqual(['You’ve been invited to Gatehouse']);
  });

  it('signs in once, in the browser that accepted it, within minutes, and not after the password is set anew', async () => {
    const { invitations } = test.links;
    const request = { requestId: 'r', address: '127.0.0.1', userAgent: '' };
    const accept = async () => {
      const { account, link } = await invited();
      const token = new URL(await link()).searchParams.get('token') ?? '';
      const result = await invitations.accept(token, { password: NEW_PASSWORD }, request);
      if (result.outcome !== 'done' || !result.signIn) throw new Error('not accepted');
      // The mail of the invitation is no way to sign in.
      expect(await invitations.redeem(token)).toBeUndefined();
      return { account, signIn: result.signIn };
    };
    const once = await accept();
    const redeemed = await Promise.all(Array.from({ length: 10 }, () => invitations.redeem(once.signIn)));
    expect(redeemed.filter(Boolean)).toMatchObject([{ userId: once.account.id, amr: ['pwd'] }]);
    const late = await accept();
    test.clock.advance({ minutes: 10 });
    expect(await invitations.redeem(late.signIn)).toBeUndefined();
    const replaced = await accept();
    await test.idp.services.credentials.setPassword(replaced.account, `${NEW_PASSWORD}, again`);
    expect(await invitations.redeem(replaced.signIn)).toBeUndefined();
    const disabled = await accept();
    await test.idp.services.accounts.setActive(disabled.account.id, false);
    expect(await invitations.redeem(disabled.signIn)).toBeUndefined();
  });

  it('signs in its owner where another account is signed in', async () => {
    const { account, link } = await invited();
    const first = await invited();
    const { browser, page } = await open(test.idp, await first.link());
    await browser.follow(await browser.submit(page, { password: NEW_PASSWORD }));
    const second = await browser.follow(await browser.get(await link()));
    // The engine ends the session of the other one by a form that sends itself.
    const ending = await browser.follow(await browser.submit(second, { password: NEW_PASSWORD }));
    const done = await browser.follow(await browser.submit(ending));
    expect(done.url).toBe(`${test.idp.issuer}/dashboard`);
    expect((await browser.follow(await browser.get('/account'))).text).toContain(account.email);
  });

  it('takes a passkey in place of a password, shows recovery codes and signs in', async () => {
    const { services, issuer } = test.idp;
    const { account, link } = await invited();
    const address = await link();
    const { browser, page } = await open(test.idp, address);
    const form = page.forms.find(({ action }) => action.endsWith('/invitation/passkey'));
    const options = optionsIn(page);
    expect(options.authenticatorSelection).toMatchObject({ residentKey: 'required', userVerification: 'required' });
    const device = softAuthenticator();
    const here = { origin: issuer, rpId: new URL(issuer).hostname };
    const send = (wrong: Partial<Ceremony> = {}) =>
      browser.post('/invitation/passkey', {
        form: { ...form?.fields, response: device.create({ challenge: options.challenge, ...here, ...wrong }) },
      });
    const rejected = await send({ userVerified: false });
    expect(rejected.status).toBe(400);
    expect(rejected.text).toContain('passkey');
    const codes = await browser.follow(await send());
    expect(codes.url).toContain('/invitation/recovery-codes/');
    expect(await services.mfa.recoveryCodes.remaining(account.id)).toBeGreaterThan(0);
    const done = await browser.follow(await browser.get('/login?prompt=login'));
    expect(done.url).toBe(`${issuer}/dashboard`);
    expect(await services.credentials.status(account.id)).toBeUndefined();
    expect(await services.accounts.find(account.id)).toMatchObject({ emailVerified: true });
    // The link is used, and so is the sign-in.
    expect((await open(test.idp, address)).page.status).toBe(400);
    expect((await browser.follow(await browser.get('/login?prompt=login'))).url).toContain('/signin/');
  });

  it('offers no passkey to an account that got credentials meanwhile, and accepts none', async () => {
    const { services, issuer } = test.idp;
    const { account, link } = await invited();
    const { browser, page } = await open(test.idp, await link());
    const form = page.forms.find(({ action }) => action.endsWith('/invitation/passkey'));
    const { challenge } = optionsIn(page);
    const number = '+15550101';
    await services.db.phoneFactor.create({ data: { userId: account.id, number, confirmedAt: new Date() } });
    const response = softAuthenticator().create({ challenge, origin: issuer, rpId: new URL(issuer).hostname });
    const answer = await browser.post('/invitation/passkey', { form: { ...form?.fields, response } });
    expect(answer.status).toBe(400);
    expect(await services.mfa.passkeys.count(account.id)).toBe(0);
    const again = await browser.get('/invitation');
    expect(again.status).toBe(200);
    expect(again.forms.map(({ action }) => new URL(action, issuer).pathname)).toEqual(['/invitation']);
  });

  it('has a state: invited, opened, accepted, expired, bounced', async () => {
    const state = async ({ account }: { account: Account }) =>
      (await test.links.invitations.statesOf([account.id])).get(account.id)?.state;
    const one = await invited();
    const link = await one.link();
    expect(await state(one)).toBe('invited');
    await open(test.idp, link);
    expect(await state(one)).toBe('opened');
    await test.links.invitations.invite(one.account);
    expect(await state(one)).toBe('invited');
    await redeem(test.idp, await one.link());
    expect(await state(one)).toBe('accepted');
    const late = await invited();
    await late.link();
    test.clock.advance({ hours: 72 });
    expect(await state(late)).toBe('expired');
    await mailIsIdle(test.idp.services);
    test.box.rejectNext(1, 550);
    const bounced = await invited();
    await mailIsIdle(test.idp.services);
    expect(await state(bounced)).toBe('bounced');
    await test.links.invitations.invite(bounced.account);
    expect(await state(bounced)).toBe('invited');
    await bounced.link();
  });

  it('has the message of the administrator, as text', async () => {
    const { account } = await invited();
    const message = 'Hi <b>Greta</b>,\r\nsee https://intranet.example.com\u202e\u0000\n\n\n\nYour team';
    await test.links.invitations.invite(account, {}, { message });
    // The mails of two invitations may arrive in any order.
    const next = () => mailOf(test.box, account.email ?? '', 'You’ve been invited to Gatehouse');
    const [one, other] = [await next(), await next()];
    const { text, html } = one.text.includes('Message from') ? one : other;
    expect(text).toContain(
      'Message from your administrator:\n\n> Hi <b>Greta</b>,\n> see https://intranet.example.com\n>\n> Your team\n',
    );
    // What to do stays next to its link.
    expect(html.indexOf('&lt;b&gt;Greta')).toBeLessThan(html.lastIndexOf('Set up your sign-in'));
    expect(text).toMatch(/to\s+get\s+started:\n\nSet up your sign-in:\nhttp/);
    expect(html).toContain('Hi &lt;b&gt;Greta&lt;/b&gt;,<br>see https://intranet.example.com<br><br>Your team');
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
        test.links.invitations.accept(token, { password: `password number ${index} of many` }, request),
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
      await test.links.invitations.invite(account, {}, { tx });
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
