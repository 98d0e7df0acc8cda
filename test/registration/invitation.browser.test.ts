// An invitation in a real browser: a passkey in place of a password, the sign-in that follows, and the pages as pictures.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { linkIn, mailOf } from '../recovery/support.ts';
import { addAuthenticator, phone } from '../support/browser/browser.ts';
import { looksRight, openPage } from '../support/browser/pages.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';

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

it('an invited user makes a passkey, is signed in at once, and signs in with it again', async () => {
  const admin = await staff(idp, 'admin');
  const account = await idp.services.accounts.create({ username: 'greta', email: 'greta@example.com', name: 'Greta' });
  const console = await openPage();
  await console.goto(`${idp.issuer}/admin/users/${account.id}/invite`);
  await signIn(console, admin);
  await console.fill('[name=message]', 'Welcome to the lab');
  await looksRight(console, 'invite');
  await console.click('main form button.btn-primary');
  await console.waitForSelector('[role=status]');
  const mail = await mailOf(box, 'greta@example.com', 'You’ve been invited to Gatehouse');
  expect(mail.text).toContain('> Welcome to the lab');

  const page = await openPage({ ...phone, colorScheme: 'dark' });
  await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
  await addAuthenticator(page);
  await page.goto(linkIn(mail));
  await looksRight(page, 'invitation');
  // The passkey comes first, where the browser can make one; else the password is the way.
  expect(await page.locator('main form .btn-primary').allInnerTexts()).toEqual(['Create passkey']);
  expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
  const plain = await openPage({ ...phone, javaScriptEnabled: false });
  await plain.goto(linkIn(mail));
  expect(await plain.locator('main form .btn-primary:visible').allInnerTexts()).toEqual(['Save password']);
  await page.goto(`${idp.issuer}/language/ar?next=/invitation`);
  await looksRight(page, 'invitation-ar');
  await page.goto(`${idp.issuer}/language/en?next=/invitation`);
  await page.click('button:has-text("passkey")');
  await page.waitForURL('**/invitation/recovery-codes/*');
  await looksRight(page, 'invitation-codes');
  await page.click('text=I’ve saved my codes');
  await page.waitForURL('**/dashboard');
  const toGreta = box.messages.filter(({ to }) => to.includes('greta@example.com'));
  expect(toGreta.map(({ subject }) => subject)).toEqual([mail.subject]);

  await page.goto(`${idp.issuer}/logout`);
  await page.click('main button');
  await page.goto(`${idp.issuer}/account`);
  await page.click('button:has-text("Sign in with a passkey")');
  await page.waitForSelector('h1:has-text("Your account")');

  await console.goto(`${idp.issuer}/admin/users/${account.id}`);
  expect(await console.textContent('main')).toMatch(/Invitation\s+Accepted/i);
  await console.goto(`${idp.issuer}/admin/import`);
  await looksRight(console, 'import');
  await console.fill('[name=csv]', 'username,email,shoe_size\nhanna,hanna@example.com,39\ngreta,other@example.com,40');
  await console.click('main form button.btn-primary');
  await console.waitForSelector('text=shoe_size');
  await looksRight(console, 'import-columns');
});
