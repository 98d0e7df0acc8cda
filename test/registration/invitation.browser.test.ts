// An invitation in a real browser: a passkey in place of a password, the sign-in that follows, and the pages as pictures.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { linkIn, mailOf } from '../recovery/support.ts';
import {
  addAuthenticator,
  axe,
  type Browser,
  desktop,
  launchBrowser,
  type Page,
  phone,
  screenshot,
} from '../support/browser/browser.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';

let box: Mailbox;
let idp: TestIdp;
let browser: Browser;
beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
  await box?.close();
});

/** Nothing for axe, and no sideways scroll on the narrowest phone. */
async function look(page: Page, name: string): Promise<void> {
  const size = page.viewportSize() ?? desktop.viewport;
  await screenshot(page, name);
  expect(await axe(page), name).toEqual([]);
  await page.setViewportSize({ width: 320, height: 800 });
  expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(320);
  await page.setViewportSize(size);
}

it('an invited user makes a passkey, is signed in at once, and signs in with it again', async () => {
  const admin = await staff(idp, 'admin');
  const account = await idp.services.accounts.create({ username: 'greta', email: 'greta@example.com', name: 'Greta' });
  const console = await (await browser.newContext(desktop)).newPage();
  await console.goto(`${idp.issuer}/admin/users/${account.id}/invite`);
  await signIn(console, admin);
  await console.fill('[name=message]', 'Welcome to the lab');
  await look(console, 'invite');
  await console.click('main form button.btn-primary');
  await console.waitForSelector('[role=status]');
  const mail = await mailOf(box, 'greta@example.com', `You’ve been invited to ${new URL(idp.issuer).host}`);
  expect(mail.text).toContain('> Welcome to the lab');

  const context = await browser.newContext({ ...phone, colorScheme: 'dark' });
  await context.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
  const page = await context.newPage();
  await addAuthenticator(page);
  await page.goto(linkIn(mail));
  await look(page, 'invitation');
  await page.goto(`${idp.issuer}/language/ar?next=/invitation`);
  await look(page, 'invitation-ar');
  await page.goto(`${idp.issuer}/language/en?next=/invitation`);
  await page.click('button:has-text("passkey")');
  await page.waitForURL('**/invitation/recovery-codes/*');
  await look(page, 'invitation-codes');
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
  await look(console, 'import');
  await console.fill('[name=csv]', 'username,email,shoe_size\nhanna,hanna@example.com,39\ngreta,other@example.com,40');
  await console.click('main form button.btn-primary');
  await console.waitForSelector('text=shoe_size');
  await look(console, 'import-columns');
});
