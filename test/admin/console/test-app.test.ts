// The built-in test application and test service provider: every step that an administrator can run, and who may not.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aCredential } from '../../saml/support.ts';
import type { TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from './support.ts';

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

let idp: TestIdp;
let user: TestUser;
let admin: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  user = await staff(idp, 'admin');
  admin = await consoleOf(idp, user);
  const page = await admin.submit(await admin.get('/admin/test'), {}, { button: 'Add test applications' });
  expect(textOf((await admin.follow(page)).text)).toContain('Test applications added.');
});
afterAll(() => idp?.stop());

const pathOf = async (clientId: string) => `/admin/test/${(await idp.services.applications.find(clientId))?.id}`;
const oidc = () => pathOf('gatehouse-test-app');
const saml = () => pathOf(`${idp.issuer}/admin/test/sp`);

/** Runs a test and answers the page that it ends on. */
const run = async (path: string, fields: Record<string, string> = {}, who = admin): Promise<Page> =>
  who.follow(await who.submit(await who.get(path), fields));

/** The same at the service provider, which gets its Response by a form. */
const runSaml = async (fields: Record<string, string> = {}, who = admin): Promise<Page> =>
  delivered(await run(await saml(), fields, who), who);
const delivered = (page: Page, who = admin) => who.submit(page, {}, { form: '/sp/acs' });

/** Follows the pages that notify the applications one after another. */
async function followNotifications(page: Page, who = admin): Promise<Page> {
  const next = linksOf(page.text, page.url).find(({ label }) => label === 'continue');
  return next ? followNotifications(await who.follow(await who.get(next.href)), who) : page;
}

/** The JSON under a heading of the page. */
function block(page: Page, title: string): Record<string, unknown> {
  const found = new RegExp(`<h2[^>]*>${title}</h2>[\\s\\S]*?<code>([\\s\\S]*?)</code>`).exec(page.text)?.[1];
  if (!found) throw new Error(`no "${title}" on the page: ${textOf(page.text)}`);
  return JSON.parse(textOf(found));
}

const signIn = async (page: Page, who = admin, as = user) =>
  who.follow(await who.submit(page, { username: as.username, password: as.password }));

describe('the test application', () => {
  it('signs in at the real endpoints and shows the decoded tokens', async () => {
    const page = await run(await oidc());
    expect(textOf(page.text)).toContain('The sign-in works.');
    expect(block(page, 'ID token')).toMatchObject({ aud: 'gatehouse-test-app', sub: user.account.id, iss: idp.issuer });
    expect(block(page, 'Header of the ID token')).toMatchObject({ alg: 'RS256' });
    expect(block(page, 'Authorization request')).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
    });
    const answer = block(page, 'Authorization response');
    expect(answer).toMatchObject({ iss: idp.issuer, state: block(page, 'Authorization request').state });
    expect(block(page, 'Token request')).toMatchObject({ grant_type: 'authorization_code', code: answer.code });
    expect(block(page, 'Token response')).toMatchObject({
      token_type: 'Bearer',
      access_token: expect.stringMatching(/…$/),
    });
    expect(block(page, 'UserInfo')).toMatchObject({ sub: user.account.id, roles: ['admin'] });
    // The code was redeemed at the token endpoint, once.
    const again = await admin.get(page.url);
    expect(again.status).toBe(400);
    expect(block(again, 'Error')).toMatchObject({ error: 'invalid_grant' });
  });

  it('refreshes and shows both tokens, and is rejected with a used refresh token', async () => {
    const first = await run(await oidc());
    const second = await admin.submit(first, {}, { form: '/refresh' });
    expect(textOf(second.text)).toContain('The refresh works.');
    expect(block(second, 'Token request')).toMatchObject({ grant_type: 'refresh_token' });
    expect(block(second, 'UserInfo')).toMatchObject({ sub: user.account.id });
    expect(block(second, 'Previous ID token')).toEqual(block(first, 'ID token'));
    expect(block(second, 'ID token')).toMatchObject({ sub: user.account.id });
    expect(textOf(second.text)).toMatch(/Refresh token\s*new/);
    // Its successor was used, so this is no repetition of a request whose answer was lost.
    await admin.submit(second, {}, { form: '/refresh' });
    const reused = await admin.submit(first, {}, { form: '/refresh' });
    expect(reused.status).toBe(400);
    expect(block(reused, 'Error')).toMatchObject({ error: 'invalid_grant' });
    const without = await run(await oidc(), { scope: 'openid' });
    expect(without.forms.map(({ action }) => action).join()).not.toContain('/refresh');
    expect(textOf(without.text)).toContain('There is no refresh token');
  });

  it('signs in again with prompt=login', async () => {
    const before = block(await run(await oidc()), 'ID token').auth_time as number;
    const signInPage = await run(await oidc(), { again: 'on' });
    expect(signInPage.url).toContain('/signin/');
    await expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(before);
    const page = await signIn(signInPage);
    expect(block(page, 'ID token').auth_time as number).toBeGreaterThan(before);
  });

  it('steps up to a second factor, which both protocols report', async () => {
    const stepper = await staff(idp, 'admin');
    const browser = await consoleOf(idp, stepper);
    const form = await browser.get(await oidc());
    const acr = /<option value="([^"]+)"[^>]*>\s*Two-step verification/.exec(form.text)?.[1] ?? '';
    const begun = await browser.submit(form, { acr });
    await idp.services.mfa.totp.importSecret(stepper.account.id, SECRET);
    const signInPage = await browser.follow(begun);
    expect(signInPage.text).toContain('one-time-code');
    const page = await browser.follow(await browser.submit(signInPage, { code: generateSync({ secret: SECRET }) }));
    expect(block(page, 'ID token')).toMatchObject({ acr, amr: expect.arrayContaining(['otp']) });
    const stepped = textOf((await runSaml({ acr }, browser)).text);
    for (const part of [
      'The sign-in works.',
      'RequestedAuthnContext Comparison="minimum"',
      'https://refeds.org/profile/mfa',
    ])
      expect(stepped).toContain(part);
    // An account without a second factor has to set one up first.
    const without = await run(await oidc(), { acr });
    expect(without.url).toContain('/signin/');
    expect(textOf(without.text)).toContain('Test application requires two-step verification.');
  });
});

describe('the test service provider', () => {
  it('sends a signed request, and shows it with the Response and its checks', async () => {
    const page = await runSaml();
    const text = textOf(page.text);
    for (const part of ['The sign-in works.', '<samlp:AuthnRequest', '<samlp:Response', `${idp.issuer}/admin/test/sp`])
      expect(text).toContain(part);
    expect(text).toContain('all checks passed');
    for (const check of ['It is signed', 'Audience', 'Recipient', 'It is valid now', 'It answers the request'])
      expect(text).toContain(check);
    expect(text).not.toContain('failed');
    const request = /AuthnRequest[^>]*? ID="([^"]+)"/.exec(text)?.[1];
    expect(text).toContain(`InResponseTo="${request}"`);
  });

  it('signs in again with ForceAuthn', async () => {
    const signInPage = await run(await saml(), { again: 'on' });
    expect(signInPage.url).toContain('/signin/');
    const text = textOf((await delivered(await signIn(signInPage))).text);
    for (const part of ['The sign-in works.', 'ForceAuthn="true"']) expect(text).toContain(part);
  });

  it('gets a Response without a request (IdP-initiated)', async () => {
    const text = textOf((await runSaml({ unsolicited: 'on' })).text);
    expect(text).toContain('It answers no request (IdP-initiated)');
    expect(text).toContain('all checks passed');
    expect(text).not.toContain('InResponseTo');
  });

  it('rejects a Response that was changed or belongs to another test', async () => {
    const posted = await run(await saml());
    const { SAMLResponse = '', RelayState = '' } = posted.forms[0]?.fields ?? {};
    const xml = Buffer.from(SAMLResponse, 'base64').toString();
    const changed = Buffer.from(xml.replace(user.account.email ?? '', 'root@example.com')).toString('base64');
    const post = (form: Record<string, string>) => admin.post('/admin/test/sp/acs', { form });
    const text = textOf((await post({ SAMLResponse: changed, RelayState })).text);
    for (const part of ['a check failed', 'The signature of the SAML message is invalid.'])
      expect(text).toContain(part);
    expect(text).not.toContain('Send a LogoutRequest');
    await run(await saml());
    expect((await post({ SAMLResponse, RelayState })).status).toBe(400);
    expect((await post({ SAMLResponse: 'nonsense', RelayState })).status).toBe(400);
  });

  it('answers a LogoutRequest of this server only', async () => {
    const browser = await consoleOf(idp, user);
    await runSaml({}, browser);
    const page = await run(await oidc(), {}, browser);
    const posted = await browser.follow(await browser.submit(page, {}, { form: '/sign-out' }));
    const back = await followNotifications(await browser.follow(await browser.submit(posted)), browser);
    expect(back.url).toContain('/signin/');
    const participant = await idp.services.db.asStored.logoutParticipant.findFirst({
      where: { clientId: `${idp.issuer}/admin/test/sp` },
    });
    expect(participant).toMatchObject({ state: 'done' });
    for (const query of ['SAMLRequest=nonsense', 'SAMLRequest=fZFBS8']) {
      expect((await browser.get(`/admin/test/sp/slo?${query}`)).status).toBe(400);
    }
  });
});

it('the test page registers the key of the test service provider again where another one is registered', async () => {
  const sp = await idp.services.applications.find(`${idp.issuer}/admin/test/sp`);
  if (sp?.protocol !== 'saml') throw new Error('no such application');
  const foreign = [{ use: 'signing' as const, pem: aCredential().certificatePem.trim() }];
  await idp.services.applications.update('saml', sp.id, { ...sp, settings: { ...sp.metadata, certificates: foreign } });
  expect((await run(await saml())).status).toBe(400);
  const page = await admin.submit(await admin.get('/admin/test'), {}, { button: 'Use the key of this server' });
  expect((await admin.follow(page)).text).not.toContain('Use the key of this server');
  expect(textOf((await runSaml()).text)).toContain('all checks passed');
});

describe('a user without permission', () => {
  it('sees and registers nothing', async () => {
    for (const role of ['auditor', 'support']) {
      const reader = await consoleOf(idp, await staff(idp, role));
      for (const path of ['/admin/test', await oidc(), await saml()]) expect((await reader.get(path)).status).toBe(403);
      const csrf = (await reader.get('/account/profile')).forms[0]?.fields._csrf ?? '';
      const headers = { origin: new URL(idp.issuer).origin };
      for (const path of ['', '/refresh', '/sign-out'])
        expect((await reader.post(`/admin/test${path}`, { form: { _csrf: csrf }, headers })).status).toBe(403);
    }
  });

  it('cannot open the test application', async () => {
    const browser = httpClient(idp.issuer);
    const query = new URLSearchParams({
      client_id: 'gatehouse-test-app',
      redirect_uri: `${idp.issuer}/admin/test/callback`,
      response_type: 'code',
      scope: 'openid',
      state: 's',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    const signInPage = await browser.follow(await browser.get(`/authorize?${query}`));
    const page = await signIn(signInPage, browser, await staff(idp, 'support'));
    expect(page.url).not.toContain('code=');
  });

  it('gets nothing in another browser, or with the tokens of another test', async () => {
    const page = await run(await oidc());
    const fields = page.forms.find(({ action }) => action.includes('/refresh'))?.fields ?? {};
    const foreign = await consoleOf(idp, await staff(idp, 'admin'));
    expect((await foreign.get(page.url)).status).toBe(400);
    const own = await run(await oidc(), {}, foreign);
    for (const form of ['/refresh', '/sign-out']) {
      const { state = '', sealed = '' } = fields;
      expect((await foreign.submit(own, { state, sealed }, { form })).status).toBe(400);
      expect((await foreign.submit(own, { sealed }, { form })).status).toBe(400);
    }
    const elsewhere = await consoleOf(idp, user);
    expect((await elsewhere.get(page.url)).status).toBe(400);
    expect((await elsewhere.get(`/admin/test/signed-out?state=${fields.state}`)).status).toBe(400);
    // Nothing of that harmed the test itself.
    expect((await admin.submit(page, {}, { form: '/refresh' })).status).toBe(200);
  });
});

describe('the sign-out of the test application', () => {
  it('ends the session, and shows the response after a new sign-in', async () => {
    const page = await run(await oidc());
    expect(textOf(page.text)).toContain('This signs you out for real');
    expect(block(page, 'Sign-out request')).toMatchObject({ client_id: 'gatehouse-test-app' });
    const posted = await admin.follow(await admin.submit(page, {}, { form: '/sign-out' }));
    const signInPage = await followNotifications(await admin.follow(await admin.submit(posted)));
    expect(signInPage.url).toContain('/signin/');
    const result = await signIn(signInPage);
    expect(textOf(result.text)).toContain('The sign-out works');
    expect(block(result, 'Sign-out request')).toMatchObject({ client_id: 'gatehouse-test-app' });
    expect(block(result, 'Sign-out response').state).toBe(new URL(result.url).searchParams.get('state'));
  });
});

describe('the sign-out of the test service provider', () => {
  it('sends a LogoutRequest, and shows it with the LogoutResponse after a new sign-in', async () => {
    const browser = await consoleOf(idp, user);
    const page = await runSaml({}, browser);
    expect(textOf(page.text)).toContain('This signs you out for real');
    const signInPage = await browser.follow(await browser.submit(page, {}, { form: '/sp/sign-out' }));
    expect(signInPage.url).toContain('/signin/');
    const result = await signIn(signInPage, browser);
    const text = textOf(result.text);
    for (const part of ['The sign-out works.', '<samlp:LogoutRequest', '<samlp:LogoutResponse', 'all checks passed'])
      expect(text).toContain(part);
    // Another administrator's browser knows nothing of it.
    const foreign = await consoleOf(idp, await staff(idp, 'admin'));
    expect((await foreign.get(result.url)).status).toBe(400);
    expect((await foreign.get(result.url.replace(/Signature=.{8}/, 'Signature=AAAAAAAA'))).status).toBe(400);
  });
});
