// The pages of the brand in a real browser: the preview follows the form, and both pages are accessible and as wide as the screen.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { desktop, phone } from '../support/browser/browser.ts';
import { inspect, openPage } from '../support/browser/pages.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { itInLongRun } from '../support/it-in-long-run.ts';
import { aPng } from './pictures.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

it('the preview follows every field as it is typed, and each choice, and keeps the form', async () => {
  const page = await openPage();
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.goto(`${idp.issuer}/admin/branding`);
  await signIn(page, await staff(idp, 'admin'));
  const frame = page.frameLocator('iframe.preview');
  await page.fill('[name=brand_name]', 'Typed Corp');
  await page.fill('[name=brand_help_url]', 'https://help.example');
  await frame.locator('a[href="https://help.example"]').waitFor();
  await frame.getByText('Typed Corp').first().waitFor();
  await page.setInputFiles('[name=brand_logo]', { name: 'a.png', mimeType: 'image/png', buffer: aPng() });
  await frame.locator('img.brand-logo').waitFor();
  await page.selectOption('select[name=language]', 'de');
  await frame.locator('html[lang=de]').waitFor();
  await page.selectOption('select[name=mode]', 'dark');
  await frame.locator('html[data-theme=dark]').waitFor();
  expect(await page.inputValue('[name=brand_name]')).toBe('Typed Corp');
  await page.click('button[name=show]');
  await page.waitForLoadState();
  expect(await page.inputValue('[name=brand_name]')).toBe('Typed Corp');
  await inspect(page, 'branding-look');
  expect(errors).toEqual([]);
  expect(await idp.services.settings.get('brand_name')).toBeUndefined();
});

itInLongRun('the texts can be read and changed on a desktop and on a phone', async () => {
  const admin = await staff(idp, 'admin');
  await idp.services.settings.set('texts', { ar: { 'sign-in.title': 'أهلا' } });
  await idp.services.settings.reload();
  for (const [name, device] of [
    ['desktop', desktop],
    ['phone', phone],
  ] as const) {
    const page = await openPage(device);
    await page.goto(`${idp.issuer}/admin/branding/texts?language=ar&q=sign-in.t`);
    await signIn(page, admin);
    await inspect(page, `branding-texts-${name}`);
  }
});
