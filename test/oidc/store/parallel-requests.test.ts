// Parallel requests with one session cookie, as from tabs that a browser opens together: none undoes the changes of another,
// and a later logout reaches all their applications.
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { type Application, anApplication, authorizeUrl, completeSignIn, outcome, signIn } from '../support.ts';

let idp: TestIdp;
let home: Application;
let apps: Application[];

beforeAll(async () => {
  idp = await sharedIdp();
  home = await anApplication(idp);
  apps = await Promise.all(Array.from({ length: 6 }, () => anApplication(idp)));
});
afterEach(() => vi.restoreAllMocks());

async function signedIn(): Promise<{ user: TestUser; browser: HttpClient }> {
  const user = await aUser(idp.services);
  const browser = httpClient(idp.issuer);
  await signIn(browser, home, user);
  return { user, browser };
}

async function sessionOf({ account }: TestUser) {
  const sessions = await idp.services.sessions.list(account.id);
  expect(sessions).toHaveLength(1);
  return sessions[0] ?? expect.fail();
}

const participantsOf = async (user: TestUser) =>
  (await sessionOf(user)).participants.map(({ clientId }) => clientId).sort();

/** A tab of this browser that answers from its own cookies, so that the order of the answers does not matter. */
async function openTab(browser: HttpClient, app: Application) {
  const started = await app.rp.start();
  const page = await browser.get(started.url);
  return app.rp.finish(page.location ?? '', started);
}

/** Holds the next request at its look-up of the account, which comes after it has read the session. */
function holdNextRequest(): { isHeld: Promise<void>; release(): void } {
  const { accounts } = idp.services;
  const find = accounts.find.bind(accounts);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let held = () => {};
  const isHeld = new Promise<void>((resolve) => {
    held = resolve;
  });
  vi.spyOn(accounts, 'find').mockImplementationOnce(async (id, tx) => {
    held();
    await released;
    return find(id, tx);
  });
  return { isHeld, release };
}

/** Runs `meanwhile` while a request for this application, begun with the cookies of now, is under way. */
async function during(browser: HttpClient, app: Application, meanwhile: () => Promise<unknown>): Promise<Page> {
  const { isHeld, release } = holdNextRequest();
  const answer = browser.get(authorizeUrl(idp, app.clientId));
  await isHeld;
  await meanwhile();
  release();
  return answer;
}

describe('tabs opened at the same moment', () => {
  it('sign in to different applications, all of which take part in the session', async () => {
    const { user, browser } = await signedIn();
    const answers = await Promise.all(apps.map((app) => openTab(browser, app)));
    expect(await participantsOf(user)).toEqual([home, ...apps].map(({ clientId }) => clientId).sort());
    await Promise.all(answers.map((tokens, at) => expect(apps[at]?.rp.userinfo(tokens)).resolves.toBeDefined()));
  });

  it('lose all their tokens at a logout', async () => {
    const { user, browser } = await signedIn();
    const answers = await Promise.all(apps.map((app) => openTab(browser, app)));
    await idp.services.endSession.one((await sessionOf(user)).uid, 'ended-by-admin');
    await Promise.all(
      answers.map((tokens, at) => expect(apps[at]?.rp.userinfo(tokens)).rejects.toMatchObject({ status: 401 })),
    );
  });

  it('sign in to one application under one `sid`, so that each of its tokens is valid', async () => {
    const { user, browser } = await signedIn();
    const [app = home] = apps;
    const answers = await Promise.all(Array.from({ length: 6 }, () => openTab(browser, app)));
    const entry = (await sessionOf(user)).participants.find(({ clientId }) => clientId === app.clientId);
    expect(new Set(answers.map((tokens) => tokens.claims()?.sid))).toEqual(new Set([entry?.sid]));
    await Promise.all(answers.map((tokens) => expect(app.rp.userinfo(tokens)).resolves.toBeDefined()));
  });
});

describe('a request during which another one', () => {
  it('signs in to an application keeps both applications', async () => {
    const { user, browser } = await signedIn();
    const [slow = home, quick = home] = apps;
    await during(browser, slow, () => openTab(browser, quick));
    expect(await participantsOf(user)).toEqual([home, slow, quick].map(({ clientId }) => clientId).sort());
  });

  it('gives the session a new cookie leaves that cookie, and its application takes part', async () => {
    const { user, browser } = await signedIn();
    const [slow = home, fresh = home] = apps;
    const answer = await during(browser, slow, () =>
      completeSignIn(browser, authorizeUrl(idp, fresh.clientId, { prompt: 'login' }), { user }),
    );
    expect(answer.location).toContain('code=');
    expect(answer.setCookie).toEqual([]);
    expect(await participantsOf(user)).toEqual([home, slow, fresh].map(({ clientId }) => clientId).sort());
    expect((await outcome(browser, authorizeUrl(idp, home.clientId, { prompt: 'none' }))).get('code')).toBeTruthy();
  });

  it('logs out and signs in again restores nothing, and leaves the new session its cookie', async () => {
    const { user, browser } = await signedIn();
    const [slow = home] = apps;
    const answer = await during(browser, slow, async () => {
      await idp.services.endSession.one((await sessionOf(user)).uid, 'signed-out');
      await signIn(browser, home, user);
    });
    expect(new URL(answer.location ?? '').searchParams.get('error')).toBe('login_required');
    expect(await participantsOf(user)).toEqual([home.clientId]);
    expect((await outcome(browser, authorizeUrl(idp, home.clientId, { prompt: 'none' }))).get('code')).toBeTruthy();
  });
});
