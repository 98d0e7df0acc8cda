// The mail server in a real browser: its form, the test and what it found, in both modes, on a phone and in German.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { desktop, phone } from '../support/browser/browser.ts';
import { looksRight, openPage } from '../support/browser/pages.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';

let box: Mailbox;
let idp: TestIdp;
beforeAll(async () => {
  box = await mailbox({ credentials: { username: 'relay', password: 'pa55-of-the-relay' } });
  const found: Record<string, string[]> = { 'example.com': ['v=spf1 include:_spf.example.net ~all'] };
  idp = await startIdp({ resolveTxt: async (name) => found[name] ?? [] });
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

it('an administrator sets the mail server, tests it and reads what is wrong and what is missing', async () => {
  const admin = await staff(idp, 'admin');
  for (const [at, options] of [desktop, { ...desktop, colorScheme: 'dark' as const }, phone].entries()) {
    const page = await openPage(options);
    await page.goto(`${idp.issuer}/admin/settings/mail`);
    await signIn(page, admin);
    if (at === 2) await page.goto(`${idp.issuer}/language/de?next=/admin/settings/mail`);
    await page.fill('[name="mail_server.host"]', '127.0.0.1');
    await page.selectOption('[name="mail_server.tls"]', 'none');
    await page.fill('[name="mail_server.port"]', String(box.port));
    await page.fill('[name="mail_server.username"]', 'relay');
    await page.fill('[name="mail_server.password"]', at === 1 ? 'wrong' : 'pa55-of-the-relay');
    await page.fill('[name="mail_sender.address"]', 'sso@example.com');
    await looksRight(page, `mail-server-${at}`);
    await page.click('form[action="/admin/settings/mail"] button.btn-primary');
    await page.waitForSelector('p.note[role=status]');
    await page.click('form[action="/admin/mail/test"] button');
    await page.waitForSelector('.rules');
    await looksRight(page, `mail-test-${at}`);
  }
  // Without the notices of new browsers.
  const tests = box.messages.filter(({ subject }) => subject.includes('Test'));
  expect(tests.map(({ from }) => from)).toEqual(['sso@example.com', 'sso@example.com']);
});
