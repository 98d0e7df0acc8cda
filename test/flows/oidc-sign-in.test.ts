// A sign-in with the authorization code flow; the client uses the library openid-client.
import { beforeAll, describe, expect, it } from 'vitest';
import { type RelyingParty, relyingParty } from '../support/applications/rp.ts';
import { aClient, aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { sharedIdp } from '../support/shared-idp.ts';

const redirectUri = 'http://127.0.0.1:4000/cb';
let idp: TestIdp;
let user: TestUser;
let rp: RelyingParty;

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services, { name: 'Ann Example' });
  const client = await aClient(idp.services, {
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
  });
  rp = await relyingParty({ issuer: idp.issuer, ...client, redirectUri });
});

describe('signing in over OpenID Connect', () => {
  it('requires the password, redirects with a code, and exchanges the code for tokens with the claims', async () => {
    const browser = httpClient(idp.issuer);
    const started = await rp.start();
    const page = await browser.follow(await browser.get(started.url));
    expect(page.status).toBe(200);
    expect(page.text).toContain('Test application');
    const answered = await browser.submit(page, { username: user.username, password: user.password });
    const back = await browser.follow(answered, (url) => url.startsWith(redirectUri));
    expect(back.location).toMatch(redirectUri);
    const tokens = await rp.finish(back.location ?? '', started);
    const claims = tokens.claims();
    expect(claims).toMatchObject({
      iss: idp.issuer,
      sub: user.account.id,
      name: 'Ann Example',
      email: user.account.email,
      email_verified: true,
      preferred_username: user.username,
      acr: 'urn:gatehouse:acr:password',
      amr: ['pwd'],
    });
    expect(tokens.expires_in).toBe(15 * 60);
    expect(await rp.userinfo(tokens)).toMatchObject({ sub: user.account.id, name: 'Ann Example' });
  });
});
