// The account pages: they sign in like any relying party, and every change requires a recent proof.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aClient, aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

async function signedIn(user: TestUser): Promise<HttpClient> {
  const browser = httpClient(idp.issuer);
  const page = await browser.follow(await browser.get('/account'));
  const account = await browser.follow(
    await browser.submit(page, { username: user.username, password: user.password }),
  );
  expect(account.text).toContain('Your account');
  return browser;
}

describe('the account page', () => {
  it('redirects to the sign-in and back, and sets the cookie sessionId', async () => {
    const user = await aUser(idp.services);
    const browser = await signedIn(user);
    const cookie = browser.cookies.headerFor(new URL(idp.issuer));
    expect(cookie).toContain('sessionId=');
  });

  it('sets up an authenticator app and displays recovery codes', async () => {
    const user = await aUser(idp.services);
    const elsewhere = await signedIn(user);
    const browser = await signedIn(user);
    const page = await browser.get('/account/factors/app');
    const secret = /<code>([A-Z2-7 ]{16,})<\/code>/.exec(page.text)?.[1]?.replaceAll(' ', '') ?? '';
    const form = { code: generateSync({ secret }) };
    const codes = await browser.follow(await browser.submit(page, form));
    const listedCodes = (text: string) => text.match(/<li><code>[^<]+/g);
    expect(listedCodes(codes.text)).toHaveLength(10);
    // Submitted twice: the second response, which the browser displays, has the same codes, and nothing else changes.
    const twice = await browser.follow(await browser.submit(page, form));
    expect(listedCodes(twice.text)).toEqual(listedCodes(codes.text));
    expect(listedCodes((await browser.get(codes.url)).text)).toEqual(listedCodes(codes.text));
    expect((await elsewhere.get(codes.url)).status).toBe(404);
    const events = await idp.services.audit.list({
      subjectId: user.account.id,
      types: ['totp.enrolled', 'recovery-codes.created'],
    });
    expect(events).toHaveLength(2);
    expect(await idp.services.mfa.factors.hasSecondFactor(user.account.id)).toBe(true);
    // The password and this code are the strongest proof now; the code was used and is not required again.
    expect((await browser.get('/account/password')).status).toBe(200);
    const asked = await elsewhere.follow(await elsewhere.get('/account/password'));
    expect(asked.text).toContain('Enter the code from your authenticator app.');
  });

  it('lists what happened to the account in sentences, without names of administrators and events of others', async () => {
    const [user, other, boss] = [await aUser(idp.services), await aUser(idp.services), await aUser(idp.services)];
    const by = { actorId: boss.account.id };
    await idp.services.audit.record({ ...by, type: 'factors.reset', outcome: 'success', subjectId: user.account.id });
    await idp.services.audit.record({ ...by, type: 'factors.reset', outcome: 'success', subjectId: other.account.id });
    const { text } = await (await signedIn(user)).get('/account/activity');
    expect(textOf(text)).toContain('Ann Example signed in to Gatehouse with a password');
    expect(textOf(text)).toContain('An administrator reset two-step verification for Ann Example');
    for (const { username, account } of [other, boss])
      for (const secret of [username, account.id]) expect(text).not.toContain(secret);
    const french = await (await signedIn(user)).get('/account/activity', { headers: { 'Accept-Language': 'fr' } });
    expect(textOf(french.text)).toContain('Ann Example a ouvert une session dans l’application Gatehouse avec un mot');
    expect(textOf(french.text)).toContain(
      'Un administrateur a réinitialisé la validation en deux étapes du compte Ann Example',
    );
    expect(french.text).not.toContain('<strong lang=');
  });

  it('changes the password and signs out the other browsers', async () => {
    const user = await aUser(idp.services);
    const other = await signedIn(user);
    const browser = await signedIn(user);
    const password = 'another long pass phrase, fine';
    const page = await browser.submit(await browser.get('/account/password'), { password });
    expect((await browser.follow(page)).text).toContain('Password changed.');
    expect((await other.get('/account')).location).toContain('/login');
    expect((await browser.get('/account')).status).toBe(200);
  });

  it('lists the sessions and ends another one', async () => {
    const user = await aUser(idp.services);
    const other = await signedIn(user);
    const browser = await signedIn(user);
    const page = await browser.get('/account/sessions');
    expect(page.text).toContain('This browser');
    await browser.submit(page, {}, { form: '/account/sessions/end' });
    expect((await other.get('/account')).location).toContain('/login');
  });

  it('signs out at once from its own link, and after a confirmation from a link of another site', async () => {
    const user = await aUser(idp.services);
    const browser = await signedIn(user);
    const foreign = await browser.follow(await browser.get('/logout', { headers: { 'sec-fetch-site': 'cross-site' } }));
    expect(foreign.text).toContain('Sign out?');
  });

  it('asks without a name when its own page signs out, and names an application that asks', async () => {
    const browser = await signedIn(await aUser(idp.services));
    const own = textOf((await browser.follow(await browser.get('/logout'))).text);
    expect(own).toContain('Sign out?');
    expect(own).toContain('You’ll be signed out here and in every app you opened with this sign-in.');
    expect(own).not.toMatch(/wants to sign you out|Opened with this sign-in/);
    const wiki = await aClient(idp.services, { client_name: 'Wiki', redirect_uris: ['https://wiki.example.com/cb'] });
    const asked = await browser.get(`/end-session?client_id=${wiki.clientId}`);
    expect(textOf(asked.text)).toContain('Wiki wants to sign you out.');
    await browser.get('/language/de?next=/account');
    const german = textOf((await browser.follow(await browser.get('/logout'))).text);
    expect(german).toContain('Abmelden?');
    expect(german).not.toContain('möchte Sie abmelden');
  });

  it('lists only the applications that the user may open', async () => {
    const user = await aUser(idp.services);
    await idp.services.roles.create({ name: 'editor' });
    const client_uri = 'https://wiki.example.com/';
    await aClient(idp.services, {
      client_name: 'Wiki for all',
      redirect_uris: ['https://wiki.example.com/cb'],
      client_uri,
    });
    await aClient(idp.services, {
      client_name: 'Editors only',
      redirect_uris: ['https://edit.example.com/cb'],
      client_uri,
      access: { roles: ['editor'] },
    });
    const browser = await signedIn(user);
    const page = await browser.get('/dashboard');
    expect(page.text).toContain('Wiki for all');
    expect(page.text).not.toContain('Editors only');
    await idp.services.roles.assign(user.account.id, 'editor');
    expect((await browser.get('/dashboard?q=edit')).text).toContain('Editors only');
  });
});
