// Delivery of logout tokens (OpenID Connect Back-Channel Logout 1.0): to every application of the session, later to one that is
// unreachable, and with the subject that each application knows.
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RelyingPartyApp, relyingPartyApp } from '../../support/applications/rp-app.ts';
import { testClock } from '../../support/clock.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Application, anApplication, type ClientInput, signIn } from '../support.ts';

const clock = testClock();
let idp: TestIdp;
let user: TestUser;
const webs: RelyingPartyApp[] = [];

beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
  user = await aUser(idp.services);
});
afterAll(async () => {
  await idp?.stop();
  await Promise.all(webs.map((web) => web.close()));
});

async function listening(input: ClientInput = {}): Promise<{ web: RelyingPartyApp; app: Application }> {
  const web = await relyingPartyApp();
  webs.push(web);
  const app = await anApplication(idp, {
    redirect_uris: [web.redirectUri],
    post_logout_redirect_uris: [web.postLogoutRedirectUri],
    backchannel_logout_uri: web.backchannelLogoutUri,
    ...input,
  });
  return { web, app };
}

async function verified(token: string | undefined, { clientId }: Application): Promise<JWTPayload> {
  const keys = createRemoteJWKSet(new URL(`${idp.issuer}/jwks`));
  const { payload } = await jwtVerify(token ?? '', keys, { issuer: idp.issuer, audience: clientId, typ: 'logout+jwt' });
  expect(payload.events).toEqual({ 'http://schemas.openid.net/event/backchannel-logout': {} });
  expect(payload.nonce).toBeUndefined();
  expect(payload.jti).toBeTruthy();
  return payload;
}

describe('back-channel logout', () => {
  it('notifies every application, also one that fails at first, and the user does not wait for the calls', async () => {
    const first = await listening();
    const down = await listening({ subject_type: 'pairwise' });
    const browser = httpClient(idp.issuer);
    const one = (await signIn(browser, first.app, user)).tokens;
    const two = (await signIn(browser, down.app, user)).tokens;
    const respond = down.web.holdLogout();

    const page = await browser.get(`/end-session?id_token_hint=${one.id_token}`);
    // Responds although one application does not.
    await browser.submit(page);

    const [token] = await first.web.waitForLogoutTokens(1);
    expect(await verified(token, first.app)).toMatchObject({ sub: user.account.id, sid: one.claims()?.sid });
    expect(down.web.logoutTokens).toEqual([]);
    respond(503);
    await expect
      .poll(() => idp.services.db.asStored.logoutDelivery.findFirst({ where: { clientId: down.app.clientId } }))
      .toMatchObject({ tries: 1, doneAt: null, lastError: expect.any(String) });

    down.web.answerLogoutWith(204);
    clock.advance({ seconds: 15 });
    const [late] = await down.web.waitForLogoutTokens(1);
    const payload = await verified(late, down.app);
    expect(payload).toMatchObject({ sub: two.claims()?.sub, sid: two.claims()?.sid });
    expect(payload.sub).not.toBe(user.account.id);
    expect(first.web.logoutTokens).toHaveLength(1);
  });

  it('notifies only the application that requested the logout when the user stays signed in', async () => {
    const askingApp = await listening();
    const other = await listening();
    const browser = httpClient(idp.issuer);
    const { tokens } = await signIn(browser, askingApp.app, user);
    await signIn(browser, other.app, user);
    const page = await browser.get(`/end-session?client_id=${askingApp.app.clientId}`);
    await browser.submit(page, {}, { button: 'Stay signed in' });
    const [token] = await askingApp.web.waitForLogoutTokens(1);
    expect(await verified(token, askingApp.app)).toMatchObject({ sid: tokens.claims()?.sid });
    expect(other.web.logoutTokens).toEqual([]);
  });

  it('names the session unless the application is registered without', async () => {
    const without = await listening({ backchannel_logout_session_required: false });
    const browser = httpClient(idp.issuer);
    await signIn(browser, without.app, user);
    await browser.submit(await browser.get('/end-session'), {}, { button: 'Sign out' });
    const [token] = await without.web.waitForLogoutTokens(1);
    expect(await verified(token, without.app)).toMatchObject({ sub: user.account.id });
    expect(await verified(token, without.app)).not.toHaveProperty('sid');
  });

  it('shows in the activity of the application and in the log how it rejected, once for each delivery', async () => {
    const { web, app } = await listening();
    const browser = httpClient(idp.issuer);
    await signIn(browser, app, user);
    const body = JSON.stringify({ error: 'invalid_request', error_description: `no\nsid ${'x'.repeat(5000)}` });
    web.answerLogoutWith(400, body);
    const page = await browser.submit(await browser.get('/end-session'), {}, { button: 'Sign out' });
    const logged = () =>
      idp.log.filter((line) => /rejected a logout message/.test(line) && line.includes(app.clientId));
    await expect.poll(() => logged().length).toBe(1);
    const where = { clientId: app.clientId };
    await expect
      .poll(() => idp.services.db.asStored.logoutDelivery.findFirst({ where }))
      .toMatchObject({ lastError: expect.any(String) });
    const result = await browser.follow(page);
    expect(result.text).toContain('couldn’t sign you out. This server keeps trying');
    clock.advance({ seconds: 15 });
    await expect.poll(() => logged().length).toBe(2);
    expect(logged()[1]).toContain('invalid_request');

    const [event, ...others] = await idp.services.audit.list({ ...where, types: ['logout.rejected'] });
    expect(others).toEqual([]);
    const { status, answer } = event?.data ?? {};
    expect([event?.subjectId, status, String(answer).slice(0, 42)]).toEqual([user.account.id, 400, body.slice(0, 42)]);
    expect(String(answer)).toHaveLength(500);
  });

  it('gives up after many attempts, and records that in the audit log', async () => {
    const { web, app } = await listening();
    const browser = httpClient(idp.issuer);
    await signIn(browser, app, user);
    web.answerLogoutWith(500);
    await browser.submit(await browser.get('/end-session'), {}, { button: 'Sign out' });
    const where = { clientId: app.clientId };
    await expect.poll(() => idp.services.db.asStored.logoutDelivery.findFirst({ where })).toMatchObject({ tries: 1 });
    // As if eleven tries had failed: the pauses before them add up to hours.
    await idp.services.db.asStored.logoutDelivery.updateMany({ where, data: { tries: 11 } });
    clock.advance({ hours: 2 });
    await expect
      .poll(() => idp.services.db.auditEvent.findFirst({ where: { type: 'logout.failed', ...where } }), {
        timeout: 60_000,
      })
      .toMatchObject({ outcome: 'failure', subjectId: user.account.id });
    expect(await idp.services.db.asStored.logoutDelivery.findFirst({ where })).toMatchObject({
      failedAt: expect.any(Date),
    });
  });
});
