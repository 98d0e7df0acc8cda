// Changes on the account pages over HTTP: email address, factors, password length, consents; the factors that an application
// requires; and the password strength meter.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Application, anApplication, authorizeUrl, completeSignIn } from '../oidc/support.ts';
import { linkIn, mailOf, open } from '../recovery/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { atAccount, signedIn } from '../support/pages/account.ts';
import { textOf } from '../support/pages/html.ts';

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
let box: Mailbox;
let idp: TestIdp;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

const now = ({ account }: TestUser) => idp.services.accounts.find(account.id);

describe('the email address', () => {
  it('changes when the link sent to the new one is opened, and the old one gets a notice', async () => {
    const user = await aUser(idp.services);
    const browser = await signedIn(idp, user);
    const wanted = `new-${user.username}@example.org`;
    const form = await browser.get('/account/email');
    const confirmation = await browser.follow(await browser.submit(form, { email: wanted }));
    expect(confirmation.text).toContain(`We’re sending a link to ${wanted}`);
    expect((await now(user))?.email).toBe(user.account.email);
    const link = linkIn(await mailOf(box, wanted, 'Confirm your new email address'));
    // The session of the user proves that the link is theirs; without one, the page asks for the sign-in.
    expect((await open(idp, link)).page.forms.map(({ action }) => action)).not.toContain('/verify-email');
    await browser.follow(await browser.submit(await browser.follow(await browser.get(link))));
    expect(await now(user)).toMatchObject({ email: wanted, emailVerified: true });
    const notice = await mailOf(box, user.account.email ?? '', 'Your email address was changed');
    expect(notice.text).not.toContain(wanted);
  });

  it('does not change to that of another user, which gets the same response', async () => {
    const [user, other] = [await aUser(idp.services), await aUser(idp.services)];
    const browser = await signedIn(idp, user);
    const email = other.account.email ?? '';
    const page = await browser.follow(await browser.submit(await browser.get('/account/email'), { email }));
    expect(page.text).toContain(`We’re sending a link to ${email}`);
    expect((await mailOf(box, email, 'Your email address is already in use')).text).not.toContain('token=');
    expect((await now(user))?.email).toBe(user.account.email);
  });

  it.each(['nobody', 'a@b@c'])('cannot be %j', async (email) => {
    const browser = await signedIn(idp, await aUser(idp.services));
    const rejected = await browser.submit(await browser.get('/account/email'), { email });
    expect(rejected.status).toBe(400);
    expect(rejected.text).toContain('Enter an email address, such as name@example.com.');
  });

  it('is verified from the account page, with at most five mails in an hour', async () => {
    const user = await aUser(idp.services, { emailVerified: false });
    const browser = await signedIn(idp, user);
    const page = await browser.get('/account');
    const statuses = [];
    for (let times = 0; times < 6; times += 1)
      statuses.push((await browser.submit(page, {}, { form: '/account/email/verify' })).status);
    expect(statuses).toEqual([303, 303, 303, 303, 303, 429]);
    const links = [];
    for (let times = 0; times < 5; times += 1)
      links.push(linkIn(await mailOf(box, user.account.email ?? '', 'Confirm your email address')));
    // The newest link invalidates the others, in whatever order the mails arrive.
    const live = [];
    for (const link of links) {
      const opened = await browser.follow(await browser.get(link));
      if (opened.status === 200 && opened.forms.some(({ action }) => action.endsWith('/verify-email'))) live.push(link);
    }
    expect(live).toHaveLength(1);
    // A browser holds the token of the link that it opened last.
    const opened = await browser.follow(await browser.get(live[0] ?? ''));
    const done = await browser.follow(await browser.submit(opened, {}, { form: '/verify-email' }));
    expect([done.status, new URL(done.url).pathname]).toEqual([200, '/verify-email/done']);
    expect((await now(user))?.emailVerified).toBe(true);
  });

  it('of a user of the configuration file is not changed, and the response says who manages it', async () => {
    const user = await aUser(idp.services, { source: 'file', name: 'Dana File' });
    const browser = await signedIn(idp, user);
    const { _csrf = '' } =
      (await browser.get('/account/password')).forms.find(({ fields }) => fields._csrf)?.fields ?? {};
    const sent = await browser.request('POST', '/account/email', { form: { _csrf, email: 'x@example.com' } });
    expect([sent.status, textOf(sent.text)]).toEqual([
      403,
      expect.stringMatching(/The configuration file manages Dana File\b.*, so you can’t change it here/),
    ]);
    expect((await now(user))?.email).toBe(user.account.email);
  });

  it('is not said to be confirmed where there is none', async () => {
    const browser = await signedIn(idp, await aUser(idp.services, { email: null }));
    const { _csrf = '' } = (await browser.get('/account/email')).forms.find(({ fields }) => fields._csrf)?.fields ?? {};
    const page = await browser.follow(await browser.request('POST', '/account/email/verify', { form: { _csrf } }));
    expect([page.status, textOf(page.text)]).toEqual([
      200,
      expect.stringContaining('You don’t have an email address yet.'),
    ]);
    expect(textOf(page.text)).not.toContain('already confirmed');
  });

  it('cannot be changed from another site, nor without a sign-in', async () => {
    const browser = await signedIn(idp, await aUser(idp.services));
    const form = await browser.get('/account/email');
    const foreign = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } };
    expect((await browser.submit(form, { email: 'x@example.com' }, foreign)).status).toBe(403);
    expect((await httpClient(idp.issuer).get('/account/email')).location).toContain('/login');
  });
});

describe('the password', () => {
  it('is changed where password managers look for it, signed in or not', async () => {
    const user = await aUser(idp.services);
    const signedOut = await httpClient(idp.issuer).get('/.well-known/change-password');
    expect([signedOut.status, new URL(signedOut.location ?? '', idp.issuer).pathname]).toEqual([
      303,
      '/account/password',
    ]);
    const browser = await signedIn(idp, user);
    const page = await browser.follow(await browser.get('/.well-known/change-password'));
    expect(Object.keys(page.forms.at(-1)?.fields ?? {})).toContain('password');
    // So that password managers trust the status of an address that exists.
    expect(
      (await browser.get('/.well-known/resource-that-should-not-exist-whose-status-code-should-not-be-200')).status,
    ).toBe(404);
  });

  it('ends, by its change, a sign-in that was completed with the old one but not yet resumed', async () => {
    const user = await aUser(idp.services);
    const app = await anApplication(idp);
    const attacker = httpClient(idp.issuer);
    const form = await attacker.follow(await attacker.get(authorizeUrl(idp, app.clientId)));
    const completed = await attacker.submit(form, { username: user.username, password: user.password });
    expect(completed.location).toContain('/authorize/');

    const browser = await signedIn(idp, user);
    const changed = await browser.submit(await browser.get('/account/password'), { password: 'quite another phrase' });
    expect(changed.status).toBe(303);
    const resumed = await attacker.follow(await attacker.get(completed.location ?? ''), (url) =>
      url.startsWith(app.redirectUri),
    );
    expect(resumed.status).toBe(400);
    expect(resumed.text).toContain('This sign-in has expired');
  });
});

describe('the last second factor', () => {
  it('can be removed only with a password of fifteen characters', async () => {
    const user = await aUser(idp.services);
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    const short = 'kelp-otter';
    expect(await idp.services.credentials.setPassword(user.account, short)).toBe('ok');
    const browser = httpClient(idp.issuer);
    const question = await atAccount(idp, { username: user.username, password: short }, browser);
    await browser.follow(await browser.submit(question, { code: generateSync({ secret: SECRET }) }));

    const remove = async (): Promise<Page> => {
      const page = await browser.follow(await browser.get('/account/factors'));
      return browser.follow(await browser.submit(page, {}, { form: '/app/remove' }));
    };
    const page = await remove();
    expect(page.text).toContain('Choose a longer password first');
    expect(await idp.services.mfa.factors.hasSecondFactor(user.account.id)).toBe(true);
    const rejected = await browser.submit(page, { password: 'still-short' });
    expect(rejected.status).toBe(400);
    await browser.follow(await browser.submit(rejected, { password: 'seven green umbrellas in march' }));
    expect((await remove()).text).toContain('Authenticator app removed.');
    expect(await idp.services.mfa.factors.hasSecondFactor(user.account.id)).toBe(false);
    await mailOf(box, user.account.email ?? '', 'The authenticator app was removed from your account');
  });
});

describe('an application', () => {
  const enter = async (app: Application, user: TestUser): Promise<Page> =>
    completeSignIn(httpClient(idp.issuer), authorizeUrl(idp, app.clientId), { user });

  it('gets a second factor when it requires one, which others do not', async () => {
    const user = await aUser(idp.services);
    const [strict, plain] = [await anApplication(idp, { mfa: 'required' }), await anApplication(idp)];
    expect((await enter(plain, user)).location).toContain('code=');
    const asked = await enter(strict, user);
    expect(asked.text).toContain('Set up two-step verification');
    expect(asked.text).toContain(' requires two-step verification.');
    expect(asked.text).not.toContain('Your organization');
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    expect((await enter(strict, user)).text).toContain('one-time-code');
  });

  it('rejects the code of an app when it requires a passkey', async () => {
    const user = await aUser(idp.services);
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    const app = await anApplication(idp, { mfa: 'phishing-resistant' });
    const browser = httpClient(idp.issuer);
    const question = await completeSignIn(browser, authorizeUrl(idp, app.clientId), { user });
    const code = generateSync({ secret: SECRET });
    const next = await browser.follow(await browser.submit(question, { code }), (to) => to.startsWith(app.redirectUri));
    expect(next.location).toBeUndefined();
    expect(next.text).toContain('Set up passkey');
    expect(next.text).not.toContain('name="code"');
  });

  it('loses its consent when the user revokes it, and needs a new one', async () => {
    const user = await aUser(idp.services);
    const app = await anApplication(idp, { client_name: 'Photo album', consent: 'explicit' });
    const browser = httpClient(idp.issuer);
    const url = authorizeUrl(idp, app.clientId, { scope: 'openid profile' });
    expect((await completeSignIn(browser, url, { user })).location).toContain('code=');
    const again = await browser.follow(await browser.get(url), (to) => to.startsWith(app.redirectUri));
    expect(again.location).toContain('code=');
    const page = await browser.follow(await browser.get('/account/applications'));
    expect(page.text).toContain('Photo album');
    expect(page.text).toContain('See your name and profile');
    const gone = await browser.follow(await browser.submit(page, {}, { form: '/applications/revoke' }));
    expect(gone.text).toContain('Access removed. The app can’t see your data anymore.');
    expect(gone.text).not.toContain('Photo album');
    const consentPage = await browser.follow(await browser.get(url), (to) => to.startsWith(app.redirectUri));
    expect(consentPage.text).toContain('will be able to');
  });
});

describe('the strength meter', () => {
  it('rates the typed password, considers the username, and stores and blocks nothing', async () => {
    const browser = await signedIn(idp, await aUser(idp.services));
    const token = (await browser.get('/account/password')).forms[0]?.fields._csrf ?? '';
    const ask = (json: object, headers: Record<string, string> = { 'x-csrf-token': token }) =>
      browser.post('/password-strength', { json, headers: { origin: idp.issuer, ...headers } });
    const weak = await ask({ password: 'passwordfootball' });
    expect(weak.status).toBe(200);
    expect(weak.headers['cache-control']).toBe('no-store');
    const strong = await ask({ password: 'seven green umbrellas in march' });
    expect(strong.json<{ score: number }>().score).toBeGreaterThan(weak.json<{ score: number }>().score);
    const own = await ask({ password: 'bartholomew1987', known: ['bartholomew'] });
    expect(own.json<{ score: number }>().score).toBeLessThan(3);
    expect((await ask({ password: '' })).status).toBe(400);
    expect([403, 415]).toContain((await ask({ password: 'x' }, {})).status);
    expect(idp.log.join('')).not.toContain('umbrellas');
  });
});

describe('changes of the own account', () => {
  it('are limited to 60 an hour for each user, on any of the pages, and others are not affected', async () => {
    const [user, other] = [await aUser(idp.services), await aUser(idp.services)];
    const browser = await signedIn(idp, user);
    const form = await browser.get('/account/profile');
    for (let times = 1; times <= 60; times += 1)
      expect((await browser.submit(form, { name: `Name ${times}` })).status, String(times)).toBe(303);
    const rejected = await browser.submit(form, { name: 'Name 61' });
    expect(rejected.status).toBe(429);
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(0);
    expect((await now(user))?.name).toBe('Name 60');
    // The same limit in another session of the user, and on another page.
    const second = await signedIn(idp, user);
    expect((await second.submit(await second.get('/account/email'), { email: 'x@example.com' })).status).toBe(429);
    const others = await signedIn(idp, other);
    expect((await others.submit(await others.get('/account/profile'), { name: 'Other' })).status).toBe(303);
  });
});
