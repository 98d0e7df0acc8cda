// Signing somebody out against their will: forged forms, guessed tokens, foreign and forged ID tokens.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Application, anApplication, authorizeUrl, outcome, postAs, signIn } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
let user: TestUser;
let app: Application;
let other: Application;

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
  app = await anApplication(idp);
  other = await anApplication(idp);
});
afterAll(() => idp?.stop());

const isSignedIn = async (browser: HttpClient) =>
  (await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }))).get('code') !== null;

async function signedIn(): Promise<{ browser: HttpClient; hint: string }> {
  const browser = httpClient(idp.issuer);
  const { tokens } = await signIn(browser, app, user);
  return { browser, hint: tokens.id_token ?? '' };
}

const ask = (browser: HttpClient, parameters: Record<string, string>) =>
  browser.get(`/end-session?${new URLSearchParams(parameters)}`);

describe('a sign-out', () => {
  it('cannot be forced by a form of another site, another browser or a guess', async () => {
    const { browser } = await signedIn();
    const xsrf = (await ask(browser, {})).forms[0]?.fields.xsrf ?? '';
    const stranger = await signedIn();
    await ask(stranger.browser, {});
    for (const form of [{ logout: 'yes' }, { logout: 'yes', xsrf: 'guess' }, { logout: 'yes', xsrf }] as Record<
      string,
      string
    >[]) {
      expect((await stranger.browser.post('/end-session/confirm', { form })).status).toBe(400);
    }
    expect(await isSignedIn(stranger.browser)).toBe(true);
  });

  it.each(['abc', 'a.b.c', 'eyJhbGciOiJub25lIn0.eyJhdWQiOiJub2JvZHkifQ.', '\0'])(
    'refuses %j as an ID token',
    async (hint) => {
      const { browser } = await signedIn();
      const page = await ask(browser, { id_token_hint: hint });
      expect([page.status, page.location]).toEqual([400, undefined]);
    },
  );

  it('refuses an ID token that was tampered with, of another application, or without a signature', async () => {
    const { browser, hint } = await signedIn();
    const [header, payload = '', signature] = hint.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    for (const forged of [`${header}.${payload}.${signature?.slice(0, -4)}AAAA`, `${none}.${payload}.`]) {
      expect((await ask(browser, { id_token_hint: forged })).status).toBe(400);
    }
    expect((await ask(browser, { id_token_hint: hint, client_id: other.clientId })).status).toBe(400);
    expect((await postAs(idp, app, '/end-session', { id_token_hint: hint })).status).toBe(303);
  });
});
