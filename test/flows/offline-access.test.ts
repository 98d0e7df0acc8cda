// Refresh tokens of applications with offline_access: what ends them, at every instance, and where their users see and revoke them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type Application, anApplication, postAs, signIn } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';
import { sharedIdp } from '../support/shared-idp.ts';

let idp: TestIdp;
let other: TestIdp;
let app: Application;

beforeAll(async () => {
  idp = await sharedIdp();
  other = await startIdp({ environment: { DATABASE_URL: idp.environment.DATABASE_URL ?? '' } });
  app = await anApplication(idp, { consent: 'implicit', client_name: 'Calendar sync' });
});
afterAll(() => other?.stop());

/** The refresh token of the application, which this browser of the user has connected. */
async function connect(user: TestUser, browser = httpClient(idp.issuer), application = app): Promise<string> {
  const { tokens } = await signIn(browser, application, user, { scope: 'openid profile offline_access' });
  return tokens.refresh_token ?? '';
}

/** Whether the token still works at the other instance. */
async function works(token: string, application = app): Promise<boolean> {
  const form = { grant_type: 'refresh_token', refresh_token: token };
  const answer = await postAs(other, application, '/token', form);
  if (answer.status !== 200) expect(answer.json()).toMatchObject({ error: 'invalid_grant' });
  return answer.status === 200;
}

/** A user with a token of this browser, of another one, and of a session that was signed out. */
async function aUserWithTokens(): Promise<{ user: TestUser; browser: HttpClient; tokens: string[] }> {
  const user = await aUser(idp.services);
  const gone = await connect(user);
  const [session] = await idp.services.sessions.list(user.account.id);
  await idp.services.endSession.one(session?.uid ?? '', 'signed-out');
  const browser = await signedIn(idp, user);
  return { user, browser, tokens: [gone, await connect(user), await connect(user, browser)] };
}
const working = async (tokens: string[]) =>
  (await Promise.all(tokens.map((token) => works(token)))).filter(Boolean).length;

describe('a refresh token with offline_access', () => {
  it('survives a logout of the browser that it came from', async () => {
    const { user, tokens } = await aUserWithTokens();
    for (const { uid } of await idp.services.sessions.list(user.account.id)) {
      await idp.services.endSession.one(uid, 'signed-out');
    }
    expect(await working(tokens)).toBe(3);
  });

  it('ends when its user signs out everywhere else, also that of this browser, which stays signed in', async () => {
    const { browser, tokens } = await aUserWithTokens();
    await browser.submit(await browser.get('/account/sessions'), {}, { form: 'end-others' });
    expect(await working(tokens)).toBe(0);
    expect((await browser.get('/account')).status).toBe(200);
  });

  it('ends when its user signs out everywhere', async () => {
    const { browser, tokens } = await aUserWithTokens();
    await browser.submit(await browser.get('/account/sessions'), {}, { form: 'end-all' });
    expect(await working(tokens)).toBe(0);
  });

  it('ends with a changed password, when its user signs out everywhere else by it', async () => {
    const { browser, tokens } = await aUserWithTokens();
    const password = 'another long pass phrase, fine';
    await browser.submit(await browser.get('/account/password'), { password });
    expect(await working(tokens)).toBe(0);
    expect((await browser.get('/account')).status).toBe(200);
  });

  it('ends when its user ends the session in another browser that it came from', async () => {
    const user = await aUser(idp.services);
    const token = await connect(user);
    const browser = await signedIn(idp, user);
    const own = await connect(user, browser);
    await browser.submit(await browser.get('/account/sessions'), {}, { form: '/account/sessions/end' });
    expect({ ended: await works(token), other: await works(own) }).toEqual({ ended: false, other: true });
  });

  it('ends when an administrator ends its session, or signs its user or the users of its application out', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const { sessions, endSession } = idp.services;
    const first = await aUserWithTokens();
    const [newest] = await sessions.list(first.user.account.id);
    const session = newest?.uid ?? '';
    await admin.submit(await admin.get(`/admin/sessions/${session}/end`));
    expect(await working(first.tokens)).toBe(2);
    await endSession.all(first.user.account.id, 'ended-by-admin');
    expect(await working(first.tokens)).toBe(0);
    const second = await aUserWithTokens();
    await endSession.ofApplication(app.clientId, 'ended-by-admin');
    expect(await working(second.tokens)).toBe(0);
  });
});

describe('an application with implicit consent', () => {
  it('is listed among the applications of its users, who can revoke its access', async () => {
    const user = await aUser(idp.services);
    const browser = await signedIn(idp, user);
    const token = await connect(user, browser);
    const page = await browser.get('/account/applications');
    expect(page.text).toContain('Calendar sync');
    expect(page.text).toContain('Allowed by your organization');
    expect(page.text).toContain('Keep access while you’re away');
    expect(page.text).not.toContain('>Gatehouse</strong>');
    await browser.submit(page, {}, { form: 'revoke' });
    expect(await works(token)).toBe(false);
    expect((await browser.get('/account/applications')).text).not.toContain('Calendar sync');
    const [event] = await idp.services.audit.list({ subjectId: user.account.id, types: ['token.revoked'] });
    expect(event).toMatchObject({ clientId: app.clientId, reason: 'ended-by-person' });
  });

  it('cannot be revoked by another user', async () => {
    const user = await aUser(idp.services);
    const token = await connect(user);
    const otherUser = await signedIn(idp, await aUser(idp.services));
    await connect(await aUser(idp.services), httpClient(idp.issuer));
    const page = await otherUser.get('/account/sessions');
    const { id } = await idp.services.applications.find(app.clientId).then((found) => found ?? expect.fail());
    await otherUser.submit({
      ...page,
      forms: page.forms.map((form) => ({
        ...form,
        action: `${idp.issuer}/account/applications/revoke`,
        fields: { ...form.fields, application: id },
      })),
    });
    expect(await works(token)).toBe(true);
  });
});
