// The name of the brand on pages that are written from right to left.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Browser, desktop, launchBrowser, screenshot } from '../support/browser/browser.ts';
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

/** Where the first and the last character of the name stand, from the left. */
const ENDS = `(() => {
  const mark = document.querySelector('.brandmark');
  const text = (mark.querySelector('bdi') ?? mark).lastChild;
  const range = document.createRange();
  return [0, text.data.length - 1].map((at) => {
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    return range.getBoundingClientRect().left;
  });
})()`;

it.each(['Yahoo!', 'Yahoo! (US) Inc.'])('the name of the brand reads as it was written: %s', async (name) => {
  await idp.services.settings.set('brand_name', name);
  await idp.services.settings.reload();
  const page = await (await browser.newContext({ ...desktop, locale: 'ar' })).newPage();
  await page.goto(`${idp.issuer}/forgot-password`);
  const [first, last] = (await page.evaluate(ENDS)) as number[];
  expect(Number(last)).toBeGreaterThan(Number(first));
  await screenshot(page, 'brand-right-to-left');
});
