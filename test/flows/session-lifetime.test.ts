// How long single sign-on sessions live: the idle limit, the absolute one, and the number of sessions of a user; and what the
// pages display about them meanwhile.

import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SettingName, SettingValues } from '../../src/core/settings/settings.ts';
import { createSweep, expiringRows } from '../../src/server/schedule.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  completeSignIn,
  outcome,
  postAs,
  signIn,
} from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';
import { fieldsOf } from '../support/pages/html.ts';
import { servicesOf } from '../support/services-of.ts';

// The engine reads the time itself: one clock for both.
const realTime = Date.now;
let movedMs = 0;
const clock = {
  now: () => new Date(Date.now()),
  advance({ minutes = 0, seconds = 0 }) {
    movedMs += (minutes * 60 + seconds) * 1000;
  },
};
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
let idp: TestIdp;
let app: Application;

beforeAll(async () => {
  Date.now = () => realTime() + movedMs;
  idp = await startIdp({ now: clock.now });
  app = await anApplication(idp, { consent: 'implicit' });
});
afterAll(async () => {
  await idp?.stop();
  Date.now = realTime;
});

function sweep(): Promise<Record<string, number>> {
  const { db, now } = idp.services;
  return createSweep({ ...servicesOf({ db, now }), targets: expiringRows })();
}

describe('the browser of a live session', () => {
  it('is still displayed on the account page and in the console after a sweep', async () => {
    const headers = { 'user-agent': FIREFOX };
    const user = await aUser(idp.services);
    const browser = await signedIn(idp, user, httpClient(idp.issuer, { headers }));
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    clock.advance({ minutes: 2 });
    await sweep();
    expect((await browser.get('/account/sessions')).text).toContain('Firefox');
    expect((await browser.get('/account/sessions')).text).not.toContain('Unknown browser');
    const listed = await admin.get('/admin/sessions');
    expect(listed.text).toContain(user.username);
    expect(listed.text).toContain('Firefox');
  });
});

/** A user who has just signed in to an application. */
async function aSession(): Promise<{ user: TestUser; browser: HttpClient; uid: string; refreshToken: string }> {
  const user = await aUser(idp.services);
  const browser = httpClient(idp.issuer);
  const { tokens } = await signIn(browser, app, user, { scope: 'openid offline_access' });
  const [session] = await idp.services.sessions.list(user.account.id);
  return { user, browser, uid: session?.uid ?? '', refreshToken: tokens.refresh_token ?? '' };
}

/** What the application receives with prompt=none: a code, or an error. */
async function silently(browser: HttpClient): Promise<string | null> {
  const answer = await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }));
  return answer.get('error') ?? (answer.get('code') && 'code');
}

const endOf = async (uid: string) => (await idp.services.sessions.find(uid))?.idleExpiresAt.getTime();

describe('a session that its user does not use', () => {
  it('has ended after an hour for applications, account pages, portal and console', async () => {
    const { browser, uid, user } = await aSession();
    const account = await signedIn(idp, user);
    const admin = await staff(idp, 'admin');
    const console = await consoleOf(idp, admin);
    clock.advance({ minutes: 58 });
    expect(await silently(browser)).toBe('code');
    expect((await idp.services.sessions.list(user.account.id)).map((one) => one.uid)).toContain(uid);
    clock.advance({ minutes: 3 });
    expect(await silently(browser)).toBe('login_required');
    for (const [client, path] of [
      [account, '/account'],
      [account, '/dashboard'],
      [console, '/admin/sessions'],
    ] as const) {
      const page = await client.follow(await client.get(path));
      expect(fieldsOf(page), path).toContain('password');
    }
    expect(await idp.services.sessions.list(user.account.id)).toEqual([]);
    await idp.services.endSession.expired();
    const [ended] = await idp.services.audit.list({ subjectId: user.account.id, types: ['session.ended'] });
    expect(ended).toMatchObject({ reason: 'expired' });
    const again = await consoleOf(idp, admin);
    expect((await again.get('/admin/sessions')).text).not.toContain(user.username);
  });

  it('is not extended by prompt=none, a frame, or the use of tokens', async () => {
    const { browser, uid, refreshToken } = await aSession();
    const end = await endOf(uid);
    clock.advance({ minutes: 50 });
    expect(await silently(browser)).toBe('code');
    await browser.get(authorizeUrl(idp, app.clientId), { headers: { 'sec-fetch-dest': 'iframe' } });
    const refreshed = await postAs(idp, app, '/token', { grant_type: 'refresh_token', refresh_token: refreshToken });
    const authorization = `Bearer ${refreshed.json().access_token}`;
    expect((await httpClient(idp.issuer).get('/userinfo', { headers: { authorization } })).status).toBe(200);
    expect(await endOf(uid)).toBe(end);
    clock.advance({ minutes: 11 });
    expect(await silently(browser)).toBe('login_required');
  });

  it('goes on after a page of the user, which is recorded once a minute', async () => {
    const { browser, uid } = await aSession();
    const end = (await endOf(uid)) ?? 0;
    clock.advance({ minutes: 50 });
    await outcome(browser, authorizeUrl(idp, app.clientId));
    const moved = end + 50 * 60_000;
    await vi.waitFor(async () => expect(Math.abs(((await endOf(uid)) ?? 0) - moved)).toBeLessThan(60_000), 20_000);
    const recorded = await endOf(uid);
    clock.advance({ seconds: 30 });
    await browser.follow(await browser.get('/account'));
    expect(await endOf(uid)).toBe(recorded);
    clock.advance({ minutes: 50 });
    expect((await browser.follow(await browser.get('/account'))).text).toContain('Your account');
    expect(await endOf(uid)).toBeGreaterThan(recorded ?? 0);
  });

  it('goes on after a request at another instance', async () => {
    const { browser, uid } = await aSession();
    const other = await startIdp({ environment: { DATABASE_URL: idp.environment.DATABASE_URL ?? '' }, now: clock.now });
    try {
      clock.advance({ minutes: 50 });
      await other.services.sessions.recordActivity(uid);
      clock.advance({ minutes: 50 });
      expect(await silently(browser)).toBe('code');
      clock.advance({ minutes: 11 });
      await other.services.sessions.recordActivity(uid);
      expect(await silently(browser)).toBe('login_required');
    } finally {
      await other.stop();
    }
  });

  it('lasts as long as the setting says', async () => {
    await set('session_idle_minutes', 10);
    const { browser } = await aSession();
    clock.advance({ minutes: 11 });
    expect(await silently(browser)).toBe('login_required');
  });
});

describe('a session in use', () => {
  it('ends twelve hours after the sign-in', async () => {
    const { browser, uid } = await aSession();
    for (let times = 0; times < 15; times += 1) {
      clock.advance({ minutes: 45 });
      await idp.services.sessions.recordActivity(uid);
    }
    expect(await silently(browser)).toBe('code');
    clock.advance({ minutes: 46 });
    expect(await silently(browser)).toBe('login_required');
  });
});

describe('the sessions of one user', () => {
  it('are as many as the setting allows: a further sign-in ends the oldest, at any instance', async () => {
    await set('max_sessions_per_user', 2);
    const user = await aUser(idp.services);
    const browsers = [httpClient(idp.issuer), httpClient(idp.issuer), httpClient(idp.issuer)];
    for (const browser of browsers) {
      clock.advance({ minutes: 1 });
      await completeSignIn(browser, authorizeUrl(idp, app.clientId), { user });
    }
    expect(await Promise.all(browsers.map(silently))).toEqual(['login_required', 'code', 'code']);
    const [ended] = await idp.services.audit.list({ subjectId: user.account.id, types: ['session.ended'] });
    expect(ended).toMatchObject({ reason: 'session-limit' });
    // A new sign-in in a browser that has a session is no further session.
    await completeSignIn(browsers[2] ?? httpClient(idp.issuer), authorizeUrl(idp, app.clientId, { prompt: 'login' }), {
      user,
    });
    expect(await idp.services.sessions.list(user.account.id)).toHaveLength(2);
  });

  it('are as many as the setting allows after sign-ins at the same moment', async () => {
    await set('max_sessions_per_user', 1);
    const user = await aUser(idp.services);
    const browsers = Array.from({ length: 4 }, () => httpClient(idp.issuer));
    await Promise.all(browsers.map((browser) => completeSignIn(browser, authorizeUrl(idp, app.clientId), { user })));
    expect(await idp.services.sessions.list(user.account.id)).toHaveLength(1);
  });
});

describe('a refresh token', () => {
  const redeem = (token: string) => postAs(idp, app, '/token', { grant_type: 'refresh_token', refresh_token: token });

  it('ends ninety days after the sign-in, however often it was used', async () => {
    let { refreshToken } = await aSession();
    for (let days = 0; days < 80; days += 10) {
      clock.advance({ minutes: 10 * 24 * 60 });
      refreshToken = String((await redeem(refreshToken)).json().refresh_token);
    }
    clock.advance({ minutes: 11 * 24 * 60 });
    expect((await redeem(refreshToken)).json()).toMatchObject({ error: 'invalid_grant' });
  });

  it('ends at once when the setting becomes shorter than its age', async () => {
    const { refreshToken } = await aSession();
    clock.advance({ minutes: 8 * 24 * 60 });
    await set('refresh_token_days', 7);
    expect((await redeem(refreshToken)).json()).toMatchObject({ error: 'invalid_grant' });
  });
});

const changed = new Set<SettingName>();
async function set<Name extends SettingName>(name: Name, value: SettingValues[Name]): Promise<void> {
  changed.add(name);
  await idp.services.settings.set(name, value);
  await idp.services.settings.reload();
}
afterEach(async () => {
  for (const name of changed) await idp.services.settings.unset(name);
  if (changed.size > 0) await idp.services.settings.reload();
  changed.clear();
});
