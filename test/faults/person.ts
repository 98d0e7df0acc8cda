// People who sign in, refresh their tokens, sign out and guess passwords at two nodes behind a proxy, and repeat what got no answer.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Application, basic, completeSignIn, postAs } from '../oidc/support.ts';
import type { TestUser } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { captchaOn, solvedCaptcha } from '../support/pages/captcha.ts';

const PAUSE_MS = 300;
const MAX_TRIES = 300;

export interface Tally {
  signIns: number;
  refreshes: number;
  signOuts: number;
  /** What the person or client had to send again: status (0: no answer), for a request that no proxy may repeat. */
  repeats: Record<string, number>;
  /** What did not succeed by being repeated. */
  broken: string[];
  /** Failed requests that a proxy may repeat. */
  failedReads: string[];
}

export const newTally = (): Tally => ({
  signIns: 0,
  refreshes: 0,
  signOuts: 0,
  repeats: {},
  broken: [],
  failedReads: [],
});

/** An address of its own, which the proxy passes on. */
export const fromAnywhere = () => ({
  'x-forwarded-for': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`,
});

export interface Life {
  accessToken: string;
  refreshToken: string;
}

export interface World {
  idp: TestIdp;
  app: Application;
  tally: Tally;
}

/** Sends a request until it gets another answer than none, 408 (the server was frozen), 429, 502 or 503; counts each repetition. */
export async function untilAnswered(tally: Tally, what: string, send: () => Promise<Page>): Promise<Page> {
  for (let tries = 1; ; tries += 1) {
    const page = await send().catch(() => undefined);
    const status = page?.status ?? 0;
    if (page && ![0, 408, 429, 502, 503].includes(status)) return page;
    if (tries === MAX_TRIES) throw new Error(`${what}: ${status} after ${tries} tries`);
    tally.repeats[`${what} ${status}`] = (tally.repeats[`${what} ${status}`] ?? 0) + 1;
    await sleep(Math.max(PAUSE_MS, status === 429 ? Number(page?.headers['retry-after']) * 1000 : 0));
  }
}

/** Signs in with the password in a new browser. Where a page fails, the person begins again, as one would with the back button. */
export async function signInSomehow({ idp, app, tally }: World, user: TestUser): Promise<Life> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const browser = httpClient(idp.issuer, { headers: fromAnywhere() });
    const started = await app.rp.start({ scope: 'openid offline_access' });
    const isBack = (url: string) => url.startsWith(app.redirectUri); // with an error, while the database is away
    const form = await browser.follow(await browser.get(started.url), isBack);
    if (form.status >= 500) tally.failedReads.push(`sign-in page: ${form.status}`);
    const page = await completeSignIn(browser, form, { user }).catch(() => undefined);
    if (page?.location) {
      const code = new URL(page.location).searchParams.get('code') ?? '';
      const answer = await postAs(idp, app, '/token', {
        grant_type: 'authorization_code',
        code,
        redirect_uri: app.redirectUri,
        code_verifier: started.checks.pkceCodeVerifier,
      }).catch(() => undefined);
      if (answer?.status === 200) {
        tally.signIns += 1;
        const { access_token, refresh_token } = answer.json<Record<string, string>>();
        return { accessToken: access_token ?? '', refreshToken: refresh_token ?? '' };
      }
      count(tally, `code ${answer?.status}`);
    } else count(tally, `sign-in form ${page?.status ?? 'no answer'}${page?.status === 400 ? textOf(page) : ''}`);
    await sleep(PAUSE_MS);
  }
  throw new Error('no sign-in succeeded');
}

function count({ repeats }: Tally, what: string): void {
  repeats[what] = (repeats[what] ?? 0) + 1;
}

const textOf = ({ text }: Page) =>
  text
    .slice(text.indexOf('<main'))
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .slice(0, 200);

/** Refreshes and reads userinfo again and again; a chain of refresh tokens that breaks is reported. */
export async function refreshUntil(world: World, life: Life, isOver: () => boolean): Promise<void> {
  const { idp, app, tally } = world;
  while (!isOver()) {
    const form = { grant_type: 'refresh_token', refresh_token: life.refreshToken };
    const page = await untilAnswered(tally, 'refresh', () => postAs(idp, app, '/token', form));
    if (page.status !== 200) {
      tally.broken.push(`refresh: ${page.status} ${page.text}`);
      return;
    }
    const { access_token, refresh_token } = page.json<Record<string, string>>();
    Object.assign(life, { accessToken: access_token, refreshToken: refresh_token ?? life.refreshToken });
    tally.refreshes += 1;
    const headers = { authorization: `Bearer ${life.accessToken}` };
    const info = await httpClient(idp.issuer)
      .get('/userinfo', { headers })
      .catch(() => undefined);
    if (info?.status !== 200) tally.failedReads.push(`userinfo: ${info?.status}`);
  }
}

/** Whether a node, past the proxy, says that the token is active. */
export async function isActive({ idp, app }: World, port: number, token: string): Promise<boolean> {
  const page = await httpClient(`http://127.0.0.1:${port}`).post('/introspect', {
    form: { token },
    headers: { host: new URL(idp.issuer).host, authorization: basic(app.clientId, app.clientSecret) },
  });
  if (page.status !== 200) throw new Error(`introspection: ${page.status} ${page.text}`);
  return page.json().active === true;
}

/** Tries wrong passwords, with the CAPTCHA where a page has one, until the lockout answers or `max` were checked; returns how many were. */
export async function guess({ idp, tally }: World, user: TestUser, max: number): Promise<number> {
  let checked = 0;
  while (checked < max) {
    const page = await untilAnswered(tally, 'guess', async () => {
      const browser = httpClient(idp.issuer, { headers: fromAnywhere() });
      const form = await browser.follow(await browser.get('/login'));
      if (form.status >= 500) tally.failedReads.push(`sign-in page: ${form.status}`);
      const wrong = { username: user.username, password: 'a wrong password' };
      const first = await browser.submit(form, wrong);
      const challenge = first.status === 429 && captchaOn(first);
      // Solved without work: the proxy of the nodes is in this process.
      return challenge ? browser.submit(first, { ...wrong, altcha: await solvedCaptcha(idp) }) : first;
    });
    if (page.status === 429) return checked;
    if (page.status !== 401) throw new Error(`a wrong password: ${page.status}`);
    checked += 1;
  }
  return checked;
}
