// The account pages as their owner uses them.
import { expect } from 'vitest';
import type { TestUser } from '../factories.ts';
import { type HttpClient, httpClient, type Page } from '../http.ts';
import type { TestIdp } from '../idp.ts';

/** A browser in which this user is signed in to the account page. */
export async function signedIn(
  idp: TestIdp,
  { username, password }: Pick<TestUser, 'username' | 'password'>,
  browser = httpClient(idp.issuer),
): Promise<HttpClient> {
  const form = await browser.follow(await browser.get('/account'));
  // Without the page itself, which most tests do not look at.
  const atAccountPage = (url: string) => new URL(url).pathname === '/account';
  const end = await browser.follow(await browser.submit(form, { username, password }), atAccountPage);
  expect(end.location ?? '', end.text).toMatch(/\/account$/);
  return browser;
}

/** What comes after username and password: the account page, or the next step of the sign-in. */
export async function atAccount(
  { issuer }: TestIdp,
  { username, password }: Pick<TestUser, 'username' | 'password'>,
  browser = httpClient(issuer),
): Promise<Page> {
  const form = await browser.follow(await browser.get('/account'));
  return browser.follow(await browser.submit(form, { username, password }));
}
