// Pages for one test, and whether they look right.
import { expect, onTestFinished } from 'vitest';
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

/** In light as wide as it is, and in dark on the narrowest phone: no sideways scroll, and nothing for axe. Keeps a picture of both. */
export async function looksRight(page: Page, name: string): Promise<void> {
  const own = page.viewportSize() ?? desktop.viewport;
  for (const [viewport, scheme] of [
    [own, 'light'],
    [narrowest, 'dark'],
  ] as const) {
    await page.setViewportSize(viewport);
    expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(viewport.width);
    await screenshot(page, `${name}-${viewport.width}`);
    expect(await axe(page, [scheme]), name).toEqual([]);
  }
  await page.setViewportSize(own);
}
