// What a request of a sign-in writes is one transaction, and what must be counted before a password is checked is another one before it.
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Application, anApplication, authorizeUrl, postAs, redirectUri, verifier } from '../oidc/support.ts';
import { countCommits } from '../support/database/commits.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { promptJobs } from '../support/waits.ts';

let idp: TestIdp;
let app: Application;
let user: TestUser;
let commits: () => Promise<number>;

beforeAll(async () => {
  promptJobs();
  idp = await startIdp();
  app = await anApplication(idp);
  user = await aUser(idp.services);
  commits = await countCommits(idp);
});
afterAll(() => idp?.stop());
// The jobs of the server, such as that of the audit chain, write too: another instance seems to run them.
beforeEach(async () => {
  await idp.firstJobs;
  const lockedUntil = new Date(Date.now() + 3_600_000);
  await idp.services.db.jobLock.updateMany({ data: { holder: 'another instance', lockedUntil } });
});

/** What each request of a sign-in writes, by a browser with these cookies; returns its cookie of a known browser. */
async function signIn(known: string[], count: (step: string, commits: number) => void): Promise<string[]> {
  const browser = httpClient(idp.issuer);
  browser.cookies.store(new URL(idp.issuer), known);
  const step = async <T>(name: string, request: Promise<T>): Promise<T> => {
    const answer = await request;
    count(name, await commits());
    return answer;
  };
  await commits();
  const begun = await step('authorization request', browser.get(authorizeUrl(idp, app.clientId)));
  const page = await step('page', browser.get(begun.location ?? ''));
  const answered = await step('password', browser.submit(page, { username: user.username, password: user.password }));
  const back = await step('resume', browser.get(answered.location ?? ''));
  const code = new URL(back.location ?? '').searchParams.get('code') ?? '';
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
  const tokens = await step('token', postAs(idp, app, '/token', form));
  expect(tokens.status).toBe(200);
  const cookies = browser.cookies.headerFor(new URL(idp.issuer)).split('; ');
  return cookies.filter((one) => one.startsWith('gatehouse_browser'));
}

/** A job that is woken may write meanwhile: the least of some turns counts. */
const TURNS = 8;

it('a sign-in with a password is five transactions: one for each request, and one before the password is checked', async () => {
  const known = await signIn([], () => {});
  const expected = { 'authorization request': 1, page: 1, password: 2, resume: 1, token: 2 };
  const least: Record<string, number> = {};
  for (let turn = 0; turn < TURNS && !isDeepStrictEqual(least, expected); turn += 1)
    await signIn(known, (step, count) => {
      least[step] = Math.min(count, least[step] ?? count);
    });
  expect(least).toEqual(expected);
});

it('a wrong password is three transactions', async () => {
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < TURNS && least > 3; turn += 1) {
    const browser = httpClient(idp.issuer);
    const page = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
    await commits();
    const answer = await browser.submit(page, { username: `nobody${turn}`, password: 'wrong password' });
    expect(answer.status).toBe(401);
    least = Math.min(least, await commits());
  }
  expect(least).toBe(3);
});
