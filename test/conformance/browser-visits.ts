// Opens the addresses that a module asks for in a real browser and does what its user would do: sign in, consent, confirm the
// logout. Pages that a person reviews are uploaded as pictures.
import type { BrowserContext, Page } from 'playwright-core';
import { user } from './gatehouse.ts';

const PAGE_MS = 30_000;
/** A page without anything that would lead on has this time to do so all the same. */
const STILL_MS = 1000;
/** As many pages as one visit may take before it is given up. */
const MAX_STEPS = 12;

/** What the user does at the sign-in page. */
export type Behavior = 'sign in' | 'cancel' | 'only look';

export interface Visit {
  context: BrowserContext;
  url: string;
  issuer: string;
  behavior: Behavior;
}

export interface Visited {
  /** Every page of Gatehouse on the way, as a picture; the last one is the newest. */
  pictures: Buffer[];
  /** Whether the suite has got a response. */
  isBackAtSuite: boolean;
}

/** Follows one address to the end: back at the suite, or at a page of Gatehouse that only tells something. */
export async function visit({ context, url, issuer, behavior }: Visit): Promise<Visited> {
  const page = await context.newPage();
  const pictures: Buffer[] = [];
  try {
    await page.goto(url, { waitUntil: 'load', timeout: PAGE_MS }).catch(ignoreAbort);
    for (let step = 0; step < MAX_STEPS; step++) {
      await page.waitForLoadState('load', { timeout: PAGE_MS }).catch(() => undefined);
      if (!page.url().startsWith(issuer)) break;
      pictures.push(await page.screenshot({ fullPage: true }));
      if (behavior === 'only look' || !(await answerPage(page, behavior))) break;
    }
    // The suite's page sends the parameters of the fragment or the form on by script.
    const isBackAtSuite = !page.url().startsWith(issuer);
    if (isBackAtSuite) await page.waitForLoadState('networkidle', { timeout: PAGE_MS }).catch(() => undefined);
    return { pictures, isBackAtSuite };
  } finally {
    await page.close();
  }
}

/** Presses what a user would press; false when the page asks for nothing. */
async function answerPage(page: Page, behavior: Behavior): Promise<boolean> {
  const cancel = 'form.aside[action*=cancel] button';
  if (behavior === 'cancel' && (await page.locator(cancel).count()) > 0) return press(page, cancel);
  const password = page.locator('input[name=password]');
  if ((await password.count()) > 0) {
    const username = page.locator('input[name=username]:not([readonly])');
    if ((await username.count()) > 0) await username.fill(user.username);
    await password.fill(user.password);
    return press(page, 'form:has(input[name=password]) button[type=submit]');
  }
  for (const button of [
    'button[value=allow]',
    'button[value=continue]',
    'form[action*="end-session"] button.btn-primary',
  ]) {
    if ((await page.locator(button).count()) > 0) return press(page, button);
  }
  return waitForRedirect(page);
}

async function press(page: Page, selector: string): Promise<boolean> {
  const before = page.url();
  await page.locator(selector).first().click({ timeout: PAGE_MS });
  await page.waitForURL((url) => url.href !== before, { timeout: PAGE_MS }).catch(() => undefined);
  return true;
}

/** A page that goes on without a click, by its script or its Refresh: the frames of a front-channel logout, a form that posts itself. */
async function waitForRedirect(page: Page): Promise<boolean> {
  const before = page.url();
  const goesOn = await page.locator('meta[http-equiv=refresh i], iframe, form:not(:has(button:visible))').count();
  return page
    .waitForURL((url) => url.href !== before, { timeout: goesOn > 0 ? PAGE_MS : STILL_MS })
    .then(
      () => true,
      () => false,
    );
}

function ignoreAbort(error: Error): void {
  // A redirect by script aborts the first navigation.
  if (!/ERR_ABORTED|interrupted by another navigation/.test(error.message)) throw error;
}
