// What an application narrows for itself, in both protocols: from which networks it may be used, and how long its sign-ins and tokens last.
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../../admin/console/support.ts';
import { aService } from '../../admin/support.ts';
import { aLiveSp, answerIn, redirect } from '../../saml/live.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { type Application, anApplication, authorizeUrl, completeSignIn, outcome, postAs, signIn } from '../support.ts';

// The engine reads the time itself: one clock for both.
const realTime = Date.now;
let movedMs = 0;
const pass = (hours: number) => {
  movedMs += hours * 3_600_000;
};
let idp: TestIdp;
let user: TestUser;

beforeAll(async () => {
  Date.now = () => realTime() + movedMs;
  idp = await startIdp({ environment: { TRUST_PROXY: '1' }, now: () => new Date(Date.now()) });
  user = await aUser(idp.services);
});
afterAll(async () => {
  await idp?.stop();
  Date.now = realTime;
});

const INSIDE = '192.0.2.7';
const OUTSIDE = '198.51.100.7';
/** A browser whose address can change. */
const browserAt = (address: string) => {
  const headers = { 'x-forwarded-for': address };
  return {
    browser: httpClient(idp.issuer, { headers }),
    moveTo: (other: string) => Object.assign(headers, { 'x-forwarded-for': other }),
  };
};
const failedRule = async (clientId: string) =>
  (await idp.services.rejections.list({ clientId })).rejections[0]?.rules.find(({ state }) => state === 'failed');

describe('allowed_networks', () => {
  const networks = ['192.0.2.0/24', '2001:db8::/32', '127.0.0.1'];

  it('lets a person in from inside only, before and during a session, and names the network', async () => {
    const app = await anApplication(idp, { consent: 'implicit', allowed_networks: networks });
    const { browser, moveTo } = browserAt(INSIDE);
    expect((await signIn(browser, app, user)).tokens.access_token).toBeTruthy();
    moveTo(OUTSIDE);
    const page = await completeSignIn(browser, authorizeUrl(idp, app.clientId), { user });
    expect([page.status, textOf(page.text)]).toEqual([403, expect.stringContaining('can’t be used from your network')]);
    expect(await failedRule(app.clientId)).toMatchObject({
      rule: 'network',
      received: OUTSIDE,
      expected: networks.join('\n'),
    });
    const silent = await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }));
    expect(silent.get('error')).toBe('access_denied');
    const other = await anApplication(idp, { consent: 'implicit' });
    expect((await signIn(browser, other, user)).tokens.access_token).toBeTruthy();
    moveTo('2001:db8::7');
    expect((await signIn(browser, app, user)).tokens.access_token).toBeTruthy();
  });

  it('rejects tokens and refreshes from outside, without ending the grant', async () => {
    const app = await anApplication(idp, { consent: 'implicit', allowed_networks: networks });
    const { tokens } = await signIn(browserAt(INSIDE).browser, app, user, { scope: 'openid offline_access' });
    const refresh = (address: string, token: unknown) =>
      postAs(
        idp,
        app,
        '/token',
        { grant_type: 'refresh_token', refresh_token: String(token) },
        { 'x-forwarded-for': address },
      );
    const rejected = await refresh(OUTSIDE, tokens.refresh_token);
    expect([rejected.status, rejected.json().error]).toEqual([400, 'invalid_grant']);
    expect(rejected.json().error_description).toContain('may not be used from this network');
    expect(await failedRule(app.clientId)).toMatchObject({ rule: 'network', received: OUTSIDE });
    expect((await refresh(INSIDE, tokens.refresh_token)).status).toBe(200);
    // An API asks from its own address.
    const headers = { authorization: `Bearer ${tokens.access_token}`, 'x-forwarded-for': OUTSIDE, accept: '*/*' };
    expect((await httpClient(idp.issuer).get('/userinfo', { headers })).status).toBe(200);
  });

  it('rejects a client that asks for itself from outside', async () => {
    const machine = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      allowed_networks: networks,
    });
    const ask = async (address: string) =>
      (await postAs(idp, machine, '/token', { grant_type: 'client_credentials' }, { 'x-forwarded-for': address }))
        .status;
    expect([await ask(INSIDE), await ask(OUTSIDE)]).toEqual([200, 400]);
    expect(await failedRule(machine.clientId)).toMatchObject({ rule: 'network', received: OUTSIDE });
  });

  it('holds for SAML sign-ins', async () => {
    const sp = await aLiveSp(idp, { allowed_networks: networks });
    const { browser, moveTo } = browserAt(INSIDE);
    expect(await samlAnswer(browser, sp)).toContain('status:Success');
    moveTo(OUTSIDE);
    const page = await browser.follow(
      await redirect(browser, sp.request({ issueInstant: new Date(Date.now()).toISOString() })),
    );
    expect([page.status, textOf(page.text)]).toEqual([403, expect.stringContaining('can’t be used from your network')]);
    expect(await failedRule(sp.entityId)).toMatchObject({ rule: 'network', received: OUTSIDE });
  });

  it('is a check of the access check, for the last address of the person', async () => {
    const app = await anApplication(idp, { allowed_networks: networks });
    const known = await aUser(idp.services);
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const api = await aService(idp);
    const mayOpen = async () =>
      (
        await api.get(`/access-check?${new URLSearchParams({ user: known.username, application: app.clientId })}`)
      ).json<{
        may_open: boolean;
      }>().may_open;
    const report = async () => {
      const page = await admin.get(
        `/admin/access-check?${new URLSearchParams({ user: known.username, app: app.clientId })}`,
      );
      return textOf(page.text);
    };
    expect(await report()).toContain('can be used only from 192.0.2.0/24, 2001:db8::/32 or 127.0.0.1');
    const other = await anApplication(idp, { consent: 'implicit' });
    await signIn(browserAt(OUTSIDE).browser, other, known);
    expect(await report()).toContain('can’t sign in to Test application');
    expect(await mayOpen()).toBe(false);
    expect(await report()).toContain(`is ${OUTSIDE}`);
    await signIn(browserAt(INSIDE).browser, other, known);
    expect(await report()).toContain('can sign in to Test application');
    expect(await mayOpen()).toBe(true);
    // The administrator tries it from this machine, whose address is 127.0.0.1.
    const closed = await anApplication(idp, { allowed_networks: ['192.0.2.0/24'] });
    const trial = async ({ applicationId }: Application) =>
      textOf((await admin.get(`/admin/test/${applicationId}`)).text);
    expect(await trial(closed)).toContain('this test ends with a rejection');
    expect(await trial(app)).not.toContain('this test ends with a rejection');
  });

  it.each([['10.0.0.0/40'], ['example.com'], ['10.0.0.1-10.0.0.9']])('rejects %s', async (network) => {
    await expect(anApplication(idp, { allowed_networks: [network] })).rejects.toMatchObject({
      faults: [{ path: ['allowed_networks', 0], code: 'network' }],
    });
  });
});

async function samlAnswer(browser: HttpClient, sp: Awaited<ReturnType<typeof aLiveSp>>): Promise<string> {
  let page = await browser.follow(
    await redirect(browser, sp.request({ issueInstant: new Date(Date.now()).toISOString() })),
  );
  if (page.forms.some(({ fields }) => 'password' in fields)) {
    page = await browser.submit(page, { username: user.username, password: user.password });
    page = await browser.follow(page);
  }
  return answerIn(page) ?? `${page.status} ${textOf(page.text)}`;
}

describe('lifetimes of an application', () => {
  const lifetimes = { session_hours: 2, access_token_minutes: 3, refresh_token_days: 1 };

  it('bound its access tokens, and never extend the setting', async () => {
    const expiresIn = async (app: Application, parameters = {}) =>
      (await oidc.clientCredentialsGrant(app.rp.config, parameters)).expires_in;
    const machine = { redirect_uris: [], grant_types: ['client_credentials' as const] };
    expect(await expiresIn(await anApplication(idp, { ...machine, access_token_minutes: 3 }))).toBe(180);
    expect(await expiresIn(await anApplication(idp, { ...machine, access_token_minutes: 60 }))).toBe(900);
    const app = await anApplication(idp, { consent: 'implicit', ...lifetimes });
    const { tokens } = await signIn(httpClient(idp.issuer), app, user, { scope: 'openid offline_access' });
    expect(tokens.expires_in).toBe(180);
  });

  it('end its refresh tokens, those that are issued already too', async () => {
    const app = await anApplication(idp, { consent: 'implicit', refresh_token_days: 1 });
    const long = await anApplication(idp, { consent: 'implicit' });
    const tokenOf = async (one: Application) =>
      (await signIn(httpClient(idp.issuer), one, user, { scope: 'openid offline_access' })).tokens.refresh_token ?? '';
    const [own, usual] = [await tokenOf(app), await tokenOf(long)];
    pass(23);
    const { refresh_token: next = '' } = await app.rp.refresh(own);
    pass(2);
    await expect(app.rp.refresh(next)).rejects.toMatchObject({ error: 'invalid_grant' });
    const again = await long.rp.refresh(usual);
    await idp.services.applications.update('oidc', long.applicationId, {
      redirect_uris: [long.redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      consent: 'implicit',
      refresh_token_days: 1,
    });
    await expect(long.rp.refresh(again.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  it('demand a new sign-in for it, while the session goes on for others', async () => {
    const app = await anApplication(idp, { consent: 'implicit', session_hours: 2 });
    const other = await anApplication(idp, { consent: 'implicit' });
    const sp = await aLiveSp(idp, { session_hours: 2 });
    await idp.services.settings.set('session_idle_minutes', 10 * 60);
    await idp.services.settings.reload();
    const browser = httpClient(idp.issuer);
    await signIn(browser, other, user);
    pass(1);
    const silent = (one: Application) => outcome(browser, authorizeUrl(idp, one.clientId, { prompt: 'none' }));
    expect((await silent(app)).get('code')).toBeTruthy();
    const assertion = await samlAnswer(browser, sp);
    expect(assertion).toContain('status:Success');
    const end = Date.parse(/SessionNotOnOrAfter="([^"]+)"/.exec(assertion)?.[1] ?? '');
    expect(Math.round((end - Date.now()) / 60_000)).toBe(60);
    pass(1.1);
    expect((await silent(app)).get('error')).toBe('login_required');
    expect((await silent(other)).get('code')).toBeTruthy();
    const form = await browser.follow(
      await redirect(browser, sp.request({ issueInstant: new Date(Date.now()).toISOString() })),
    );
    expect(Object.keys(form.forms[0]?.fields ?? {})).toContain('password');
    expect((await signIn(browser, app, user)).tokens.access_token).toBeTruthy();
    expect((await silent(app)).get('code')).toBeTruthy();
  });

  it.each([
    ['session_hours', 0],
    ['access_token_minutes', 61],
    ['refresh_token_days', 366],
  ])('reject %s: %i', async (field, value) => {
    await expect(anApplication(idp, { [field]: value })).rejects.toMatchObject({
      faults: [{ path: expect.arrayContaining([field]) }],
    });
  });
});
