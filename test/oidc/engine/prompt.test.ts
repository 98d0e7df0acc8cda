// When the user is prompted (OIDC Core 3.1.2.1: prompt, max_age, login_hint).
import { beforeAll, describe, expect, it } from 'vitest';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  completeSignIn,
  outcome,
  redirectUri,
  signIn,
} from '../support.ts';

let idp: TestIdp;
let user: TestUser;
let app: Application;
let browser: HttpClient;
/** The browser of a sign-in that is older than two seconds when max_age is tested. */
let early: HttpClient;
let earlySince = 0;

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services);
  app = await anApplication(idp);
  browser = httpClient(idp.issuer);
  await signIn(browser, app, user);
  early = httpClient(idp.issuer);
  await signIn(early, app, user);
  earlySince = Date.now();
});

const url = (parameters: Record<string, string>) => authorizeUrl(idp, app.clientId, parameters);
const pageFor = async (parameters: Record<string, string>, who = browser) =>
  who.follow(await who.get(url(parameters)), (target) => target.startsWith(redirectUri));

describe('a signed-in user', () => {
  it('needs no new sign-in', async () => {
    expect((await outcome(browser, url({}))).get('code')).toBeTruthy();
    expect((await outcome(browser, url({ prompt: 'none' }))).get('code')).toBeTruthy();
  });

  it('enters the password with prompt=login, which is a new sign-in', async () => {
    const before = (await signIn(browser, app, user)).tokens.claims()?.auth_time ?? 0;
    await new Promise((resolve) => setTimeout(resolve, (before + 1) * 1000 - Date.now()));
    expect((await pageFor({ prompt: 'login' })).text).toContain('name="password"');
    const after = (await signIn(browser, app, user, { prompt: 'login' })).tokens.claims()?.auth_time;
    expect(after).toBeGreaterThan(before);
  });

  it('cannot skip the password through the resume address', async () => {
    const page = await pageFor({ prompt: 'login' });
    const uid = new URL(page.url).pathname.split('/').at(-1);
    const skipped = await browser.get(`/authorize/${uid}`);
    expect(skipped.location).toContain('/signin/');
    expect(skipped.location).not.toContain('code=');
  });

  it('consents with prompt=consent, even where consent is implicit', async () => {
    const page = await pageFor({ prompt: 'consent' });
    expect(page.text).toContain('will be able to');
    expect((await completeSignIn(browser, page, { user })).location).toMatch(/[?&]code=/);
  });

  it('chooses an account with prompt=select_account', async () => {
    const page = await pageFor({ prompt: 'select_account' });
    expect(page.text).toContain('Choose an account');
    expect(page.text).toContain(user.username);
    const answered = await browser.submit(page, {}, { button: `Continue as ${user.account.name}` });
    expect((await browser.follow(answered, (target) => target.startsWith(redirectUri))).location).toMatch(/code=/);
  });

  it('goes through all steps with prompt=login select_account consent, and chooses the account once', async () => {
    const signInPage = await pageFor({ prompt: 'login select_account consent' });
    expect(signInPage.text).toContain('name="password"');
    const submitted = await browser.submit(signInPage, { username: user.username, password: user.password });
    const consent = await browser.follow(submitted, (target) => target.startsWith(redirectUri));
    expect(consent.text).toContain('will be able to');
    expect((await completeSignIn(browser, consent, { user })).location).toMatch(/code=/);
  });

  it.each(['none login', 'none consent', 'dance', 'login dance', 'create'])(
    'gets an error with prompt=%s',
    async (prompt) => {
      expect((await outcome(browser, url({ prompt }))).get('error')).toBe('invalid_request');
    },
  );

  it('signs in again when the sign-in is older than max_age', async () => {
    expect((await outcome(early, url({ max_age: '3600' }))).get('code')).toBeTruthy();
    expect((await pageFor({ max_age: '0' }, early)).text).toContain('name="password"');
    await new Promise((resolve) => setTimeout(resolve, earlySince + 2100 - Date.now()));
    expect((await pageFor({ max_age: '1' }, early)).text).toContain('name="password"');
    expect((await outcome(early, url({ max_age: '1', prompt: 'none' }))).get('error')).toBe('login_required');
    const before = Math.floor(Date.now() / 1000);
    const { tokens } = await signIn(early, app, user, { max_age: '1' });
    expect(tokens.claims()?.auth_time).toBeGreaterThanOrEqual(before);
  });

  it.each(['-1', 'abc', '1.5', '1e400', ''])(
    'needs no new sign-in with max_age=%s, which is rejected or ignored',
    async (maxAge) => {
      const answer = await outcome(browser, url({ max_age: maxAge }));
      expect(answer.get(maxAge === '' ? 'code' : 'error')).toBeTruthy();
    },
  );
});

describe('a login_hint in a session', () => {
  it('of its own user needs no page', async () => {
    for (const login_hint of [user.username, user.account.email?.toUpperCase() ?? '', user.account.id]) {
      expect((await outcome(browser, url({ login_hint }))).get('code'), login_hint).toBeTruthy();
    }
  });

  it('of another user lets the user choose, with that user filled in, and nobody is signed in silently', async () => {
    const other = await aUser(idp.services);
    const session = httpClient(idp.issuer);
    await signIn(session, app, user);
    for (const login_hint of [other.username, 'nobody@example.com']) {
      const page = await pageFor({ login_hint }, session);
      expect(page.text).toContain('value="continue"');
      expect(page.text).toContain(login_hint);
      const silent = await outcome(session, url({ login_hint, prompt: 'none' }));
      expect(silent.get('error')).toBe('account_selection_required');
    }
    const page = await pageFor({ login_hint: other.username }, session);
    const form = await session.follow(await session.submit(page, { decision: 'other' }));
    expect(form.forms[0]?.fields.username).toBe(other.username);
    const again = await pageFor({ login_hint: other.username }, session);
    const { location } = await session.follow(await session.submit(again, { decision: 'continue' }), (target) =>
      target.startsWith(redirectUri),
    );
    expect(location).toContain('code=');
  });
});

describe('a user who is not signed in', () => {
  it('gets no page with prompt=none, and the application receives an error', async () => {
    const answer = await outcome(httpClient(idp.issuer), url({ prompt: 'none' }));
    expect(Object.fromEntries(answer)).toMatchObject({ error: 'login_required', state: 'the-state', iss: idp.issuer });
  });

  it('finds the login hint in the form, escaped whatever it holds', async () => {
    const page = await pageFor({ login_hint: 'ann@example.com' }, httpClient(idp.issuer));
    expect(page.forms[0]?.fields.username).toBe('ann@example.com');
    const hostile = await pageFor({ login_hint: '"><script>alert(1)</script>' }, httpClient(idp.issuer));
    expect(hostile.forms[0]?.fields.username).toBe('"><script>alert(1)</script>');
    expect(hostile.text).not.toContain('<script>alert');
  });

  it('continues to the application, however often the form is submitted or its page opened', async () => {
    const visitor = httpClient(idp.issuer);
    const page = await visitor.follow(await visitor.get(url({})));
    const fields = { username: user.username, password: user.password };
    const answers = [
      await visitor.submit(page, fields),
      await visitor.submit(page, fields),
      await visitor.get(page.url),
    ];
    const [first] = answers;
    expect(first?.location).toContain('/authorize/');
    for (const { location } of answers) expect(location).toBe(first?.location);
    const back = await visitor.follow(answers[2] ?? page, (target) => target.startsWith(redirectUri));
    expect(back.location).toMatch(/[?&]code=/);
  });

  it('is redirected to the application, or to the portal, from a sign-in that is complete', async () => {
    const over = async (metadata: object) => {
      const other = await anApplication(idp, { client_name: 'Field Notes', ...metadata });
      const visitor = httpClient(idp.issuer);
      const page = await visitor.follow(await visitor.get(authorizeUrl(idp, other.clientId)));
      await completeSignIn(visitor, page, { user });
      return { page: await visitor.get(page.url), elsewhere: await httpClient(idp.issuer).get(page.url) };
    };
    const { page, elsewhere } = await over({ client_uri: 'https://notes.example.com/' });
    expect(page.status).toBe(400);
    expect(page.text).toContain('href="https://notes.example.com/">Go to Field Notes');
    expect(page.text).toContain('href="/dashboard"');
    // Only the browser that was asked to sign in learns for which application.
    expect(elsewhere.text).not.toContain('Field Notes');
    const homeless = await over({});
    for (const { text } of [elsewhere, homeless.page]) expect(text).toContain('href="/dashboard">Your apps');
  });

  it('may cancel, and the application receives an error', async () => {
    const visitor = httpClient(idp.issuer);
    const page = await pageFor({}, visitor);
    const cancelled = await visitor.submit(page, {}, { form: '/cancel' });
    const back = await visitor.follow(cancelled, (target) => target.startsWith(redirectUri));
    expect(new URL(back.location ?? '').searchParams.get('error')).toBe('access_denied');
  });
});
