// Sign-in over an OpenID Connect connection, from the button to the application.
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anApplication, redirectUri } from '../oidc/support.ts';
import { aClient, aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { expectSignedIn } from '../support/pages/enter.ts';
import { fieldsOf } from '../support/pages/html.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import {
  accountOf,
  anUpstream,
  type Connected,
  isAtApplication,
  openSignIn,
  pressConnection,
  signInOver,
} from './support.ts';

let idp: TestIdp;
let corp: Connected;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  const { roles } = idp.services;
  for (const name of ['fed-editor', 'fed-reader']) await roles.create({ name });
  corp = await anUpstream(idp, {
    groups_claim: 'groups',
    role_mappings: { staff: 'fed-editor', readers: 'fed-reader' },
    trusted_amr: { mfa: ['mfa'] },
    trusted_acr: { phr: ['https://corp.example/phishing-resistant'] },
  });
});
beforeEach(() => {
  corp.upstream.quirks = {};
});
afterAll(() => corp.remove());

/** Signs in with the client library of an application; returns the claims of the ID token. */
async function idTokenOf(parameters: Record<string, string> = {}) {
  const application = await anApplication(idp);
  const browser = httpClient(idp.issuer);
  const started = await application.rp.start(parameters);
  const form = await browser.follow(await browser.get(started.url), isAtApplication);
  const page = await pressConnection(browser, form, corp.connection);
  const tokens = await application.rp.finish(page.location ?? '', started);
  return decodeJwt(tokens.id_token ?? '');
}

describe('sign-in over a connection', () => {
  it('makes an account for a new user and signs in to the application', async () => {
    const profile = { name: 'Jit One', preferred_username: 'jit.one' };
    corp.upstream.user = { sub: 'jit-1', email: 'jit.one@example.org', email_verified: true, ...profile };
    const { page } = await signInOver(idp, corp.connection);
    expectSignedIn(page);
    const account = await accountOf(idp, corp.connection, 'jit-1');
    expect(account).toMatchObject({ username: 'jit.one', email: 'jit.one@example.org', emailVerified: true });
    expect(account).toMatchObject({ name: 'Jit One', ssoId: 'jit-1', isActive: true });
  });

  it('finds a known user by the subject alone, and takes over the name and a proven address', async () => {
    corp.upstream.user = { sub: 'known-1', email: 'before@known.example', email_verified: true, name: 'Before' };
    await signInOver(idp, corp.connection);
    const before = await accountOf(idp, corp.connection, 'known-1');
    corp.upstream.user = { sub: 'known-1', email: 'after@known.example', email_verified: true, name: 'After' };
    await signInOver(idp, corp.connection);
    const after = await accountOf(idp, corp.connection, 'known-1');
    expect(after).toMatchObject({ id: before?.id, username: before?.username, name: 'After' });
    expect(after?.email).toBe('after@known.example');
  });

  it('takes over claims in other languages, as attributes with the tag', async () => {
    const names = { name: 'Hanako', 'name#JA': '花子', 'given_name#ja-Kana-JP': 'ハナコ', 'email#ja': 'x@y.example' };
    corp.upstream.user = { sub: 'tagged-1', email: 'tagged@known.example', email_verified: true, ...names };
    await signInOver(idp, corp.connection);
    const account = await accountOf(idp, corp.connection, 'tagged-1');
    expect(account?.name).toBe('Hanako');
    expect(account?.attributes).toEqual({ 'name#ja': '花子', 'given_name#ja-Kana-JP': 'ハナコ' });
  });

  it('takes over no address that is not proven, and none that another user has', async () => {
    const other = await aUser(idp.services);
    corp.upstream.user = { sub: 'known-2', email: 'own@known.example', email_verified: true };
    await signInOver(idp, corp.connection);
    for (const email of ['unproven@known.example', other.account.email]) {
      corp.upstream.user = { sub: 'known-2', email, email_verified: email === other.account.email };
      expectSignedIn((await signInOver(idp, corp.connection)).page);
      expect((await accountOf(idp, corp.connection, 'known-2'))?.email).toBe('own@known.example');
    }
  });

  it('gives the roles of the groups, and takes them away with the group but not the one that was given directly', async () => {
    corp.upstream.user = { sub: 'roles-1', groups: ['staff', 'readers', 'unmapped'] };
    await signInOver(idp, corp.connection);
    const account = await accountOf(idp, corp.connection, 'roles-1');
    expect(account?.roles).toEqual(['fed-editor', 'fed-reader']);
    await idp.services.roles.assign(account?.id ?? '', 'fed-reader');
    corp.upstream.user = { sub: 'roles-1' };
    await signInOver(idp, corp.connection);
    expect((await accountOf(idp, corp.connection, 'roles-1'))?.roles).toEqual(['fed-reader']);
  });

  it('changes no role by a list of groups that cannot be read', async () => {
    corp.upstream.user = { sub: 'roles-2', groups: ['staff'] };
    await signInOver(idp, corp.connection);
    corp.upstream.user = { sub: 'roles-2', groups: { more: 'elsewhere' } };
    await signInOver(idp, corp.connection);
    expect((await accountOf(idp, corp.connection, 'roles-2'))?.roles).toEqual(['fed-editor']);
  });

  it('asks for an account where the connection makes none', async () => {
    const closed = await anUpstream(idp, { create_users: false });
    closed.upstream.user = { sub: 'nobody', email: 'nobody@closed.example', email_verified: true };
    const { page } = await signInOver(idp, closed.connection);
    await closed.remove();
    expect(page.status).toBe(403);
    expect(page.text).toContain('You don’t have an account here yet.');
    expect(await accountOf(idp, closed.connection, 'nobody')).toBeUndefined();
  });

  it('goes straight to the connection that the request names', async () => {
    const { clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] });
    corp.upstream.user = { sub: 'straight-1' };
    const page = await openSignIn(idp, { clientId, connection: corp.connection, login_hint: 'me@corp.example' });
    expectSignedIn(page);
    expect(corp.upstream.lastRequest.get('login_hint')).toBe('me@corp.example');
  });

  it('signs in to the account pages with /login?connection=', async () => {
    corp.upstream.user = { sub: 'login-1', name: 'Log In' };
    const browser = httpClient(idp.issuer);
    const page = await browser.follow(await browser.get(`/login?connection=${corp.connection}&return_to=/account`));
    expect(page.url).toBe(`${idp.issuer}/account`);
    expect(page.text).toContain('Log In');
  });

  it('names the connection that cannot be reached, and leads back to the other ways to sign in', async () => {
    const down = await anUpstream(idp);
    down.upstream.user = { sub: 'down-1' };
    await signInOver(idp, down.connection);
    await down.upstream.stop();
    const { clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] });
    const browser = httpClient(idp.issuer);
    const form = await openSignIn(idp, { clientId, browser });
    const sent = await browser.submit(form, {}, { form: `/connections/${down.connection}` });
    // The browser would find nobody there; the answer of an earlier page meets the same at the token endpoint.
    const state = new URL(sent.location ?? '').searchParams.get('state') ?? '';
    const back = await browser.get(
      `/upstream/${down.connection}/callback?code=x&state=${state}&iss=${down.upstream.issuer}`,
    );
    const page = await browser.follow(back);
    expect(page.status).toBe(503);
    expect(page.text).toContain('We can’t reach Example Corp right now.');
    const again = await browser.get(new URL(form.url).pathname);
    expect(fieldsOf(again)).toContain('password');
    await idp.services.connections.remove(down.connection);
  });
});

describe('what a sign-in over a connection states', () => {
  it('states fed, the level of a single factor, and the time of the authentication there', async () => {
    const authTime = Math.floor(Date.now() / 1000) - 7200;
    corp.upstream.user = { sub: 'truth-1', auth_time: authTime };
    const claims = await idTokenOf();
    expect(claims).toMatchObject({ acr: 'urn:gatehouse:acr:federated', amr: ['fed'], auth_time: authTime });
  });

  it('states no time when the upstream states none', async () => {
    corp.upstream.user = { sub: 'truth-2' };
    corp.upstream.quirks = { idToken: { auth_time: undefined } };
    expect(await idTokenOf()).not.toHaveProperty('auth_time');
  });

  it('takes from the userinfo neither how the user authenticated nor the proof of another address', async () => {
    const userinfo = { sub: 'truth-4', amr: ['mfa'], acr: 'https://corp.example/phishing-resistant' };
    const proven = { auth_time: Math.floor(Date.now() / 1000), email: 'proven@corp.example', email_verified: true };
    corp.upstream.user = { sub: 'truth-4', email: 'stated@corp.example' };
    corp.upstream.quirks = { userinfo: { ...userinfo, ...proven }, idToken: { auth_time: undefined } };
    const claims = await idTokenOf();
    expect(claims).toMatchObject({ acr: 'urn:gatehouse:acr:federated', amr: ['fed'] });
    expect(claims).not.toHaveProperty('auth_time');
    expect(await accountOf(idp, corp.connection, 'truth-4')).toMatchObject({ email: null, emailVerified: false });
  });

  it('takes email_verified as the proof of the claim email, not of another claim that is mapped to the address', async () => {
    const mapped = await anUpstream(idp, { attributes: { email: 'preferred_username' } });
    const stated = { preferred_username: 'truth-5@corp.example', email: 'own@elsewhere.example', email_verified: true };
    mapped.upstream.user = { sub: 'truth-5', ...stated };
    await signInOver(idp, mapped.connection);
    expect(await accountOf(idp, mapped.connection, 'truth-5')).toMatchObject({ email: null, emailVerified: false });
    mapped.upstream.user = { sub: 'truth-5', ...stated, preferred_username: 'own@elsewhere.example' };
    await signInOver(idp, mapped.connection);
    const email = 'own@elsewhere.example';
    expect(await accountOf(idp, mapped.connection, 'truth-5')).toMatchObject({ email, emailVerified: true });
    await mapped.remove();
  });

  it('counts acr and amr of the upstream by the lists of the connection alone', async () => {
    corp.upstream.user = { sub: 'truth-3', amr: ['mfa'] };
    expect(await idTokenOf()).toMatchObject({ acr: 'urn:gatehouse:acr:mfa', amr: ['fed', 'mfa'] });
    corp.upstream.user = { sub: 'truth-3', acr: 'https://corp.example/phishing-resistant' };
    expect(await idTokenOf()).toMatchObject({ acr: 'phr' });
    corp.upstream.user = { sub: 'truth-3', amr: ['otp', 'hwk', 'phr'], acr: 'phr' };
    expect(await idTokenOf()).toMatchObject({ acr: 'urn:gatehouse:acr:federated', amr: ['fed'] });
  });
});
