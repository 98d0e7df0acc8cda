// The crop frame in a real browser: a large picture is sent as the chosen square, and the pages have no fault of accessibility.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { aPng } from '../brand/pictures.ts';
import { axe, type Browser, desktop, launchBrowser, phone, screenshot } from '../support/browser/browser.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
let browser: Browser;
beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

it('sends the chosen part of a picture, as a square', async () => {
  const user = await staff(idp, 'admin');
  const context = await browser.newContext(desktop);
  const page = await context.newPage();
  await page.goto(`${idp.issuer}/account/profile/picture`);
  await signIn(page, user);
  await page.goto(`${idp.issuer}/account/profile/picture`);
  // More pixels than the server accepts: only the square is sent.
  const buffer = aPng({ width: 4200, height: 60 });
  await page.locator('#picture').setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer });
  await page.locator('canvas').waitFor();
  // All of its height is in the square.
  const isDownDisabled = () => page.locator('[data-part="down"]').isDisabled();
  await expect.poll(isDownDisabled).toBe(true);
  await page.locator('[data-part="zoom"]').fill('2');
  await expect.poll(isDownDisabled).toBe(false);
  expect(await axe(page, ['light', 'dark'])).toEqual([]);
  await screenshot(page, 'picture-crop');
  const boxOf = async (selector: string) => (await page.locator(selector).boundingBox()) ?? expect.fail(selector);
  const [field, slider, legend, circle] = [
    await boxOf('#picture'),
    await boxOf('[data-part="zoom"]'),
    await boxOf('.crop legend'),
    await boxOf('canvas'),
  ];
  expect(Math.round(slider.width), 'the slider is as wide as the field').toBe(Math.round(field.width));
  expect(circle.y, 'the circle stands clear of its label').toBeGreaterThan(legend.y + legend.height + 4);
  await page.setViewportSize(phone.viewport);
  await screenshot(page, 'picture-crop-phone');
  await page.setViewportSize({ width: 320, height: 640 });
  const room = await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth');
  expect(room).toBe(true);
  await page.locator('button[type="submit"]').first().click();
  await page.locator('.who img.logo').waitFor();
  const { picture } = (await idp.services.accounts.find(user.account.id)) ?? {};
  expect(picture).toMatch(/\.jpg$/);
  const sizeOf = () =>
    page
      .locator('.who img.logo')
      .evaluate((image) => [Reflect.get(image, 'naturalWidth'), Reflect.get(image, 'naturalHeight')]);
  // The element is there before its image is loaded.
  await expect.poll(sizeOf).toEqual([512, 512]);
  await page.setViewportSize(desktop.viewport);
  for (const at of [`/admin/users/${user.account.id}`, `/admin/users/${user.account.id}/picture`, '/admin/users']) {
    await page.goto(`${idp.issuer}${at}`);
    expect(await axe(page, ['light', 'dark'])).toEqual([]);
    await screenshot(page, `picture${at.replaceAll('/', '-').replace(user.account.id, 'user')}`);
  }
}, 120_000);
