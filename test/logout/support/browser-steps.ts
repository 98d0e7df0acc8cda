// Signs a user in to applications and out of them, with a browser without a screen.
import type { TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { textOf } from '../../support/pages/html.ts';
import type { App } from './app.ts';
import { followLogout } from './follow.ts';

/** Opens the application; enters the password where the sign-in page asks for it. */
export async function openApp(browser: HttpClient, app: App, user: TestUser): Promise<void> {
  let { page } = await followLogout(browser, await browser.get(`${app.origin}/sign-in`));
  if (page.text.includes('name="username"')) {
    const sent = await browser.submit(page, { username: user.username, password: user.password });
    ({ page } = await followLogout(browser, sent));
  }
  if (!page.text.includes(`${app.name}: signed in`))
    throw new Error(`not signed in to ${app.name}: ${page.status} ${page.url}\n${textOf(page.text)}`);
}

/** A browser in which these are open. */
export async function browserWith(apps: readonly App[], user: TestUser): Promise<HttpClient> {
  const browser = httpClient();
  for (const app of apps) await openApp(browser, app, user);
  return browser;
}

/** Presses "Sign out" in the application. */
export const leave = (browser: HttpClient, app: App): Promise<Page> => browser.get(`${app.origin}/sign-out`);

/** What the result says of each application. */
export function resultsOf(page: Page): Record<string, string> {
  const rows = [...page.text.matchAll(/<li[^>]*><strong>([^<]*)<\/strong><span>([^<]*)<\/span>/g)];
  return Object.fromEntries(rows.map((row) => [textOf(row[1] ?? ''), textOf(row[2] ?? '')]));
}
