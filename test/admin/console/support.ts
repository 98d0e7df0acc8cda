// Users of the console in tests, signed in with the HTTP client.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { limits } from '../../../src/base/limits.ts';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';

/** A new user with these roles. */
export async function staff({ services }: TestIdp, ...roles: string[]): Promise<TestUser> {
  const user = await aUser(services);
  for (const role of roles) await services.roles.assign(user.account.id, role);
  return user;
}

/** An HTTP client with the session of this user at the console. */
export async function consoleOf(idp: TestIdp, user: TestUser): Promise<HttpClient> {
  const client = httpClient(idp.issuer);
  let page = await client.follow(await client.get('/admin'));
  // Where a connection has a proven domain, the address comes first.
  if (!page.forms.some(({ fields }) => 'password' in fields))
    page = await client.follow(await client.submit(page, { username: user.username }));
  // Without the overview, which most tests do not look at.
  const atConsole = (url: string) => new URL(url).pathname === '/admin';
  await client.follow(await client.submit(page, { username: user.username, password: user.password }), atConsole);
  return client;
}

/** Makes the sign-in of this user too old for a sensitive change: the engine has no clock of its own to set. */
export async function signedInLongAgo({ services }: TestIdp, { account }: TestUser): Promise<void> {
  const authTime = new Date(Date.now() - (limits.recentAuthentication.seconds + 60) * 1000);
  await services.db.asStored.rpSession.updateMany({ where: { userId: account.id }, data: { authTime, mac: '' } });
  await signRows(services);
}

/** The confirmation page that a sent form leads to. */
export async function confirmation(client: HttpClient, sent: Page): Promise<Page> {
  expect([sent.status, sent.location]).toEqual([303, expect.stringContaining('/admin/confirm/')]);
  const page = await client.follow(sent);
  expect(textOf(page.text)).toContain('Confirm it’s you');
  return page;
}

/** The address to which the confirmation page sends the user. */
export function signInLink(page: Page): string {
  return (
    linksOf(page.text, page.url).find(({ label }) => label === 'Sign in again instead' || label === 'Sign in again')
      ?.href ?? ''
  );
}

/** Signs in as the confirmation page asks, and follows back to the form. */
export async function signInAgain(client: HttpClient, page: Page, { username, password }: TestUser): Promise<Page> {
  const form = await client.follow(await client.get(signInLink(page)));
  return client.follow(await client.submit(form, { username, password }));
}

export const addressOf = ({ url }: Page) => new URL(url).pathname;

/** The page of an import once it is no longer under way. */
export async function importEnd(client: HttpClient, page: Page, end = Date.now() + 120_000): Promise<Page> {
  if (page.headers.refresh === undefined) return page;
  if (Date.now() > end) throw new Error(textOf(page.text));
  await sleep(50);
  return importEnd(client, await client.get(addressOf(page)), end);
}

/** Sends the form of the import of users, and follows its trial. */
export async function triedImport(client: HttpClient, csv: string, fields: Record<string, string> = {}): Promise<Page> {
  const begin = (await client.get('/admin/import')).forms[0]?.fields ?? {};
  const sent = await client.post('/admin/import', { form: { _csrf: begin._csrf ?? '', csv, ...fields } });
  return importEnd(client, await client.follow(sent));
}

/** The form that carries out what was tried; none where every row fails. */
const startOf = (page: Page, tried = addressOf(page)) => page.forms.find(({ action }) => action.endsWith(tried));

/** Its button: the page has one that cancels too. */
export const startButton = (page: Page, tried?: string) => ({ button: startOf(page, tried)?.buttons[0]?.label ?? '' });

/** Carries out what was tried. */
export const startedImport = async (client: HttpClient, tried: Page): Promise<Page> =>
  importEnd(client, await client.follow(await client.submit(tried, {}, startButton(tried))));

/** The same in one; the page of the trial where every row fails. */
export async function imported(client: HttpClient, csv: string, fields: Record<string, string> = {}): Promise<Page> {
  const tried = await triedImport(client, csv, fields);
  return startOf(tried) ? startedImport(client, tried) : tried;
}
