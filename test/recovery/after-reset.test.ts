// What a password reset ends: sessions and tokens on every instance, known browsers and lockouts. The second factor
// stays.
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RelyingParty, relyingParty } from '../support/applications/rp.ts';
import { type RelyingPartyApp, relyingPartyApp } from '../support/applications/rp-app.ts';
import { aClient, aUser, type TestUser } from '../support/factories.ts';
import { failSignIn } from '../support/failed-sign-in.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { signedIn } from '../support/pages/account.ts';
import { linkIn, mailOf, NEW_PASSWORD, open, redeem, resetLink } from './support.ts';

let box: Mailbox;
let idp: TestIdp;
let app: RelyingPartyApp;
let rp: RelyingParty;
let clientId: string;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  app = await relyingPartyApp();
  const client = await aClient(idp.services, {
    redirect_uris: [app.redirectUri],
    backchannel_logout_uri: app.backchannelLogoutUri,
    backchannel_logout_session_required: true,
    grant_types: ['authorization_code', 'refresh_token'],
  });
  clientId = client.clientId;
  rp = await relyingParty({ issuer: idp.issuer, ...client, redirectUri: app.redirectUri });
});
afterAll(async () => {
  await idp?.stop();
  await app?.close();
  await box?.close();
});

async function signIn(user: TestUser, password = user.password) {
  const browser = httpClient(idp.issuer);
  const started = await rp.start({ scope: 'openid offline_access', prompt: 'consent' });
  let page = await browser.follow(await browser.get(started.url));
  page = await browser.submit(page, { username: user.username, password });
  const isApp = (url: string) => url.startsWith(app.redirectUri);
  page = await browser.follow(page, isApp);
  if (!page.location && page.text.includes('decision')) {
    page = await browser.follow(await browser.submit(page, {}, { button: 'Allow' }), isApp);
  }
  return { browser, page, tokens: page.location ? await rp.finish(page.location, started) : undefined };
}
const reset = async ({ username, account }: TestUser) =>
  redeem(idp, await resetLink(idp, box, username, account.email ?? ''));

describe('a password reset', () => {
  it('ends the session of another browser with its tokens, and notifies the application', async () => {
    const user = await aUser(idp.services);
    const { browser, tokens } = await signIn(user);
    if (!tokens) throw new Error('not signed in');
    expect((await rp.refresh(tokens.refresh_token ?? '')).access_token).toBeTruthy();
    await reset(user);
    const [logoutToken = ''] = await app.waitForLogoutTokens(1);
    expect(decodeJwt(logoutToken)).toMatchObject({ aud: clientId, sub: user.account.id, iss: idp.issuer });
    expect((await rp.introspect(tokens.access_token)).active).toBe(false);
    await expect(rp.refresh(tokens.refresh_token ?? '')).rejects.toThrow();
    const silent = await rp.start({ prompt: 'none' });
    const back = await browser.get(silent.url);
    expect(back.location).toContain('error=login_required');
    expect(await idp.services.sessions.list(user.account.id)).toEqual([]);
  });

  it('lets the new password sign in, and the old one no longer', async () => {
    const user = await aUser(idp.services);
    await reset(user);
    expect((await signIn(user)).page.status).toBe(401);
    expect((await signIn(user, NEW_PASSWORD)).tokens?.access_token).toBeTruthy();
  });

  it('forgets the known browsers, and ends a lockout', async () => {
    const user = await aUser(idp.services);
    const { knownBrowsers } = idp.services.mfa;
    const { cookie } = await knownBrowsers.remember(undefined, user.account.id, { trustDays: 7 });
    for (let tries = 0; tries < 6; tries += 1) {
      await failSignIn(idp.services.lockout, { login: user.username, address: '192.0.2.1' });
    }
    expect(await idp.services.lockout.lockedSeconds(user.account)).toBeGreaterThan(0);
    await reset(user);
    expect(await knownBrowsers.recognize(cookie, user.account.id)).toBeUndefined();
    expect(await idp.services.lockout.lockedSeconds(user.account)).toBe(0);
  });

  it('stops a change of address that was requested before', async () => {
    const user = await aUser(idp.services);
    const thief = await signedIn(idp, user);
    const email = `thief-of-${user.username}@example.org`;
    await thief.submit(await thief.get('/account/email'), { email });
    const link = linkIn(await mailOf(box, email, 'Confirm your new email address'));
    await reset(user);
    // The link needs the session that asked for it, which the reset has ended.
    expect((await open(idp, link)).page.forms.map(({ fields }) => 'password' in fields)).toContain(true);
    expect((await idp.services.accounts.find(user.account.id))?.email).toBe(user.account.email);
  });

  it('keeps the second factor, and allows a short password beside it', async () => {
    const user = await aUser(idp.services);
    const { totp } = idp.services.mfa;
    await totp.importSecret(user.account.id, 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP');
    const done = await redeem(idp, await resetLink(idp, box, user.username, user.account.email ?? ''), 'kelp-otter');
    expect(done.url).toContain('/done');
    const { page, tokens } = await signIn(user, 'kelp-otter');
    expect(tokens).toBeUndefined();
    expect(page.text).toContain('one-time-code');
  });
});
