// Follows a logout run as a browser without script would: redirects, Refresh headers, frames, and the buttons of
// auto-submitting forms.

import type { HttpClient, Page } from '../../support/http.ts';
import { unescapeHtml } from '../../support/pages/html.ts';

export interface FollowOptions {
  /** Stops at this page. */
  until?(page: Page): boolean;
  /** Waits as long as the Refresh header says; otherwise continues at once, like a click on Continue. */
  waits?: boolean;
}

export interface Followed {
  page: Page;
  /** Every address, in order. */
  trail: string[];
}

/** Follows until there is no next page, or a URL does not answer. */
export async function followLogout(
  browser: HttpClient,
  from: Page,
  { until = () => false, waits = false }: FollowOptions = {},
) {
  const trail = [from.url];
  let page = from;
  for (let steps = 0; steps < 100 && !until(page); steps += 1) {
    const next = await follow(browser, page, waits);
    if (!next) break;
    page = next;
    trail.push(page.url);
  }
  return { page, trail } satisfies Followed;
}

async function follow(browser: HttpClient, page: Page, waits: boolean): Promise<Page | undefined> {
  if (page.location) return browser.get(page.location, { headers: crossSite(page) });
  for (const frame of framesOf(page)) await loadFrame(browser, frame);
  const refresh = /^(\d+);url=(.*)$/.exec(String(page.headers.refresh ?? ''));
  if (refresh) {
    const [, seconds = '0', address = ''] = refresh;
    if (waits || Number(seconds) <= 1) await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000));
    else await new Promise((resolve) => setTimeout(resolve, 100));
    const loaded = /data-frames-loaded="([^"]+)"/.exec(page.text)?.[1];
    return browser.get(new URL(loaded && !waits ? unescapeHtml(loaded) : address, page.url).href);
  }
  const [form] = page.forms;
  const sendsItself = form && /autosubmit\.|forms\[0\]\.submit\(\)/.test(page.text);
  if (!sendsItself) return undefined;
  return browser.post(form.action, {
    form: form.fields,
    headers: { origin: new URL(page.url).origin, ...crossSite(page, form.action) },
  });
}

/** What is in a frame goes its way too, and ends there. */
async function loadFrame(browser: HttpClient, address: string): Promise<void> {
  const inFrame = { headers: { 'sec-fetch-dest': 'iframe' } };
  let page = await browser.get(address, inFrame).catch(() => undefined);
  for (let steps = 0; page?.location && steps < 10; steps += 1) {
    page = await browser.get(page.location, inFrame).catch(() => undefined);
  }
}

function framesOf(page: Page): string[] {
  const sources = [...page.text.matchAll(/<iframe src="([^"]+)"/g)].map((match) => unescapeHtml(match[1] ?? ''));
  return sources.map((source) => new URL(source, page.url).href);
}

function crossSite(page: Page, target = page.location ?? page.url): Record<string, string> {
  const isSame = new URL(page.url).origin === new URL(target).origin;
  return { 'sec-fetch-site': isSame ? 'same-origin' : 'cross-site' };
}
