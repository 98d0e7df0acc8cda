// A disabled account: it cannot sign in, and its sessions and tokens stop working.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Application,
  anApplication,
  authorizeUrl,
  outcome,
  postAs,
  redirectUri,
  signIn,
} from '../oidc/support.ts';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
let app: Application;

beforeAll(async () => {
  idp = await startIdp();
  app = await anApplication(idp);
});
afterAll(() => idp?.stop());

describe('a disabled account', () => {
  it('loses its sessions and tokens, and signs in again when it is enabled again', async () => {
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const { tokens } = await signIn(browser, app, user, { scope: 'openid offline_access' });
    const code = (await outcome(browser, authorizeUrl(idp, app.clientId))).get('code') ?? '';
    await idp.services.accounts.setActive(user.account.id, false);

    expect((await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }))).get('error')).toBe(
      'login_required',
    );
    const page = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)), (url) =>
      url.startsWith(redirectUri),
    );
    expect(page.text).toContain('name="password"');
    const rejected = await browser.submit(page, { username: user.username, password: user.password });
    expect([rejected.status, rejected.text]).toEqual([
      403,
      expect.stringContaining('Your account is disabled. Ask your administrator'),
    ]);
    const userinfo = await browser.get('/userinfo', { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect(userinfo.status).toBe(401);
    expect((await app.rp.introspect(tokens.access_token)).active).toBe(false);
    expect((await app.rp.introspect(tokens.refresh_token ?? '')).active).toBe(false);
    for (const form of [
      { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' },
      { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: 'v'.repeat(43) },
    ] as Record<string, string>[]) {
      const answer = await postAs(idp, app, '/token', form);
      expect({ status: answer.status, error: answer.json().error }, form.grant_type).toEqual({
        status: 400,
        error: 'invalid_grant',
      });
    }

    await idp.services.accounts.setActive(user.account.id, true);
    const again = await signIn(browser, app, user, { prompt: 'login' });
    expect(again.tokens.claims()?.sub).toBe(user.account.id);
  });

  it('cannot finish a sign-in that began before', async () => {
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const form = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
    const proven = await browser.submit(form, { username: user.username, password: user.password });
    await idp.services.accounts.setActive(user.account.id, false);
    const resumed = await browser.follow(proven, (url) => url.startsWith(redirectUri));
    expect(resumed.location ?? '').not.toContain('code=');
  });

  it('leaves no working session or token when it is deleted, and its subject is never reused', async () => {
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const { tokens } = await signIn(browser, app, user, { scope: 'openid offline_access' });
    await idp.services.accounts.remove(user.account.id);
    expect((await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }))).get('error')).toBe(
      'login_required',
    );
    expect((await app.rp.introspect(tokens.access_token)).active).toBe(false);
    await expect(app.rp.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(idp.services.accounts.create({ id: user.account.id, username: 'other.person' })).rejects.toThrow();
  });
});
