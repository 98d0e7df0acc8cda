// Access rules of applications: a page for the user, access_denied for the application, and the end of its tokens.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../../admin/console/support.ts';
import { aLiveSp, redirect } from '../../saml/live.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  completeSignIn,
  outcome,
  postAs,
  redirectUri,
  signIn,
} from '../support.ts';

let idp: TestIdp;
let editor: TestUser;
let guest: TestUser;
let app: Application;

beforeAll(async () => {
  idp = await startIdp();
  editor = await aUser(idp.services);
  guest = await aUser(idp.services);
  await idp.services.roles.create({ name: 'editor' });
  await idp.services.roles.assign(editor.account.id, 'editor');
  app = await anApplication(idp, { client_name: 'Newsroom', access: { roles: ['editor'] } });
});
afterAll(() => idp?.stop());

const isThere = (url: string) => url.startsWith(redirectUri);

async function openRejected(): Promise<{ browser: HttpClient; page: Awaited<ReturnType<typeof completeSignIn>> }> {
  const browser = httpClient(idp.issuer);
  const page = await completeSignIn(browser, authorizeUrl(idp, app.clientId), { user: guest });
  return { browser, page };
}

describe('an application with an access rule', () => {
  it('opens for a user with the role', async () => {
    expect((await signIn(httpClient(idp.issuer), app, editor)).tokens.access_token).toBeTruthy();
  });

  it('shows other users a page that returns to the application with access_denied', async () => {
    const { browser, page } = await openRejected();
    expect(page.status).toBe(403);
    expect(page.text).toContain('You don’t have access to Newsroom');
    expect(page.text).toContain(guest.username);
    expect(page.text).toContain(String(page.headers['x-request-id']));
    const back = await browser.follow(await browser.submit(page, {}, { button: 'Go back to Newsroom' }), isThere);
    expect(Object.fromEntries(new URL(back.location ?? '').searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'the-state',
    });
  });

  it('records one denial once, with its cause, also after the way back, and a canceled sign-in not at all', async () => {
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const address = authorizeUrl(idp, app.clientId);
    const canceled = httpClient(idp.issuer);
    const form = await canceled.follow(await canceled.get(address));
    const away = await canceled.submit(form, {}, { button: 'Cancel and go back to Newsroom' });
    expect((await canceled.follow(away, isThere)).location).toContain('error=access_denied');
    const page = await completeSignIn(browser, address, { user });
    const back = await browser.follow(await browser.submit(page, {}, { button: 'Go back to Newsroom' }), isThere);
    expect(back.location).toContain('error=access_denied');
    const { rejections } = await idp.services.rejections.list({ subjectId: user.account.id, limit: 5 });
    expect(rejections.map(({ endpoint }) => endpoint)).toEqual(['access']);
    const entries = await idp.services.audit.list({ types: ['authorization.rejected'], subjectId: user.account.id });
    expect(entries).toHaveLength(1);
    const all = await idp.services.rejections.list({ clientId: app.clientId, limit: 50 });
    expect(all.rejections.map(({ endpoint }) => endpoint)).not.toContain('authorize');
  });

  it('records the way back as another rejected request when the session has ended meanwhile', async () => {
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    await signIn(browser, await anApplication(idp), user);
    const page = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)), isThere);
    const away = await browser.submit(page, {}, { button: 'Go back to Newsroom' });
    const session = browser.cookies.get('gatehouse_session') ?? expect.fail('no session');
    browser.cookies.set({ ...session, expiresAt: 0 });
    const error = await browser.follow(away, isThere);
    expect(error.status).toBe(400);
    const { rejections } = await idp.services.rejections.list({ requestId: String(error.headers['x-request-id']) });
    expect(rejections).toMatchObject([{ endpoint: 'authorize', reason: 'invalid_request' }]);
  });

  it('lets a user continue with another account, and ends the first session', async () => {
    const { browser, page } = await openRejected();
    const form = await browser.follow(await browser.submit(page, {}, { button: 'Use another account' }));
    expect(form.forms[0]?.fields.username).toBe('');
    const answered = await browser.submit(form, { username: editor.username, password: editor.password });
    const back = await completeSignIn(browser, answered, { user: editor });
    const code = new URL(back.location ?? '').searchParams.get('code');
    expect(code).toBeTruthy();
    const open = await anApplication(idp);
    const { tokens } = await signIn(browser, open, editor, { prompt: 'none' });
    expect(tokens.claims()?.sub).toBe(editor.account.id);
  });

  it('counts a rejected user as rejected, not as a sign-in, in the numbers and the activity of the application and of the user', async () => {
    const closed = await anApplication(idp, { client_name: 'Ledger', access: { roles: ['editor'] } });
    const user = await aUser(idp.services, { username: 'lee' });
    const page = await completeSignIn(httpClient(idp.issuer), authorizeUrl(idp, closed.clientId), { user });
    expect(page.status).toBe(403);
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const overview = textOf((await admin.get(`/admin/applications/${closed.applicationId}`)).text);
    expect(overview).toContain('0 sign-ins, 1 rejected in the last 30 days.');
    expect(overview).not.toContain('signed in to Ledger');
    const rejected = /\(lee\) ’s sign-in to Ledger was rejected: access was denied/;
    const activity = `/admin/users/${user.account.id}/activity`;
    for (const path of [`/admin/applications/${closed.applicationId}/activity`, activity])
      expect(textOf((await admin.get(path)).text)).toMatch(rejected);
    expect(textOf((await admin.get(activity)).text)).not.toContain('signed in to Ledger');
    const types = ['sign-in.completed'] as const;
    expect(await idp.services.audit.list({ types: [...types], subjectId: user.account.id })).toMatchObject([
      { outcome: 'success', clientId: null },
    ]);
  });

  it('answers prompt=none with access_denied', async () => {
    const browser = httpClient(idp.issuer);
    await signIn(browser, await anApplication(idp), guest);
    expect((await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }))).get('error')).toBe(
      'access_denied',
    );
  });

  it('does not open through the form of another step', async () => {
    const { browser, page } = await openRejected();
    const uid = new URL(page.url).pathname.split('/')[2];
    const csrf = page.forms[0]?.fields._csrf ?? '';
    for (const [path, form] of [
      ['consent', { decision: 'allow' }],
      ['account', { decision: 'continue' }],
      ['password', { username: guest.username, password: guest.password }],
    ] as [string, Record<string, string>][]) {
      const answer = await browser.post(`/signin/${uid}/${path}`, { form: { ...form, _csrf: csrf } });
      expect([path, answer.location ?? answer.status]).not.toEqual([path, expect.stringContaining('/authorize/')]);
    }
    expect((await browser.follow(await browser.get(`/authorize/${uid}`), isThere)).location ?? '').not.toContain(
      'code=',
    );
  });

  it('loses the tokens of a user who loses the role', async () => {
    const leaver = await aUser(idp.services);
    await idp.services.roles.assign(leaver.account.id, 'editor');
    const { tokens } = await signIn(httpClient(idp.issuer), app, leaver, { scope: 'openid offline_access' });
    await idp.services.db.userRole.deleteMany({ where: { userId: leaver.account.id } });
    await expect(app.rp.userinfo(tokens)).rejects.toThrow();
    expect((await app.rp.introspect(tokens.access_token)).active).toBe(false);
    const refresh = await postAs(idp, app, '/token', {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token ?? '',
    });
    expect([refresh.status, refresh.json().error]).toEqual([400, 'invalid_grant']);
  });

  describe('that requires a second factor, while own fields are asked for', () => {
    let strict: Application;
    beforeAll(async () => {
      const properties = {
        desk: { type: 'string', title: 'Desk', ask: true, visible_to: ['person'], editable_by: ['person'] },
      };
      await idp.services.settings.set('user_attributes', { type: 'object', properties });
      strict = await anApplication(idp, { client_name: 'Vault', access: { roles: ['editor'] }, mfa: 'required' });
    });
    afterAll(() => idp.services.settings.set('user_attributes', {}));

    it('denies before a factor is set up and a profile filled in, without a session', async () => {
      const user = await aUser(idp.services);
      const browser = httpClient(idp.issuer);
      const page = await completeSignIn(browser, authorizeUrl(idp, strict.clientId), { user });
      expect([page.status, textOf(page.text)]).toEqual([
        403,
        expect.stringContaining('You don’t have access to Vault'),
      ]);
      const { rejections } = await idp.services.rejections.list({ subjectId: user.account.id, limit: 5 });
      expect(rejections).toMatchObject([
        { endpoint: 'access', reason: 'access_denied', received: { user: user.username } },
      ]);
      const other = await browser.follow(
        await browser.get(authorizeUrl(idp, (await anApplication(idp)).clientId)),
        isThere,
      );
      expect(textOf(other.text)).toContain('Password');

      const again = await completeSignIn(httpClient(idp.issuer), authorizeUrl(idp, strict.clientId), { user });
      const uid = new URL(again.url).pathname.split('/')[2];
      expect(again.forms[0]?.action).toContain(`/signin/${uid}/account`);
    });

    it('returns to the application, or goes on with another account', async () => {
      const user = await aUser(idp.services);
      const browser = httpClient(idp.issuer);
      const page = await completeSignIn(browser, authorizeUrl(idp, strict.clientId), { user });
      const form = await browser.follow(await browser.submit(page, {}, { button: 'Use another account' }));
      const second = await browser.submit(form, { username: editor.username, password: editor.password });
      expect(textOf((await browser.follow(second)).text)).toContain('Set up two-step verification');
      const left = httpClient(idp.issuer);
      const denied = await completeSignIn(left, authorizeUrl(idp, strict.clientId), { user });
      const back = await left.follow(await left.submit(denied, {}, { button: 'Go back to Vault' }), isThere);
      expect(new URL(back.location ?? '').searchParams.get('error')).toBe('access_denied');
    });

    it('denies at once in a session that has no second factor', async () => {
      const browser = httpClient(idp.issuer);
      await idp.services.settings.set('user_attributes', {});
      await signIn(browser, await anApplication(idp), guest);
      const page = await browser.follow(await browser.get(authorizeUrl(idp, strict.clientId)), isThere);
      expect(textOf(page.text)).toContain('You don’t have access to Vault');
    });

    it('says nothing to one who has only the password of an account with a second factor', async () => {
      const user = await aUser(idp.services);
      await idp.services.mfa.totp.importSecret(user.account.id, 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP');
      const page = await completeSignIn(httpClient(idp.issuer), authorizeUrl(idp, strict.clientId), { user });
      expect(page.text).toContain('one-time-code');
      expect(page.text).not.toContain('You don’t have access');
    });

    it('says nothing to one who has only a password where an administrator allows the first factor', async () => {
      await idp.services.settings.set('first_factor', 'approval');
      const user = await aUser(idp.services);
      const page = await completeSignIn(httpClient(idp.issuer), authorizeUrl(idp, strict.clientId), { user });
      expect(textOf(page.text)).toContain('must allow you to set up two-step verification');
      await idp.services.settings.set('first_factor', 'open');
    });
  });
});

it('an application that rejected the person, or waits for a step, is none of those that the person is signed in to', async () => {
  const user = await aUser(idp.services);
  const browser = httpClient(idp.issuer);
  await completeSignIn(browser, authorizeUrl(idp, app.clientId), { user });
  const { uid = '' } = (await idp.services.sessions.list(user.account.id))[0] ?? {};
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const names = ['Newsroom', 'Wide open', 'Two steps', 'Live SP'];
  const listed = async () => {
    const page = textOf((await admin.get(`/admin/sessions?user=${user.username}`)).text);
    return names.filter((name) => page.includes(name));
  };
  expect(uid).not.toBe('');
  expect(await listed()).toEqual([]);

  const open = await anApplication(idp, { client_name: 'Wide open' });
  expect((await completeSignIn(browser, authorizeUrl(idp, open.clientId), { user })).location).toContain('code=');
  const strict = await anApplication(idp, { client_name: 'Two steps', mfa: 'required' });
  expect((await completeSignIn(browser, authorizeUrl(idp, strict.clientId), { user })).location).toBeUndefined();
  expect(await listed()).toEqual(['Wide open']);
  for (const path of ['/account/sessions', '/end-session']) {
    const page = textOf((await browser.follow(await browser.get(path))).text);
    expect(
      names.filter((name) => page.includes(name)),
      path,
    ).toEqual(['Wide open']);
  }
  // Nor is it told of the end of the session, or named as one that could not be.
  const leaving = httpClient(idp.issuer);
  for (const clientId of [app.clientId, strict.clientId])
    await completeSignIn(leaving, authorizeUrl(idp, clientId), { user });
  const { uid: sessionUid } = (await idp.services.sessions.list(user.account.id)).find((one) => one.uid !== uid) ?? {};
  expect((await idp.services.sessions.find(sessionUid ?? ''))?.participants.map(({ clientId }) => clientId)).toContain(
    app.clientId,
  );
  const left = await leaving.follow(await leaving.submit(await leaving.get('/end-session'), { logout: 'yes' }));
  expect(textOf(left.text)).toContain('signed out');
  expect(names.filter((name) => left.text.includes(name))).toEqual([]);
  expect(await idp.services.sessions.find(sessionUid ?? '')).toBeUndefined();

  await idp.services.roles.assign(user.account.id, 'editor');
  expect((await completeSignIn(browser, authorizeUrl(idp, app.clientId), { user })).location).toContain('code=');
  const sp = await aLiveSp(idp, { name: 'Live SP' });
  expect((await browser.follow(await redirect(browser, sp.request()))).text).toContain('SAMLResponse');
  expect(await listed()).toEqual(['Newsroom', 'Wide open', 'Live SP']);
});
