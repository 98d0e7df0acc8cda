// Passkeys (WebAuthn) in a browser with a virtual authenticator: enrolment, every kind of sign-in, and rejections.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RelyingParty, relyingParty, type StartedSignIn } from '../support/applications/rp.ts';
import { type RelyingPartyApp, relyingPartyApp } from '../support/applications/rp-app.ts';
import {
  addAuthenticator,
  type Browser,
  type BrowserContext,
  launchBrowser,
  type Page,
} from '../support/browser/browser.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aClient, aUser, type TestUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
let browser: Browser;
let app: RelyingPartyApp;
let rp: RelyingParty;
let context: BrowserContext;
let page: Page;
let user: TestUser;

beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
  app = await relyingPartyApp();
  const client = await aClient(idp.services, { redirect_uris: [app.redirectUri] });
  rp = await relyingParty({ issuer: idp.issuer, ...client, redirectUri: app.redirectUri });
});
afterAll(async () => {
  await browser?.close();
  await app?.close();
  await idp?.stop();
});
beforeEach(async () => {
  user = await aUser(idp.services);
  context = await browser.newContext();
  page = await context.newPage();
});
afterEach(() => context.close());

const press = (label: string) => page.click(`button:has-text("${label}")`);
const heading = (text: string) => page.waitForSelector(`h1:has-text("${text}")`);
const names = async () => (await idp.services.mfa.passkeys.list(user.account.id)).map(({ name }) => name);

async function typePassword(): Promise<void> {
  await page.fill('[name=username]', user.username);
  await page.fill('[name=password]', user.password);
  await page.click('button.btn-primary:has-text("Sign in")');
}

async function begin(parameters: Record<string, string> = {}): Promise<StartedSignIn> {
  const started = await rp.start(parameters);
  await page.goto(started.url);
  return started;
}

async function claimsOf(started: StartedSignIn) {
  await page.waitForURL(`${app.redirectUri}?**`);
  return (await rp.finish(page.url(), started)).claims();
}

/** Adds a passkey on the account page right after a sign-in with the password, then clears the cookies. */
async function enrolled(device: Awaited<ReturnType<typeof addAuthenticator>>, name = 'My phone'): Promise<void> {
  await page.goto(`${idp.issuer}/account/factors/passkey`);
  await typePassword();
  await page.fill('[name=name]', name);
  await press('Create passkey');
  await heading('recovery codes');
  await device.setPresent(false);
  await context.clearCookies();
}

/** A browser that offers no passkeys in the username field, so that only the button is left. */
const withoutOffer = () =>
  context.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');

describe('the account page', () => {
  it('adds, renames and removes several passkeys', async () => {
    const phone = await addAuthenticator(page);
    await page.goto(`${idp.issuer}/account/factors/passkey`);
    await typePassword();
    await page.fill('[name=name]', 'Phone');
    await press('Create passkey');
    await heading('recovery codes');
    await page.click('text=I’ve saved my codes');

    // The passkey is the strongest factor now, and was used just now: the page asks for nothing.
    await page.click('text=Add a passkey');
    await heading('Add a passkey');
    await press('Create passkey');
    await page.waitForSelector('text=This device already has a passkey for your account.');
    await phone.remove();
    await addAuthenticator(page, { transport: 'usb' });
    await page.fill('[name=name]', 'Key');
    await press('Create passkey');
    await heading('Two-step verification and passkeys');
    expect(await names()).toEqual(['Phone', 'Key']);

    const row = (name: string) => page.locator('li', { has: page.locator('strong', { hasText: name }) });
    await row('Phone').locator('summary').click();
    await row('Phone').locator('input[type=text]').fill('Old device');
    await row('Phone').locator('button:has-text("Rename")').click();
    await page.waitForSelector('[role=status]:has-text("renamed")');
    await row('Old device').locator('summary').click();
    await row('Old device').locator('button:has-text("Remove")').click();
    await page.waitForSelector('[role=status]:has-text("removed")');
    expect(await names()).toEqual(['Key']);
  });
});

describe('a passkey signs in', () => {
  it('without a password, by the button', async () => {
    const device = await addAuthenticator(page);
    await enrolled(device);
    await withoutOffer();
    const started = await begin();
    await device.setPresent(true);
    await press('Sign in with a passkey');
    const claims = await claimsOf(started);
    expect(claims).toMatchObject({ sub: user.account.id, acr: 'phr' });
    expect(claims?.amr).toEqual(expect.arrayContaining(['pop', 'user', 'mfa']));
    expect(claims?.amr).not.toContain('pwd');
  });

  it('without a password, chosen in the username field', async () => {
    const device = await addAuthenticator(page);
    await enrolled(device);
    await device.setPresent(true);
    const started = await begin();
    expect(await claimsOf(started)).toMatchObject({ sub: user.account.id, acr: 'phr' });
  });

  it('also when a password is typed while the passkey prompt waits', async () => {
    const device = await addAuthenticator(page);
    await enrolled(device);
    const started = await begin();
    await typePassword();
    await heading('Confirm it’s you');
    await device.setPresent(true);
    await press('Use passkey');
    const claims = await claimsOf(started);
    expect(claims?.acr).toBe('phr');
    expect(claims?.amr).toEqual(expect.arrayContaining(['pwd', 'pop', 'user', 'mfa']));
  });

  it('from a security key that cannot verify its user, as second factor only', async () => {
    const device = await addAuthenticator(page, { transport: 'usb', hasUserVerification: false });
    await enrolled(device, 'Key');
    const started = await begin();
    await typePassword();
    await device.setPresent(true);
    await press('Use passkey');
    const claims = await claimsOf(started);
    expect(claims?.acr).toBe('urn:gatehouse:acr:mfa');
    expect(claims?.amr).not.toContain('user');
  });

  it('after its setup during a sign-in that requires one', async () => {
    await idp.services.settings.set('mfa', 'required');
    const device = await addAuthenticator(page);
    await device.setPresent(false);
    const started = await begin();
    await typePassword();
    await heading('Set up two-step verification');
    await device.setPresent(true);
    await press('Set up passkey');
    await heading('recovery codes');
    await page.click('text=I’ve saved my codes');
    expect(await claimsOf(started)).toMatchObject({ sub: user.account.id, acr: 'phr' });
    await idp.services.settings.set('mfa', 'optional');
  });
});

describe('a passkey is rejected', () => {
  it('without a password when its user was not verified', async () => {
    const device = await addAuthenticator(page);
    await enrolled(device);
    await device.setUserVerified(false);
    await withoutOffer();
    await begin();
    await device.setPresent(true);
    await press('Sign in with a passkey');
    await page.waitForSelector('text=The passkey didn’t work or was canceled');
  });

  it('when its counter decreased, which indicates a copy', async () => {
    const device = await addAuthenticator(page);
    await enrolled(device);
    const [copy] = await device.credentials();
    if (!copy) throw new Error('there is no credential');
    await withoutOffer();
    const started = await begin();
    await device.setPresent(true);
    await press('Sign in with a passkey');
    await claimsOf(started);
    await device.remove();
    await context.clearCookies();

    const clone = await addAuthenticator(page);
    await clone.setPresent(false);
    await clone.insert(copy);
    await begin();
    await clone.setPresent(true);
    await press('Sign in with a passkey');
    await page.waitForSelector('[role=alert]:has-text("The passkey couldn’t be verified")');
    const [event] = await idp.services.audit.list({ types: ['sign-in.passkey'], outcome: 'failure' });
    expect(event).toMatchObject({ reason: 'cloned' });
  });

  it('when another site requests it under its own name', async () => {
    const device = await addAuthenticator(page);
    await enrolled(device);
    await begin();
    const options = await page.getAttribute('form[data-webauthn]', 'data-options');
    const signIn = page.url();
    await device.setPresent(true);
    // The same host on another port: the RP ID is the same, but the origin differs (WebAuthn 7.2).
    await page.goto(app.origin.replace('127.0.0.1', 'localhost'));
    const answer = await page.evaluate(`(async () => {
      const { challenge } = ${options};
      const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
      const publicKey = { challenge: bytes(challenge), rpId: 'localhost', userVerification: 'required' };
      return JSON.stringify((await navigator.credentials.get({ publicKey })).toJSON());
    })()`);
    await device.setPresent(false);
    await page.goto(signIn);
    // The challenge of the first page, so that the challenge is not the reason for the rejection.
    await idp.services.db.asStored.signInAttempt.updateMany({
      data: { data: JSON.stringify({ challenge: JSON.parse(options ?? '').challenge }), mac: '' },
    });
    await signRows(idp.services);
    await page.evaluate(`((answer) => {
      const form = document.querySelector('form[data-webauthn]');
      form.elements.response.value = answer;
      form.submit();
    })(${JSON.stringify(answer)})`);
    await page.waitForSelector('[role=alert]:has-text("The passkey couldn’t be verified")');
    const [event] = await idp.services.audit.list({ types: ['sign-in.passkey'], outcome: 'failure' });
    expect(event).toMatchObject({ reason: 'wrong' });
  });
});
