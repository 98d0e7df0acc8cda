// A browser without a screen that goes on by itself until a page needs its user.
import { followLogout } from '../logout/support/follow.ts';
import type { HttpClient, Page } from '../support/http.ts';

const MESSAGES = ['SAMLRequest', 'SAMLResponse', 'logout_token'];

/** Follows redirects, Refresh headers, frames, and forms that carry a SAML message or send themselves. */
export async function travel(browser: HttpClient, from: Page): Promise<Page> {
  let page = from;
  for (let steps = 0; steps < 30; steps += 1) {
    ({ page } = await followLogout(browser, page));
    const form = page.forms.find(({ fields }) => MESSAGES.some((name) => name in fields));
    if (!form) return page;
    const site = new URL(page.url).origin === new URL(form.action).origin ? 'same-origin' : 'cross-site';
    const headers = { origin: new URL(page.url).origin, 'sec-fetch-site': site };
    page = await browser.post(form.action, { form: form.fields, headers });
  }
  throw new Error(`The pages do not end: ${page.url}`);
}

export async function open(browser: HttpClient, url: string): Promise<Page> {
  return travel(browser, await browser.get(url));
}
