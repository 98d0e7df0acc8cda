// The search and the documentation in a browser: by keys alone, on a phone, light and dark.
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  axe,
  type Browser,
  desktop,
  launchBrowser,
  type Page,
  phone,
  screenshot,
} from '../../support/browser/browser.ts';
import { keyboardOf } from '../../support/browser/keyboard.ts';
import { aUser } from '../../support/factories.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { itInLongRun } from '../../support/it-in-long-run.ts';
import { signIn } from './real-browser.ts';
import { staff } from './support.ts';

let idp: TestIdp;
let browser: Browser;
let page: Page;
beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
  for (const [username, name] of [
    ['quill', 'Quill'],
    ['inga', 'Inga Quillfeather'],
  ] as const)
    await aUser(idp.services, { username, name, email: `${username}@example.com` });
  await aUser(idp.services, { username: 'zephyrine', name: `Zephyrine ${'of a long name '.repeat(8)}` });
  page = await (await browser.newContext({ ...desktop, permissions: ['clipboard-read', 'clipboard-write'] })).newPage();
  await page.goto(`${idp.issuer}/admin/keys`);
  await signIn(page, await staff(idp, 'admin'));
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

const options = () => page.locator('#find [role=option] > span .block').allInnerTexts();
const overflow = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');

/** The links in sentences that are lower than 24 pixels, or are over another one (WCAG 2.5.8). */
const smallTargets = () =>
  page.evaluate<string[]>(`(() => {
    const boxes = [...document.querySelectorAll('.events p a')].flatMap((a) => [...a.getClientRects()]);
    const isOver = (one, other) =>
      one !== other && one.top < other.bottom && other.top < one.bottom && one.left < other.right && other.left < one.right;
    return boxes.filter((one) => one.height < 24 || boxes.some((other) => isOver(one, other))).map(({ height }) => String(height));
  })()`);

it('opens by Ctrl K on every page, and leads to the best match by keys alone', async () => {
  const keys = keyboardOf(page);
  for (const path of ['/admin', '/admin/users', '/docs/console']) {
    await page.goto(`${idp.issuer}${path}`);
    await page.keyboard.press('Control+k');
    await page.waitForSelector('#find[open]');
    expect(await page.evaluate('document.activeElement.id'), path).toBe('find-text');
  }
  await keys.type('quill');
  await page.waitForSelector('#find [role=status]:text-is("2 matches")');
  expect(await options()).toEqual(['Quill', 'Inga Quillfeather', 'All results for “quill”']);
  expect(await axe(page, ['light', 'dark'])).toEqual([]);
  await screenshot(page, 'search-dialog');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/admin\/users\/[^/]+$/);
  expect(await page.locator('h1').textContent()).toContain('Quill');
});

it('opens the first match by Enter, also before the matches are there, and all results where there is none', async () => {
  for (const [text, place] of [
    ['signing keys', '/admin/keys'],
    ['xyzzy plugh', '/admin/search?q=xyzzy+plugh'],
  ] as const) {
    await page.goto(`${idp.issuer}/admin/users`);
    await page.keyboard.press('Control+k');
    await page.fill('#find-text', text);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => `${url.pathname}${url.search}` === place);
  }
  await page.keyboard.press('Control+k');
  await page.fill('#find-text', 'mail server');
  await page.waitForSelector('#find [role=option] .logo .icon');
  expect(await page.locator('#find [role=option]').nth(-2).textContent()).toMatch(/mail server/i);
  await screenshot(page, 'search-documents');
});

it('opens by Enter what matches the text, not what matched its beginning', async () => {
  await page.goto(`${idp.issuer}/admin/users`);
  await page.keyboard.press('Control+k');
  await page.fill('#find-text', 'sign');
  await page.waitForSelector('#find [role=option]');
  await page.fill('#find-text', 'signing keys');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/admin/keys');
});

it.each([1280, 390])('is as wide as its dialog with a long title, at %i px', async (width) => {
  await page.setViewportSize({ width, height: 844 });
  await page.goto(`${idp.issuer}/admin/keys`);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('zephyrine');
  await page.waitForSelector('#find [role=option]');
  const cutOff = 'document.getElementById("find").scrollWidth - document.getElementById("find").clientWidth';
  expect(await page.evaluate(cutOff)).toBeLessThanOrEqual(0);
  await screenshot(page, `search-long-title-${width}`);
  await page.setViewportSize(desktop.viewport);
});

it('closes by Escape and gives the focus back; the last choice leads to the page with all results', async () => {
  await page.goto(`${idp.issuer}/admin/keys`);
  await page.focus('.side [data-opens-search]');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#find[open]');
  await page.keyboard.press('Escape');
  await page.waitForSelector('#find:not([open])', { state: 'attached' });
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Search');
  await page.keyboard.press('Meta+k');
  await page.keyboard.type('quill');
  await page.waitForSelector('#find [role=option]');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/admin\/search\?q=quill$/);
  expect(await page.locator('td.first a').allInnerTexts()).toEqual(['Quill', 'Inga Quillfeather']);
  expect(await axe(page, ['light', 'dark'])).toEqual([]);
  await screenshot(page, 'search-page');
});

it('closes by one Escape, with the list open and a text typed', async () => {
  await page.goto(`${idp.issuer}/admin/keys`);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('quill');
  await page.waitForSelector('#find [role=option]');
  await page.keyboard.press('Escape');
  await page.waitForSelector('#find:not([open])', { state: 'attached' });
});

itInLongRun('the documentation copies code, follows links, and fits a phone', async () => {
  await page.goto(`${idp.issuer}/docs/first-hour`);
  await page.locator('.document .copy').first().click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npm ci\nnpm start');
  await page.locator('.document a[href^="/docs/"]').first().click();
  await page.waitForURL(/\/docs\//);
  for (const [path, name] of [
    ['/docs', 'docs'],
    ['/docs/console', 'docs-console'],
    ['/docs/configuration', 'docs-configuration'],
    ['/docs?q=passkey', 'docs-search'],
    ['/admin/search?q=token', 'search-results'],
    ['/admin/audit?outcome=success', 'activity'],
  ] as const) {
    await page.setViewportSize(desktop.viewport);
    await page.goto(`${idp.issuer}${path}`);
    expect(await axe(page, ['light', 'dark']), path).toEqual([]);
    await screenshot(page, `${name}-1280`);
    await page.setViewportSize(phone.viewport);
    await screenshot(page, `${name}-390`);
    if (path.startsWith('/admin/audit')) expect(await smallTargets()).toEqual([]);
    await page.setViewportSize({ width: 320, height: 700 });
    expect(await overflow(), path).toBeLessThanOrEqual(0);
  }
  await page.keyboard.press('Control+k');
  await page.keyboard.type('quill');
  await page.waitForSelector('#find [role=status]:text-is("2 matches")');
  expect(await overflow()).toBeLessThanOrEqual(0);
  await page.setViewportSize(phone.viewport);
  await screenshot(page, 'search-dialog-390');
});
