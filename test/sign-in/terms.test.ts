// Terms and privacy notice with a version: each person accepts it before a sign-in goes on, once, in OpenID Connect, SAML and on the own pages.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { aService } from '../admin/support.ts';
import { anApplication, authorizeUrl, completeSignIn, outcome, postAs, signIn } from '../oidc/support.ts';
import { linkIn, mailOf, NEW_PASSWORD, open } from '../recovery/support.ts';
import { aServiceProvider } from '../support/applications/sp.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { signedIn } from '../support/pages/account.ts';
import { textOf } from '../support/pages/html.ts';

const TITLE = 'Before you continue';
let box: Mailbox;
let idp: TestIdp;
let user: TestUser;
let browser: HttpClient;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  const { settings } = idp.services;
  await settings.set('rate_limits', false);
  await settings.set('self_registration', true);
  await settings.set('brand_terms_url', 'https://example.com/terms');
  await settings.set('brand_privacy_url', 'https://example.com/privacy');
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});
beforeEach(async () => {
  await version('2026-11');
  user = await aUser(idp.services);
  browser = httpClient(idp.issuer);
});

async function version(value: string | undefined): Promise<void> {
  const { settings } = idp.services;
  await (value === undefined ? settings.unset('terms_version') : settings.set('terms_version', value));
  await settings.reload();
}
const accepted = async ({ account }: TestUser) => {
  const { termsVersion, termsAcceptedAt } = (await idp.services.accounts.find(account.id)) ?? expect.fail();
  return { termsVersion, isDated: termsAcceptedAt !== null };
};
const accept = async (page: Page, client = browser) => client.submit(page, {}, { button: 'Accept and continue' });
const events = ({ account }: TestUser) => idp.services.audit.list({ types: ['terms.accepted'], subjectId: account.id });

describe('a version of the terms', () => {
  it('is accepted before an application gets anything, once', async () => {
    const app = await anApplication(idp);
    const started = await app.rp.start();
    const asked = await completeSignIn(browser, started.url, { user });
    expect([asked.status, textOf(asked.text)]).toEqual([200, expect.stringContaining(TITLE)]);
    for (const address of ['https://example.com/terms', 'https://example.com/privacy'])
      expect(asked.text).toContain(`href="${address}"`);
    expect(textOf(asked.text)).toContain('2026-11');
    expect(await accepted(user)).toEqual({ termsVersion: null, isDated: false });
    const back = await completeSignIn(browser, await accept(asked), { user });
    expect((await app.rp.finish(back.location ?? expect.fail(back.text), started)).claims()?.sub).toBe(user.account.id);
    expect(await accepted(user)).toEqual({ termsVersion: '2026-11', isDated: true });
    expect(await events(user)).toMatchObject([
      { actorId: user.account.id, outcome: 'success', data: { version: '2026-11' } },
    ]);
    await signIn(browser, app, user);
    await signIn(httpClient(idp.issuer), app, user);
    expect(await events(user)).toHaveLength(1);
  });

  it('is asked for again in a session that was open when it changed', async () => {
    const app = await anApplication(idp);
    await completeSignIn(
      browser,
      await accept(await completeSignIn(browser, authorizeUrl(idp, app.clientId), { user })),
      {
        user,
      },
    );
    await version('2026-12');
    const silent = await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }));
    expect([silent.get('error'), silent.get('code')]).toEqual(['interaction_required', null]);
    const asked = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
    expect(textOf(asked.text)).toContain('changed since you accepted version 2026-11');
    const back = await completeSignIn(browser, await accept(asked), { user });
    expect(back.location).toContain('code=');
    expect(await accepted(user)).toMatchObject({ termsVersion: '2026-12' });
    const after = await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }));
    expect(after.get('code')).toBeTruthy();
  });

  it('is accepted only in the form that names it: one of an older version asks again, and no form of another step accepts', async () => {
    const app = await anApplication(idp);
    const asked = await completeSignIn(browser, authorizeUrl(idp, app.clientId), { user });
    await version('2026-12');
    const again = await browser.follow(await accept(asked));
    expect(textOf(again.text)).toContain('2026-12');
    expect(await accepted(user)).toMatchObject({ termsVersion: null });
    const long = await browser.submit(again, { version: 'x'.repeat(5000) }, { form: '/terms' });
    expect([long.status, (await accepted(user)).termsVersion]).toEqual([400, null]);
    // Before the password, the form of this step accepts nothing.
    const stranger = httpClient(idp.issuer);
    const login = await stranger.follow(await stranger.get(authorizeUrl(idp, app.clientId)));
    const [{ action = '', fields = {} } = {}] = login.forms;
    const form = { version: '2026-12', _csrf: String(fields._csrf) };
    const skipped = await stranger.post(action.replace(/[a-z]+$/, 'terms'), { form, headers: { origin: idp.issuer } });
    expect([skipped.status, skipped.location]).toEqual([303, expect.stringContaining('/signin/')]);
    expect(await accepted(user)).toMatchObject({ termsVersion: null });
  });

  it('is declined without loss: the page says what happens, and leads to sign-out or back', async () => {
    const app = await anApplication(idp);
    const asked = await completeSignIn(browser, authorizeUrl(idp, app.clientId), { user });
    const declined = await browser.get(`${asked.url}?declined`);
    const text = textOf(declined.text);
    expect(asked.text).toContain('?declined');
    for (const part of ['Your account stays as it is', 'Sign out']) expect(text).toContain(part);
    expect(await accepted(user)).toMatchObject({ termsVersion: null });
    expect(declined.text).toContain('href="/logout"');
    const back = await browser.follow(await browser.submit(declined, {}, { form: '/cancel' }), (url) =>
      url.startsWith(app.redirectUri),
    );
    expect(new URL(back.location ?? '').searchParams.get('error')).toBe('access_denied');
    const signOut = await browser.follow(
      await browser.get('/logout', { headers: { 'sec-fetch-site': 'same-origin' } }),
    );
    expect(textOf(signOut.text)).toContain('Sign out');
    await browser.follow(await browser.submit(signOut, {}, { button: 'Sign out' }));
    const silent = await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }));
    expect(silent.get('error')).toBe('login_required');
  });

  it('is accepted by users of SAML applications, and a passive request gets NoPassive', async () => {
    const sp = await aServiceProvider(idp.services, { settings: { access: 'everyone' } });
    const url = () => sp.saml.getAuthorizeUrlAsync('', undefined, {});
    const form = await browser.follow(await browser.get(await url()));
    const asked = await browser.follow(
      await browser.submit(form, { username: user.username, password: user.password }),
    );
    expect(textOf(asked.text)).toContain(TITLE);
    expect(asked.text).not.toContain('SAMLResponse');
    const passive = await aServiceProvider(idp.services, {
      settings: { access: 'everyone' },
      library: { passive: true },
    });
    const refused = await browser.follow(await browser.get(await passive.saml.getAuthorizeUrlAsync('', undefined, {})));
    expect(Buffer.from(String(refused.forms[0]?.fields.SAMLResponse), 'base64').toString()).toContain('NoPassive');
    const again = await browser.follow(await browser.get(await url()));
    const answered = await browser.follow(await accept(again));
    const { SAMLResponse = '' } = answered.forms[0]?.fields ?? {};
    expect(await sp.accept({ SAMLResponse: String(SAMLResponse) })).toMatchObject({ nameID: expect.anything() });
    expect(await accepted(user)).toMatchObject({ termsVersion: '2026-11' });
  });

  it('is accepted by a user who connects a device', async () => {
    const tv = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
      token_endpoint_auth_method: 'none',
    });
    const device = (await postAs(idp, tv, '/device/code', { client_id: tv.clientId, scope: 'openid' })).json();
    const code = await browser.submit(await browser.get('/device'), { user_code: String(device.user_code) });
    const asked = await completeSignIn(browser, await browser.submit(code, {}, { button: 'Connect device' }), { user });
    expect(textOf(asked.text)).toContain(TITLE);
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: String(device.device_code),
      client_id: tv.clientId,
    };
    expect((await postAs(idp, tv, '/token', form)).json().error).toBe('authorization_pending');
    expect(textOf((await browser.follow(await accept(asked))).text)).toContain('Device connected');
  });

  it('is not asked for without one of the two addresses, without a version, and from programs', async () => {
    const { settings } = idp.services;
    const app = await anApplication(idp);
    await version(undefined);
    const { tokens } = await signIn(browser, app, user, { scope: 'openid offline_access' });
    await version('2026-11');
    // A refresh token and UserInfo go on: the next sign-in asks.
    expect((await app.rp.refresh(tokens.refresh_token ?? '')).access_token).toBeTruthy();
    expect(await app.rp.userinfo(tokens)).toMatchObject({ sub: user.account.id });
    expect((await (await aService(idp)).get('/settings')).status).toBe(200);
    await settings.unset('brand_terms_url');
    await settings.unset('brand_privacy_url');
    await settings.reload();
    try {
      await signIn(httpClient(idp.issuer), app, user);
    } finally {
      await settings.set('brand_terms_url', 'https://example.com/terms');
      await settings.set('brand_privacy_url', 'https://example.com/privacy');
    }
  });
});

describe('the own pages', () => {
  it('ask in a session that was open when the version changed, keep a form that was sent, and go on where it was', async () => {
    await version(undefined);
    await signedIn(idp, user, browser);
    const profile = await browser.get('/account/profile');
    await version('2026-11');
    expect((await browser.submit(profile, { given_name: 'Tess' })).status).toBe(303);
    expect(await idp.services.accounts.find(user.account.id)).toMatchObject({ givenName: 'Tess' });
    const asked = await browser.follow(await browser.get('/account/profile'));
    expect(textOf(asked.text)).toContain(TITLE);
    const back = await browser.follow(await accept(asked));
    expect(back.url).toBe(`${idp.issuer}/account/profile`);
    expect(await events(user)).toHaveLength(1);
  });

  it('let the administrator who sets the version go on after accepting it, and count who has', async () => {
    await version(undefined);
    const admin = await staff(idp, 'admin');
    const client = await consoleOf(idp, admin);
    const form = await client.get('/admin/branding');
    const saved = await client.submit(form, { terms_version: '2027-01' }, { form: '/admin/branding' });
    expect(saved.status).toBe(303);
    const asked = await client.follow(saved);
    expect(textOf(asked.text)).toContain(TITLE);
    const back = await client.follow(await accept(asked, client));
    expect([back.url, back.text]).toEqual([`${idp.issuer}/admin/branding`, expect.stringContaining('value="2027-01"')]);
    expect(textOf(back.text)).toMatch(/1 of \d+ users has accepted version 2027-01/);
    const page = textOf((await client.get(`/admin/users/${admin.account.id}`)).text);
    expect(page).toMatch(/Terms.*2027-01/s);
    const other = textOf((await client.get(`/admin/users/${user.account.id}`)).text);
    expect(other).toContain('Not accepted');
    const links = { brand_terms_url: '', brand_privacy_url: '' };
    const unlinked = await client.submit(back, { terms_version: '2027-02', ...links }, { form: '/admin/branding' });
    expect([unlinked.status, textOf(unlinked.text)]).toEqual([
      400,
      expect.stringContaining('Version of the terms to accept needs the address of the terms or of the privacy notice'),
    ]);
    const wrong = await client.submit(back, { terms_version: 'x'.repeat(41) }, { form: '/admin/branding' });
    expect(wrong.status).toBe(400);
  });

  it('have the accepted version in the API, and its event as a sentence', async () => {
    await completeSignIn(browser, await accept(await completeSignIn(browser, `${idp.issuer}/account`, { user })), {
      user,
    });
    const service = await aService(idp);
    expect((await service.get(`/users/${user.account.id}`)).json()).toMatchObject({
      terms_version: '2026-11',
      terms_accepted_at: expect.stringMatching(/^\d{4}-/),
    });
    const activity = await browser.get('/account/activity');
    expect(textOf(activity.text)).toContain('Ann Example accepted version 2026-11 of the terms');
  });
});

describe('a new account', () => {
  const form = (page: Page) => textOf(page.text);

  it('accepts in the form of the sign-up, and is not asked again', async () => {
    const email = `new${Date.now()}@example.com`;
    await browser.submit(await browser.get('/sign-up'), { email });
    const link = linkIn(await mailOf(box, email, 'Finish creating your account'));
    const { browser: client, page } = await open(idp, link);
    expect(form(page)).toContain('2026-11');
    expect(page.text).toContain('href="https://example.com/terms"');
    await client.submit(page, { name: 'Nora', password: NEW_PASSWORD });
    const account = (await idp.services.accounts.findByEmail(email)) ?? expect.fail();
    const created = { account, username: email, password: NEW_PASSWORD };
    expect(await accepted(created)).toEqual({ termsVersion: '2026-11', isDated: true });
    expect(await events(created)).toHaveLength(1);
    await signedIn(idp, created);
  });

  it('accepts in the form of the invitation, unless the version changed since it was opened', async () => {
    for (const [sent, then] of [
      ['2026-11', '2026-11'],
      ['2026-12', null],
    ] as const) {
      await version('2026-11');
      const username = `guest-${sent}`;
      const email = `${username}@example.com`;
      const account = await idp.services.accounts.create({ username, email });
      const service = await aService(idp);
      await service.send('POST', `/users/${account.id}/invite`);
      const link = linkIn(await mailOf(box, email, 'You’ve been invited to Gatehouse'));
      const { browser: client, page } = await open(idp, link);
      expect(page.forms.map(({ fields }) => fields.terms)).toEqual(['2026-11', '2026-11']);
      await version(sent);
      const after = await client.follow(await client.submit(page, { password: NEW_PASSWORD }));
      expect(form(after).includes(TITLE)).toBe(then === null);
      expect(await accepted({ account, username, password: NEW_PASSWORD })).toMatchObject({ termsVersion: then });
    }
  });
});

it('is asked for after the second factor', async () => {
  const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
  await idp.services.mfa.totp.importSecret(user.account.id, secret);
  const app = await anApplication(idp);
  const factor = await completeSignIn(browser, authorizeUrl(idp, app.clientId), { user });
  expect(textOf(factor.text)).not.toContain(TITLE);
  const asked = await completeSignIn(browser, await browser.submit(factor, { code: generateSync({ secret }) }), {
    user,
  });
  expect(textOf(asked.text)).toContain(TITLE);
});
