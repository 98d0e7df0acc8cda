// The pages of a sign-in and the portal in a real browser: they load nothing from the server of the application.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../../admin/console/real-browser.ts';
import { staff } from '../../admin/console/support.ts';
import { aSvg } from '../../brand/pictures.ts';
import { anApplication, authorizeUrl, redirectUri } from '../../oidc/support.ts';
import { axe, type Browser, desktop, launchBrowser, phone, screenshot } from '../../support/browser/browser.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type PictureServer, pictureServer } from './picture-server.ts';

let idp: TestIdp;
let server: PictureServer;
let browser: Browser;
beforeAll(async () => {
  server = await pictureServer();
  idp = await startIdp();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
  await server?.close();
});

it('the sign-in, the consent page, the portal and the console load pictures from this server only', async () => {
  const app = await anApplication(idp, {
    consent: 'explicit',
    client_name: 'Photo Album',
    client_uri: 'https://photos.example/',
    logo_uri: `${server.origin}/hostile.svg`,
  });
  await expect.poll(() => idp.services.pictures.addressOf(app.clientId)).toBeDefined();
  const user = await staff(idp, 'admin');
  const context = await browser.newContext(desktop);
  const page = await context.newPage();
  const requested: string[] = [];
  const problems: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  page.on('console', (message) => problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.addInitScript(
    "document.addEventListener('securitypolicyviolation', (event) => console.error('CSP ' + event.blockedURI))",
  );
  const isDrawn = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth > 0);

  await page.route(`${redirectUri}*`, (route) => route.fulfill({ body: 'back' }));
  await page.goto(authorizeUrl(idp, app.clientId));
  await page.locator('img.logo').waitFor();
  await expect.poll(() => isDrawn('img.logo')).toBe(true);
  await screenshot(page, 'picture-sign-in');
  await signIn(page, user);
  await page.locator('img.logo').waitFor();
  expect(page.url()).toContain('/signin/');
  await expect.poll(() => isDrawn('img.logo')).toBe(true);
  await screenshot(page, 'picture-consent');
  await page.goto(`${idp.issuer}/dashboard`);
  await page.locator('.tiles img.logo').waitFor();
  await expect.poll(() => isDrawn('.tiles img.logo')).toBe(true);
  await screenshot(page, 'picture-portal');
  await page.goto(`${idp.issuer}/admin/applications`);
  await page.locator('img.logo').waitFor();
  // A picture that is opened as a page runs nothing.
  const address = String(await idp.services.pictures.addressOf(app.clientId));
  await page.goto(`${idp.issuer}${address}`);

  const others = requested.filter((url) => !url.startsWith(idp.issuer) && !url.startsWith('data:'));
  expect(others).toEqual([]);
  expect(problems).toEqual([]);
  expect(server.count('/hostile.svg')).toBe(1);
});

it('the page of a picture is accessible, and as wide as the screen', async () => {
  const app = await anApplication(idp, { client_name: 'Pictured', logo_uri: `${server.origin}/missing` });
  const { applicationId } = app;
  const state = () => idp.services.pictures.state(applicationId);
  await expect.poll(async () => (await state())?.failure).toBeDefined();
  const user = await staff(idp, 'admin');
  for (const [name, device] of [
    ['desktop', desktop],
    ['phone', { ...phone, viewport: { width: 320, height: 700 } }],
  ] as const) {
    const page = await (await browser.newContext(device)).newPage();
    await page.goto(`${idp.issuer}/admin/applications/${applicationId}/picture`);
    await signIn(page, user);
    await page.locator('input[type=file]').waitFor();
    expect(await axe(page, ['light', 'dark']), name).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), name).toBe(true);
    await screenshot(page, `picture-console-${name}`);
    const picture = { name: 'a.svg', mimeType: 'image/svg+xml', buffer: aSvg() };
    await page.setInputFiles('input[type=file]', picture);
    await page.click('form[enctype="multipart/form-data"] button');
    await page.getByText('Picture saved.').waitFor();
    await screenshot(page, `picture-console-saved-${name}`);
    await page.goto(`${idp.issuer}/admin/applications/${applicationId}/settings`);
    await screenshot(page, `picture-settings-${name}`);
    await idp.services.pictures.removeChosen(applicationId);
    await expect.poll(async () => (await state())?.failure).toBeDefined();
  }
});
