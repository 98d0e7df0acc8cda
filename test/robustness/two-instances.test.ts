// Two instances on one database behind one address serve one sign-in between them: every step may meet another instance.
import * as oidc from 'openid-client';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Switchboard, switchboard } from '../logout/switchboard.ts';
import { type Application, anApplication, authorizeUrl, outcome, signIn, walk } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { connectAnew } from './support.ts';

let board: Switchboard;
let one: TestIdp;
let other: TestIdp;
let app: Application;
let user: TestUser;
let browser: HttpClient;

beforeAll(async () => {
  board = await switchboard();
  other = await board.another();
  one = board.instances[0] ?? expect.fail();
  app = await anApplication(one);
  connectAnew(app);
});
afterAll(() => board?.close());

beforeEach(async () => {
  board.use(one);
  user = await aUser(one.services);
  browser = httpClient(one.issuer);
});

it('a sign-in begun on one instance is finished on the other, and its tokens are good on both', async () => {
  const started = await app.rp.start({ scope: 'openid email offline_access' });
  const form = await browser.follow(await browser.get(started.url));
  board.use(other);
  const back = await walk(browser, form, { user });
  board.use(one);
  const tokens = await app.rp.finish(back.location ?? '', started);
  board.use(other);
  expect(await app.rp.userinfo(tokens)).toMatchObject({ email: user.account.email });
  expect(await app.rp.introspect(tokens.access_token)).toMatchObject({ active: true, sub: user.account.id });
  const renewed = await app.rp.refresh(tokens.refresh_token ?? '');
  board.use(one);
  expect(await app.rp.introspect(renewed.access_token)).toMatchObject({ active: true });
  // Rotated on the other instance: used again here, it takes everything back.
  await expect(app.rp.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
  board.use(other);
  await expect(app.rp.refresh(renewed.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
});

it('a session is known to both until it ends on either', async () => {
  const { tokens } = await signIn(browser, app, user);
  board.use(other);
  const silent = () => outcome(browser, authorizeUrl(one, app.clientId, { prompt: 'none' }));
  expect((await silent()).get('code')).toBeTruthy();
  const [session] = await other.services.sessions.list(user.account.id);
  await other.services.endSession.one(session?.uid ?? '', 'ended-by-admin');
  board.use(one);
  expect((await silent()).get('error')).toBe('login_required');
  await expect(app.rp.userinfo(tokens)).rejects.toBeInstanceOf(oidc.WWWAuthenticateChallengeError);
});

it('a code that reaches both at the same moment is redeemed by one of them at most', async () => {
  await signIn(browser, app, user);
  const started = await app.rp.start();
  const code = new URL((await browser.get(started.url)).location ?? '').searchParams.get('code') ?? '';
  const answers = await Promise.all([one, other, one, other].map((instance) => redeemAt(instance, code, started)));
  expect(answers.filter((status) => status === 200).length).toBeLessThanOrEqual(1);
  expect(answers.filter((status) => status === 400).length).toBeGreaterThanOrEqual(3);
});

/** Straight to one instance, past the balancer, under the address that both answer to. */
async function redeemAt({ port }: TestIdp, code: string, { checks }: Awaited<ReturnType<Application['rp']['start']>>) {
  const page = await httpClient(`http://127.0.0.1:${port}`).post('/token', {
    form: {
      grant_type: 'authorization_code',
      code,
      redirect_uri: app.redirectUri,
      code_verifier: checks.pkceCodeVerifier,
    },
    headers: {
      host: new URL(one.issuer).host,
      authorization: `Basic ${Buffer.from(`${app.clientId}:${app.clientSecret}`).toString('base64')}`,
    },
  });
  return page.status;
}
