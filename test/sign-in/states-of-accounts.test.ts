// Each way to sign in, for an account in each state: a user who has proven a factor reads what is wrong with the account; any other
// reads the same as for a login that nobody has.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiCaller, aService } from '../admin/support.ts';
import {
  aBrowser,
  aPersonOf,
  type Elsewhere,
  goThrough,
  type Person,
  PLAIN,
  startElsewhere,
} from '../diagnostics/real-sign-in.ts';
import { authorizeUrl, redirectUri } from '../oidc/support.ts';
import { aClient } from '../support/factories.ts';
import type { HttpClient, Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';

const isThere = (url: string) => url.startsWith(redirectUri);
// A connection or a directory proves who the person is; what is said there fits an account that has ended too.
const DISABLED =
  /Your account is disabled\. Ask your administrator to enable it\.|This account can’t be used now\. Ask an administrator\./;
const ENDED = 'Your sign-in was reset, for example because your account or password was changed. Sign in again.';

let idp: TestIdp;
let api: ApiCaller;
let elsewhere: Elsewhere;
let clientId: string;
beforeAll(async () => {
  idp = await startIdp({ environment: { TRUST_PROXY: '1', SMTP_URL: '' } });
  elsewhere = await startElsewhere(idp);
  api = await aService(idp);
  clientId = (await aClient(idp.services, { redirect_uris: [redirectUri] })).clientId;
});
afterAll(async () => {
  await idp?.stop();
  await elsewhere?.stop();
});

const WAYS = {
  'a password': {},
  'a passkey': { password: 'none', passkey: 'passkey' },
  'a password with an authenticator app': { totp: true },
  'a connection': { password: 'none', from: 'connection' },
  'a directory': { password: 'none', from: 'directory' },
} as const satisfies Record<string, Partial<typeof PLAIN>>;
const ways = Object.keys(WAYS) as (keyof typeof WAYS)[];

const aPerson = (way: keyof typeof WAYS) => aPersonOf(idp, { ...PLAIN, ...WAYS[way] }, elsewhere);
const open = (browser: HttpClient) => browser.get(authorizeUrl(idp, clientId));

/** The page at which the sign-in ends. */
async function lastPage(person: Person, browser = aBrowser(idp), url = authorizeUrl(idp, clientId)): Promise<Page> {
  const ending = await goThrough(idp, person, url, { isThere, browser, upstream: elsewhere.upstream });
  if (!('page' in ending)) throw new Error('signed in');
  return ending.page;
}

/** After the first factor: the page of the second. */
async function atSecondFactor(person: Person, browser: HttpClient): Promise<Page> {
  const form = await passwordForm(person, browser);
  const sent = await browser.submit(form, { username: person.login, password: String(person.password) });
  return browser.follow(sent, isThere);
}

/** Staff have a connection of their own, so the form asks for the login first. */
async function passwordForm({ login }: Pick<Person, 'login'>, browser: HttpClient): Promise<Page> {
  const form = await browser.follow(await open(browser));
  return browser.follow(await browser.submit(form, { username: login }, { form: '/identifier' }));
}

describe('a disabled account', () => {
  it.each(ways)('is said to be disabled after %s', async (way) => {
    const person = await aPerson(way);
    await idp.services.accounts.setActive(person.id, false);
    const page = await lastPage(person);
    expect([page.status, textOf(page.text)]).toEqual([403, expect.stringMatching(DISABLED)]);
    const events = await idp.services.audit.list({ subjectId: person.id, limit: 20 });
    const failed = events.filter(({ type, outcome }) => type.startsWith('sign-in.') && outcome === 'failure');
    expect(failed.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^(disabled_account|account_inactive)$/),
    ]);
    const succeeded = events.filter(({ type, outcome }) => type.startsWith('sign-in.') && outcome === 'success');
    expect(succeeded).toEqual([]);
  });

  it('is said to be disabled on the page of a device', async () => {
    const person = await aPerson('a password');
    const grant = 'urn:ietf:params:oauth:grant-type:device_code' as const;
    const { clientId: tv } = await aClient(idp.services, {
      grant_types: [grant],
      redirect_uris: [],
      token_endpoint_auth_method: 'none',
    });
    await idp.services.accounts.setActive(person.id, false);
    const answer = await aBrowser(idp).post('/device/code', { form: { client_id: tv, scope: 'openid' } });
    const { verification_uri_complete: url } = answer.json<{ verification_uri_complete: string }>();
    expect(textOf((await lastPage(person, aBrowser(idp), url)).text)).toMatch(DISABLED);
  });

  it.each(['totp', 'recovery-code'] as const)(
    'that was disabled before the second step (%s) is said to be so',
    async (method) => {
      const person = await aPerson('a password with an authenticator app');
      const browser = aBrowser(idp);
      const second = await atSecondFactor(person, browser);
      await idp.services.accounts.setActive(person.id, false);
      const code = method === 'totp' ? generateSync({ secret: String(person.totp) }) : 'AAAA-AAAA-AAAA';
      const form = second.forms.find(({ action }) => action.endsWith('/code'));
      const sent = await browser.post(form?.action ?? '', { form: { ...form?.fields, code, method } });
      expect([sent.status, textOf(sent.text)]).toEqual([403, expect.stringMatching(DISABLED)]);
      // Another person may sign in instead.
      expect(textOf(sent.text)).toContain('Sign in another way');
      const again = await browser.get(form?.action.replace(/\/code$/, '') ?? '');
      expect(again.forms.map(({ action }) => action)).toContainEqual(expect.stringMatching(/\/identifier$/));
    },
  );

  it('that an administrator disables meanwhile has no sign-in any more, and the next one says why', async () => {
    const person = await aPerson('a password with an authenticator app');
    const browser = aBrowser(idp);
    const second = await atSecondFactor(person, browser);
    expect((await api.send('POST', `/users/${person.id}/disable`)).status).toBe(200);
    const sent = await browser.submit(
      second,
      { code: generateSync({ secret: String(person.totp) }) },
      { form: '/code' },
    );
    const form = await browser.follow(sent);
    expect([form.status, textOf(form.text)]).toEqual([200, expect.stringContaining(ENDED)]);
    expect(textOf((await lastPage(person, browser)).text)).toMatch(DISABLED);
  });
});

describe('a deleted account', () => {
  it.each(ways)('is unknown to %s', async (way) => {
    const [person, stranger] = [await aPerson(way), await aPerson(way)];
    await idp.services.accounts.remove(person.id);
    const page = await lastPage(person);
    expect(page.location).toBeUndefined();
    expect(textOf(page.text)).not.toMatch(DISABLED);
    // The same as for a login that never was; a connection and a directory know their user, who has no account here.
    if (way === 'a password') {
      const unknown = await lastPage({ ...stranger, login: 'nobody-here' });
      expect([page.status, errorOf(page)]).toEqual([unknown.status, errorOf(unknown)]);
    }
  });

  it('that is deleted before the second step has no sign-in any more', async () => {
    const person = await aPerson('a password with an authenticator app');
    const browser = aBrowser(idp);
    const second = await atSecondFactor(person, browser);
    expect((await api.send('DELETE', `/users/${person.id}`, undefined, { 'if-match': '*' })).status).toBe(204);
    const sent = await browser.submit(
      second,
      { code: generateSync({ secret: String(person.totp) }) },
      { form: '/code' },
    );
    const form = await browser.follow(sent);
    expect([form.status, textOf(form.text)]).toEqual([200, expect.stringContaining(ENDED)]);
  });
});

/** The sentence about what is wrong. */
const errorOf = (page: Page) => /id="error"[^>]*>([\s\S]*?)<\/p>/.exec(page.text)?.[1]?.trim() ?? textOf(page.text);

describe('without the right password', () => {
  const tryWith = async (login: string, password = 'not the password at all') => {
    const browser = aBrowser(idp);
    const form = await passwordForm({ login }, browser);
    const page = await browser.submit(form, { username: login, password });
    return [page.status, errorOf(page)];
  };

  it('every account and every login that nobody has look the same', async () => {
    const unknown = await tryWith('nobody-at-all');
    expect(unknown).toEqual([401, expect.stringContaining('incorrect')]);
    const disabled = await aPerson('a password');
    await idp.services.accounts.setActive(disabled.id, false);
    const invited = await aPersonOf(idp, { ...PLAIN, password: 'none' });
    const unverified = await aPersonOf(idp, { ...PLAIN, email: 'unverified' });
    const temporary = await aPersonOf(idp, { ...PLAIN, password: 'temporary' });
    for (const { username } of [disabled, invited, unverified, temporary]) {
      expect(await tryWith(username)).toEqual(unknown);
      expect(await tryWith(`${username}@example.com`)).toEqual(unknown);
    }
  });

  it('a locked account and a locked login that nobody has look the same, with the right password, too', async () => {
    const person = await aPersonOf(idp, PLAIN);
    for (let attempt = 0; attempt < 6; attempt += 1)
      for (const login of [person.login, 'nobody-is-locked']) await tryWith(login);
    const page = await tryWith(person.login, person.password);
    const unknown = await tryWith('nobody-is-locked');
    expect(page[0]).toBe(429);
    const withoutTime = ([status, text]: (string | number)[]) => [status, String(text).replaceAll(/\d+ \w+/g, 'time')];
    expect(withoutTime(page)).toEqual(withoutTime(unknown));
  });
});

describe('an account that signs in', () => {
  it('with an unverified address is recognized by its username', async () => {
    const person = await aPersonOf(idp, { ...PLAIN, email: 'unverified' });
    const ending = await goThrough(idp, person, authorizeUrl(idp, clientId), { isThere });
    expect(ending).toMatchObject({ callback: { search: expect.stringContaining('code=') } });
  });

  it.each(['temporary', 'short'] as const)('with a %s password reads why it needs a new one', async (password) => {
    const person = await aPersonOf(idp, { ...PLAIN, password });
    const browser = aBrowser(idp);
    const page = await atSecondFactor(person, browser);
    expect(page.forms.map(({ action }) => action)).toContainEqual(expect.stringMatching(/\/new-password$/));
    expect(textOf(page.text)).toContain(password === 'temporary' ? 'new password' : 'at least 15 characters');
  });
});
