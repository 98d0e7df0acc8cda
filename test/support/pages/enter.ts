// Signing in with username and password, up to the first page that needs more.
import { expect } from 'vitest';
import { authorizeUrl, redirectUri } from '../../oidc/support.ts';
import { httpClient, type Page } from '../http.ts';
import type { TestIdp } from '../idp.ts';
import { textOf } from './html.ts';

export const isThere = (url: string) => url.startsWith(redirectUri);

/** Opens the sign-in of an application, sends the form, and follows until the application or the next page. */
export async function enter(
  idp: TestIdp,
  { clientId, username, password }: { clientId: string; username: string; password: string },
  browser = httpClient(idp.issuer),
): Promise<Page> {
  const form = await browser.follow(await browser.get(authorizeUrl(idp, clientId)));
  return browser.follow(await browser.submit(form, { username, password }), isThere);
}

/** Expects that the application got its code; a failure shows the page instead. */
export function expectSignedIn(page: Page, what = ''): void {
  expect(page.location ?? '', `${what} ${page.status} ${textOf(page.text)}`).toContain('code=');
}

export function expectNotSignedIn(page: Page, what = ''): void {
  expect(page.location ?? '', what).not.toContain('code=');
}
