// The form of every preset, of applications and of connections, on the narrowest phone (WCAG 1.4.10).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Browser, launchBrowser, type Page } from '../../../support/browser/browser.ts';
import { startIdp, type TestIdp } from '../../../support/idp.ts';
import { some } from '../../../support/long-run.ts';
import { signIn } from '../real-browser.ts';
import { staff } from '../support.ts';

let idp: TestIdp;
let browser: Browser;
let page: Page;
beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
  page = await (await browser.newContext({ viewport: { width: 320, height: 800 } })).newPage();
  await page.goto(`${idp.issuer}/admin/applications`);
  await signIn(page, await staff(idp, 'admin'));
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

/** The addresses of the tiles that lead to the forms. */
async function presetsOf(list: string): Promise<string[]> {
  await page.goto(`${idp.issuer}${list}`);
  return page.$$eval('.tiles a', (links) => links.map((link) => link.getAttribute('href') ?? ''));
}

it.each(['/admin/applications/new', '/admin/connections/new'])('no preset of %s is wider than 320 px', async (list) => {
  const presets = await presetsOf(list);
  expect(presets.length).toBeGreaterThan(10);
  const wide: string[] = [];
  for (const at of some(10, [list, ...presets])) {
    await page.goto(`${idp.issuer}${at}`);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    if (width > 320) wide.push(`${at}: ${width} px`);
  }
  expect(wide).toEqual([]);
});
