// "Confirm it's you" in a real browser: a question over the filled-in form, which is completed in one step; without script above it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addAuthenticator, axe, desktop, phone, screenshot } from '../../support/browser/browser.ts';
import { openPage } from '../../support/browser/pages.ts';
import { aUser, PASSWORD } from '../../support/factories.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { some } from '../../support/long-run.ts';
import { signIn } from './real-browser.ts';
import { signedInLongAgo, staff } from './support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

for (const [mode, device] of some(2, [
  ['light', desktop],
  ['dark', { ...phone, colorScheme: 'dark' as const }],
  ['without script', { ...phone, javaScriptEnabled: false }],
] as const)) {
  it(`a form that needs a recent proof keeps its place and is completed by a password (${mode})`, async () => {
    const ann = await staff(idp, 'admin');
    const { account } = await aUser(idp.services);
    const page = await openPage(device);
    await page.goto(`${idp.issuer}/admin/users/${account.id}`);
    await signIn(page, ann);
    await page.waitForURL(`**/admin/users/${account.id}`);
    // The current tab is in view, and the page begins at its top.
    expect(await page.evaluate('[scrollY, document.documentElement.scrollHeight > innerHeight]')).toEqual([0, true]);
    await page.click('details:has([name=username]) > summary');
    await page.fill('[name=username]', `typed-${mode.length}`);
    await signedInLongAgo(idp, ann);
    await page.click('details[open] footer button');
    await page.waitForURL('**/admin/confirm/*');
    expect(await page.inputValue('[name=username]')).toBe(`typed-${mode.length}`);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await screenshot(page, `confirm-${mode.replace(' ', '-')}`);
    if (mode !== 'without script') {
      expect(await axe(page, [mode === 'dark' ? 'dark' : 'light'])).toEqual([]);
      expect(await page.evaluate('document.querySelector("dialog.ask").matches(":modal")')).toBe(true);
      expect(await page.evaluate('document.activeElement.name')).toBe('password');
      // Closed, it leaves the form as it was filled in, which asks again.
      await page.click('dialog.ask:not(.find) a:has-text("Cancel")');
      await page.fill('[name=username]', `again-${mode.length}`);
      await page.click('details[open] footer button');
      await page.waitForSelector('dialog.ask:not(.find):modal');
    }
    await page.fill('dialog.ask:not(.find) [name=password]', PASSWORD);
    await page.click('dialog.ask:not(.find) button:has-text("Confirm")');
    await page.waitForURL(`**/admin/users/${account.id}`);
    const username = `${mode === 'without script' ? 'typed' : 'again'}-${mode.length}`;
    expect(await idp.services.accounts.find(account.id)).toMatchObject({ username });
  });
}

it('a passkey completes the waiting form of the console and of the account, and its answer counts once', async () => {
  const ann = await staff(idp, 'admin');
  const { account } = await aUser(idp.services);
  const page = await openPage();
  const context = page.context();
  await context.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
  await addAuthenticator(page);
  await page.goto(`${idp.issuer}/account/factors/passkey`);
  await signIn(page, ann);
  await page.fill('[name=name]', 'Laptop');
  await page.click('button:has-text("Create passkey")');
  await page.waitForURL('**/recovery-codes/*');

  // The passkey was used just now, so it is not asked for again.
  await page.goto(`${idp.issuer}/admin/users/${account.id}/change/username`);
  await page.fill('[name=username]', 'by-passkey');
  await signedInLongAgo(idp, ann);
  await page.click('details[open] footer button');
  await page.waitForURL('**/admin/confirm/*');
  const answers: (string | null)[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().includes('/confirm/')) answers.push(request.postData());
  });
  expect(await page.evaluate('document.activeElement.innerText')).toBe('Use passkey');
  await page.click('dialog.ask:not(.find) button:has-text("passkey")');
  await page.waitForURL(`**/admin/users/${account.id}`);
  expect((await idp.services.accounts.find(account.id))?.username).toBe('by-passkey');

  await signedInLongAgo(idp, ann);
  await page.goto(`${idp.issuer}/account/password`);
  await page.waitForURL('**/account/confirm/*');
  await screenshot(page, 'confirm-account-passkey');
  expect(await axe(page)).toEqual([]);
  expect(await page.evaluate('document.activeElement.innerText')).toBe('Use passkey');
  const confirmation = page.url();
  // The answer of the earlier confirmation is not accepted for this one.
  const earlier = new URLSearchParams(answers[0] ?? '');
  const { _csrf } = (await page.evaluate(
    'Object.fromEntries(new FormData(document.querySelector("main form")))',
  )) as Record<string, string>;
  earlier.set('_csrf', _csrf ?? '');
  const repeated = await context.request.post(confirmation, {
    data: earlier.toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: idp.issuer },
    maxRedirects: 0,
  });
  expect(repeated.status()).toBe(401);
  const [rejected] = await idp.services.db.asStored.auditEvent.findMany({
    where: { type: 'sign-in.passkey', outcome: 'failure' },
  });
  expect(rejected?.reason).toBe('malformed');
  await page.click('main button:has-text("passkey")');
  await page.waitForURL('**/account/password');
});
