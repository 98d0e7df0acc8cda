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
    const first = await listening({ backchannel_logout_session_required: true });
    const down = await listening({ subject_type: 'pairwise', backchannel_logout_session_required: true });
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
      .poll(() => idp.services.db.logoutDelivery.findFirst({ where: { clientId: down.app.clientId } }))
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
    await signIn(browser, askingApp.app, user);
    await signIn(browser, other.app, user);
    const page = await browser.get(`/end-session?client_id=${askingApp.app.clientId}`);
    await browser.submit(page, {}, { button: 'Stay signed in' });
    const [token] = await askingApp.web.waitForLogoutTokens(1);
    expect((await verified(token, askingApp.app)).sid).toBeUndefined();
    expect(other.web.logoutTokens).toEqual([]);
  });

  it('gives up after many attempts, and records that in the audit log', async () => {
    const { web, app } = await listening();
    const browser = httpClient(idp.issuer);
    await signIn(browser, app, user);
    web.answerLogoutWith(500);
    await browser.submit(await browser.get('/end-session'), {}, { button: 'Sign out' });
    const where = { clientId: app.clientId };
    await expect.poll(() => idp.services.db.logoutDelivery.findFirst({ where })).toMatchObject({ tries: 1 });
    // As if eleven tries had failed: the pauses before them add up to hours.
    await idp.services.db.logoutDelivery.updateMany({ where, data: { tries: 11 } });
    clock.advance({ hours: 2 });
    await expect
      .poll(() => idp.services.db.auditEvent.findFirst({ where: { type: 'logout.failed', ...where } }), {
        timeout: 15_000,
      })
      .toMatchObject({ outcome: 'failure', subjectId: user.account.id });
    expect(await idp.services.db.logoutDelivery.findFirst({ where })).toMatchObject({ failedAt: expect.any(Date) });
  });
});
