// Access rules of applications: a page for the user, access_denied for the application, and the end of its tokens.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../../admin/console/support.ts';
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
    const rejected = /lee ’s sign-in to Ledger was rejected: access was denied/;
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
});
