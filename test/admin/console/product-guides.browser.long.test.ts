// The guide of a product and the access check with its demands, in a real browser.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { phone } from '../../support/browser/browser.ts';
import { inspect, openPage } from '../../support/browser/pages.ts';
import { aUser } from '../../support/factories.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { signIn } from './real-browser.ts';
import { consoleOf, staff } from './support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

it('the guide of a product and its demands are read on a desktop and on a phone in the dark', async () => {
  const admin = await staff(idp, 'admin');
  const client = await consoleOf(idp, admin);
  const form = await client.get('/admin/applications/new/oauth2-proxy');
  expect((await client.submit(form, { url: 'https://app.example.com' })).status).toBe(303);
  const { id, clientId } = await idp.services.db.asStored.application.findFirstOrThrow({
    orderBy: { createdAt: 'desc' },
  });
  const { username } = await aUser(idp.services, { name: 'Ann', email: 'ann@example.com', emailVerified: false });
  const check = `${idp.issuer}/admin/access-check?${new URLSearchParams({ user: username, app: clientId })}`;

  const page = await openPage();
  await page.goto(`${idp.issuer}/admin/applications/${id}/setup`);
  await signIn(page, admin);
  await inspect(page, 'product-guide');
  await page.goto(`${idp.issuer}/admin/applications/${id}`);
  await inspect(page, 'product-overview');
  await page.goto(check);
  await inspect(page, 'product-check');

  const small = await openPage({ ...phone, colorScheme: 'dark' });
  await small.goto(`${idp.issuer}/admin/applications/${id}/setup`);
  await signIn(small, admin);
  await inspect(small, 'product-guide-phone-dark');
  await small.goto(check);
  await inspect(small, 'product-check-phone-dark');
});
