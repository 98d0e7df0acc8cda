// An attacker with the password and one code of the second factor, after the owner signed out everywhere without a new
// password: nothing that the attacker prepared becomes a session, skips the second factor or changes the account.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Application, anApplication } from '../oidc/support.ts';
import { linkIn, mailOf } from '../recovery/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { atAccount } from '../support/pages/account.ts';
import { expectNotSignedIn, isThere } from '../support/pages/enter.ts';

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const EVERYWHERE = [
  ['the owner everywhere', async (owner: HttpClient) => signOut(owner, 'end-all')],
  ['the owner everywhere else', async (owner: HttpClient) => signOut(owner, 'end-others')],
  ['an administrator', async () => void (await idp.services.endSession.all(user.account.id, 'ended-by-admin'))],
] as const;

let box: Mailbox;
let idp: TestIdp;
let app: Application;
let user: TestUser;
let owner: HttpClient;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  await idp.services.settings.set('remember_browser_days', 14);
  await idp.services.settings.reload();
  app = await anApplication(idp, { mfa: 'required' });
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});
beforeEach(async () => {
  user = await aUser(idp.services);
  owner = httpClient(idp.issuer);
  await atAccount(idp, user); // a second session, so that there is another one to end
});

/** Signs the account out on the page of its sessions. */
async function signOut(browser: HttpClient, form: 'end-all' | 'end-others'): Promise<void> {
  await browser.submit(await browser.get('/account/sessions'), {}, { form });
}
async function withApp(): Promise<void> {
  await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
}
async function code(): Promise<string> {
  await idp.services.db.totpCredential.updateMany({ data: { lastStep: 0 } });
  return generateSync({ secret: SECRET });
}
/** The page that demands a code, after the password, on the way to the application. */
async function atCode(browser: HttpClient): Promise<Page> {
  const { url } = await app.rp.start();
  const form = await browser.follow(await browser.get(url));
  return browser.follow(await browser.submit(form, { username: user.username, password: user.password }), isThere);
}

describe.each(EVERYWHERE)('a sign-out by %s', (_by, everywhere) => {
  beforeEach(async () => {
    await atAccount(idp, user, owner);
  });

  it('ends a sign-in with both factors that only has to be resumed', async () => {
    await withApp();
    const attacker = httpClient(idp.issuer);
    const proven = await attacker.submit(await atCode(attacker), { code: await code() });
    expect(proven.location).toContain('/authorize/');
    await everywhere(owner);
    expectNotSignedIn(await attacker.follow(proven, isThere));
  });

  it('ends a sign-in that waits for its second factor', async () => {
    await withApp();
    const attacker = httpClient(idp.issuer);
    const page = await atCode(attacker);
    await everywhere(owner);
    const next = await attacker.follow(await attacker.submit(page, { code: await code() }), isThere);
    expectNotSignedIn(next);
  });

  it('ends the trust in browsers whose session is over', async () => {
    await withApp();
    const sessions = async () => (await idp.services.sessions.list(user.account.id)).map(({ uid }) => uid);
    const before = await sessions();
    const attacker = httpClient(idp.issuer);
    const page = await atCode(attacker);
    await attacker.follow(await attacker.submit(page, { code: await code(), remember: 'yes' }), isThere);
    const [uid = ''] = (await sessions()).filter((one) => !before.includes(one));
    await idp.services.endSession.one(uid, 'expired');
    await everywhere(owner);
    expect((await atAccount(idp, user, attacker)).text).toContain('one-time-code');
  });

  it('makes the link void that changes the email address', async () => {
    const attacker = httpClient(idp.issuer);
    await atAccount(idp, user, attacker);
    const email = `attacker-of-${user.username}@example.net`;
    await attacker.submit(await attacker.get('/account/email'), { email });
    const link = linkIn(await mailOf(box, email, 'Confirm your new email address'));
    await everywhere(owner);
    const page = await attacker.follow(await attacker.get(link));
    // The link needs the session that asked for it: the page asks for the sign-in.
    expect(page.forms.map(({ fields }) => 'password' in fields)).toContain(true);
    expect((await idp.services.accounts.find(user.account.id))?.email).toBe(user.account.email);
  });
});
