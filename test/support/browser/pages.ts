// Pages for one test, and whether they look right.
import { expect, onTestFinished } from 'vitest';
import { isLongRun } from '../long-run.ts';
import { axe, type BrowserContextOptions, desktop, launchBrowser, type Page, screenshot } from './browser.ts';

/** A page in a context of its own, which is closed when the test ends. */
export async function openPage(options: BrowserContextOptions = desktop): Promise<Page> {
  const context = await (await launchBrowser()).newContext(options);
  onTestFinished(() => context.close());
  return context.newPage();
}

/** As it is: no sideways scroll, and nothing for axe in light and dark. Keeps a picture. */
export async function inspect(page: Page, name: string): Promise<void> {
  expect(await axe(page), name).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), name).toBe(true);
  await screenshot(page, name);
}

const narrowest = { width: 320, height: 800 };

/**
 * As wide as it is, and on the narrowest phone: no sideways scroll, and nothing for axe, which takes most of the time of such a test. It reads
 * the page once here; in a long run also its dark colors, which test/http/pages.test.ts checks in every layout. Keeps a picture of both.
 */
export async function looksRight(page: Page, name: string): Promise<void> {
  const own = page.viewportSize() ?? desktop.viewport;
  for (const [viewport, scheme] of [
    [own, 'light'],
    [narrowest, 'dark'],
  ] as const) {
    await page.setViewportSize(viewport);
    expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(viewport.width);
    await screenshot(page, `${name}-${viewport.width}`);
    const isReadBefore = scheme === 'dark';
    if (!isReadBefore || isLongRun) expect(await axe(page, [scheme], { isReadBefore }), name).toEqual([]);
  }
  await page.setViewportSize(own);
}
