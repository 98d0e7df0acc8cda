// Which authentication context and account a request requires: acr_values, essential acr and sub claims, id_token_hint
// (OIDC Core 3.1.2.1, 5.5.1.1; Unmet Authentication Requirements 1.0).
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  completeSignIn,
  outcome,
  redirectUri,
  signIn,
} from '../support.ts';

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const PASSWORD = 'urn:gatehouse:acr:password';
const MFA = 'urn:gatehouse:acr:mfa';
let idp: TestIdp;
let app: Application;

beforeAll(async () => {
  idp = await startIdp();
  await idp.services.settings.set('mfa', 'off');
  app = await anApplication(idp);
});
afterAll(() => idp?.stop());

const isThere = (url: string) => url.startsWith(redirectUri);
const essential = (acr: unknown) => JSON.stringify({ id_token: { acr: { essential: true, ...(acr as object) } } });

async function signedIn(): Promise<{ user: TestUser; browser: HttpClient; hint: string }> {
  const user = await aUser(idp.services);
  const browser = httpClient(idp.issuer);
  const { tokens } = await signIn(browser, app, user);
  return { user, browser, hint: tokens.id_token ?? '' };
}

const open = (browser: HttpClient, parameters: Record<string, string>) =>
  outcome(browser, authorizeUrl(idp, app.clientId, parameters));

describe('a voluntary context', () => {
  it('does not stop the sign-in when it cannot be reached, and the ID token holds the acr that was', async () => {
    const { user, browser } = await signedIn();
    for (const acr of [MFA, 'phr', 'urn:unknown', `${MFA} urn:unknown`]) {
      const { tokens } = await signIn(browser, app, user, { acr_values: acr });
      expect(tokens.claims()?.acr).toBe(PASSWORD);
    }
  });

  it('needs no new sign-in when the session has reached it', async () => {
    const { browser } = await signedIn();
    expect((await open(browser, { acr_values: PASSWORD, prompt: 'none' })).get('code')).toBeTruthy();
    expect((await open(browser, { acr_values: `${MFA} ${PASSWORD}`, prompt: 'none' })).get('code')).toBeTruthy();
  });

  it('is prompted for when the account can reach it, except with prompt=none', async () => {
    const { user, browser } = await signedIn();
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    expect((await open(browser, { acr_values: MFA, prompt: 'none' })).get('error')).toBe('login_required');
    const page = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId, { acr_values: MFA })), isThere);
    expect(page.text).toContain('one-time-code');
    const back = await browser.follow(await browser.submit(page, { code: generateSync({ secret: SECRET }) }), isThere);
    expect(back.location).toContain('code=');
    expect((await open(browser, { acr_values: MFA, prompt: 'none' })).get('code')).toBeTruthy();
  });

  it('is not prompted for when the factors of the account cannot reach it, and fails the request that demands it', async () => {
    const { user, browser } = await signedIn();
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    const page = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId, { acr_values: MFA })), isThere);
    await browser.follow(await browser.submit(page, { code: generateSync({ secret: SECRET }) }), isThere);
    // The account has TOTP, and users set up no passkey while second factors are off.
    expect((await open(browser, { acr_values: 'phr', prompt: 'none' })).get('code')).toBeTruthy();
    const answer = await open(browser, { claims: essential({ value: 'phr' }) });
    expect(answer.get('error')).toBe('unmet_authentication_requirements');
  });

  it('may be the default of an application', async () => {
    const strict = await anApplication(idp, {
      default_acr_values: [MFA],
      require_auth_time: true,
      default_max_age: 3600,
    });
    const { user, browser } = await signedIn();
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    const page = await browser.follow(await browser.get(authorizeUrl(idp, strict.clientId)), isThere);
    expect(page.text).toContain('one-time-code');
  });
});

describe('an essential context', () => {
  it('fails the request when the account cannot reach it', async () => {
    const { browser } = await signedIn();
    for (const acr of [{ value: MFA }, { values: ['phr', 'urn:unknown'] }, { value: 'urn:unknown' }]) {
      const answer = await open(browser, { claims: essential(acr) });
      expect(answer.get('error'), JSON.stringify(acr)).toBe('unmet_authentication_requirements');
    }
  });

  it('needs no new sign-in when the session has reached it', async () => {
    const { browser } = await signedIn();
    for (const acr of [{ value: PASSWORD }, { values: [MFA, PASSWORD] }, {}, { values: [] }]) {
      expect((await open(browser, { claims: essential(acr), prompt: 'none' })).get('code')).toBeTruthy();
    }
  });

  it('fails the request after a sign-in with an account that cannot reach it', async () => {
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const page = await completeSignIn(browser, authorizeUrl(idp, app.clientId, { claims: essential({ value: MFA }) }), {
      user,
    });
    expect(new URL(page.location ?? '').searchParams.get('error')).toBe('unmet_authentication_requirements');
  });
});

describe('an essential context beside a voluntary one', () => {
  it('is the one that the user is asked for', async () => {
    const { user, browser } = await signedIn();
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    const claims = essential({ value: MFA });
    const url = authorizeUrl(idp, app.clientId, { acr_values: PASSWORD, claims });
    const page = await browser.follow(await browser.get(url), isThere);
    const sent = await browser.submit(page, { code: generateSync({ secret: SECRET }) });
    expect((await browser.follow(sent, isThere)).location).toContain('code=');
  });
});

describe('the account that a request names', () => {
  it('needs no new sign-in when an ID token names the account of the session', async () => {
    const { browser, hint } = await signedIn();
    expect((await open(browser, { id_token_hint: hint, prompt: 'none' })).get('code')).toBeTruthy();
  });

  it('needs a new sign-in when an ID token or a sub claim names another account', async () => {
    const { hint, user } = await signedIn();
    const other = await signedIn();
    expect((await open(other.browser, { id_token_hint: hint, prompt: 'none' })).get('error')).toBe('login_required');
    const claims = JSON.stringify({ id_token: { sub: { value: user.account.id } } });
    expect((await open(other.browser, { claims, prompt: 'none' })).get('error')).toBe('login_required');
    const url = authorizeUrl(idp, app.clientId, { id_token_hint: hint });
    const page = await other.browser.follow(await other.browser.get(url), isThere);
    expect(page.forms[0]?.fields.username).toBe(user.username);
    expect((await completeSignIn(other.browser, page, { user })).location).toContain('code=');
  });

  it('is not replaced by another account that signs in', async () => {
    const { hint } = await signedIn();
    const other = await signedIn();
    const url = authorizeUrl(idp, app.clientId, { id_token_hint: hint });
    const page = await other.browser.follow(await other.browser.get(url), isThere);
    const submitted = await other.browser.submit(page, {
      username: other.user.username,
      password: other.user.password,
    });
    const { location = '' } = await other.browser.follow(submitted, isThere);
    expect(new URL(location).searchParams.get('error')).toBe('login_required');
    const claims = JSON.stringify({ id_token: { sub: { value: 'another-subject' } } });
    const named = await other.browser.follow(
      await other.browser.get(authorizeUrl(idp, app.clientId, { claims })),
      isThere,
    );
    const { location: answer = '' } = await completeSignIn(other.browser, named, other);
    expect(new URL(answer).searchParams.get('error')).toBe('login_required');
  });

  it('cannot be named by a forged, foreign or malformed ID token', async () => {
    const { browser, hint } = await signedIn();
    const foreign = await anApplication(idp);
    const [header, payload] = hint.split('.');
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    for (const text of ['abc', 'a.b.c', `${header}.${payload}.AAAA`, unsigned, '\0']) {
      expect((await open(browser, { id_token_hint: text })).get('error'), text).toBe('invalid_request');
    }
    const crossed = await outcome(browser, authorizeUrl(idp, foreign.clientId, { id_token_hint: hint }));
    expect(crossed.get('error')).toBe('invalid_request');
  });
});
