// The pages of connections in a real browser: accessible, and as wide as the screen.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axe, phone, screenshot } from '../../support/browser/browser.ts';
import { inspect, openPage } from '../../support/browser/pages.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { signIn } from './real-browser.ts';
import { staff } from './support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

it('a connection is added by its vendor on a desktop and read on a phone in the dark', async () => {
  const admin = await staff(idp, 'admin');
  const page = await openPage();
  await page.goto(`${idp.issuer}/admin/connections`);
  await signIn(page, admin);
  await page.click('a:has-text("Add connection")');
  await inspect(page, 'connections-vendors');
  await page.click('a:has-text("Microsoft Entra ID")');
  await inspect(page, 'connections-new');
  // The addresses to copy follow the ID, as it is typed.
  const redirectUri = () => page.textContent('.copyable [data-value]');
  for (const id of ['acme', 'entra']) {
    await page.fill('[name=id]', id);
    expect(await redirectUri()).toContain(`/upstream/${id}/`);
  }
  await page.fill('[name=tenant]', '11111111-2222-3333-4444-555555555555');
  await page.fill('[name=client_id]', 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee');
  await page.fill('[name=client_secret]', 'a secret of Entra');
  await page.fill('[name=client_secret_expires_at]', '2030-01-31');
  await page.fill('[name=domains]', 'example.com');
  await page.selectOption('[name=create_users]', 'on');
  await page.click('button:has-text("Add")');
  await page.waitForURL('**/admin/connections/entra');
  await inspect(page, 'connections-one');
  await page.click('a:has-text("Edit")');
  await inspect(page, 'connections-edit');

  const small = await openPage({ ...phone, colorScheme: 'dark' });
  await small.goto(`${idp.issuer}/admin/connections`);
  await signIn(small, admin);
  await inspect(small, 'connections-list-phone');
  await small.goto(`${idp.issuer}/admin/connections/entra`);
  expect(await axe(small, ['dark'])).toEqual([]);
  await screenshot(small, 'connections-one-phone-dark');
});
