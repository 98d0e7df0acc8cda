// The device flow (RFC 8628): codes for the device, pages in a browser, and the answers to its polls.
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Application, anApplication, completeSignIn, postAs } from '../support.ts';

const grant = 'urn:ietf:params:oauth:grant-type:device_code' as const;
let idp: TestIdp;
let user: TestUser;
let tv: Application;

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
  tv = await anApplication(idp, {
    client_name: 'Living room TV',
    redirect_uris: [],
    grant_types: [grant, 'refresh_token'],
    token_endpoint_auth_method: 'none',
  });
});
afterAll(() => idp?.stop());

const begin = (scope = 'openid profile', app = tv) => oidc.initiateDeviceAuthorization(app.rp.config, { scope });
const poll = (device: oidc.DeviceAuthorizationResponse, app = tv) =>
  postAs(idp, app, '/token', { grant_type: grant, device_code: device.device_code, client_id: app.clientId });
const addClientToSession = async (browser: HttpClient, code: string) =>
  browser.submit(await browser.get('/device'), { user_code: code });

/** From the confirmation to the last page, signing in where required. */
async function confirm(browser: HttpClient, page: Page): Promise<Page> {
  return completeSignIn(browser, await browser.submit(page, {}, { button: 'Connect device' }), { user });
}

describe('a device', () => {
  it('receives codes, a verification URI and their lifetime', async () => {
    const device = await begin();
    expect(device.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(device.verification_uri).toBe(`${idp.issuer}/device`);
    expect(device.verification_uri_complete).toBe(`${idp.issuer}/device?user_code=${device.user_code}`);
    expect(device.expires_in).toBe(600);
  });

  it('receives its tokens once the user has entered the code, confirmed and signed in', async () => {
    const device = await begin();
    const pending = await poll(device);
    expect([pending.status, pending.json().error]).toEqual([400, 'authorization_pending']);
    expect((await poll(device)).json().error).toBe('slow_down');
    const browser = httpClient(idp.issuer);
    const page = await addClientToSession(browser, device.user_code.toLowerCase().replace('-', ' '));
    expect(page.text).toContain('Living room TV');
    expect(page.text).toContain(device.user_code);
    const done = await confirm(browser, page);
    expect(done.status).toBe(200);
    expect(done.text).toContain('Device connected');
    const answer = await oidc.pollDeviceAuthorizationGrant(tv.rp.config, { ...device, interval: 1 });
    expect(answer.claims()).toMatchObject({ sub: user.account.id, name: user.account.name });
    const again = await poll(device);
    expect([again.status, again.json().error]).toEqual([400, 'invalid_grant']);
  });

  it('that waits for its user causes no rejected requests', async () => {
    const device = await begin();
    const answers = [await poll(device), await poll(device)].map((answer) => answer.json());
    expect(answers.map(({ error }) => error)).toEqual(['authorization_pending', 'slow_down']);
    for (const { error_description } of answers) expect(error_description).not.toContain('error reference');
    const { rejections } = await idp.services.rejections.list({ clientId: tv.clientId });
    const audited = await idp.services.audit.list({ types: ['token.rejected'], clientId: tv.clientId });
    const reasons = [...rejections, ...audited].map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === 'authorization_pending' || reason === 'slow_down')).toEqual([]);
  });

  it('receives a refresh token with offline_access', async () => {
    const device = await begin('openid offline_access');
    const browser = httpClient(idp.issuer);
    await confirm(browser, await addClientToSession(browser, device.user_code));
    const { refresh_token: token } = (await poll(device)).json<{ refresh_token: string }>();
    expect((await tv.rp.refresh(token)).access_token).toBeTruthy();
  });

  it('is confirmed on a page even when the address holds the code', async () => {
    const device = await begin();
    const browser = httpClient(idp.issuer);
    const hop = await browser.get(device.verification_uri_complete ?? '');
    const page = await browser.submit(hop);
    expect(page.text).toContain('Connect this device to Living room TV?');
    expect((await poll(device)).json().error).toBe('authorization_pending');
  });

  it('receives access_denied when the user cancels at the confirmation or at the consent', async () => {
    const device = await begin();
    const browser = httpClient(idp.issuer);
    const stopped = await browser.submit(await addClientToSession(browser, device.user_code), {}, { button: 'Cancel' });
    expect(stopped.text).toContain('Device not connected');
    expect((await poll(device)).json().error).toBe('access_denied');

    const askingApp = await anApplication(idp, {
      redirect_uris: [],
      grant_types: [grant],
      token_endpoint_auth_method: 'none',
      consent: 'explicit',
    });
    const second = await begin('openid email', askingApp);
    const confirmed = await browser.submit(
      await addClientToSession(browser, second.user_code),
      {},
      { button: 'Connect device' },
    );
    const denied = await completeSignIn(browser, confirmed, { user, consent: 'Don’t allow' });
    expect(denied.text).toContain('Device not connected');
    expect((await poll(second, askingApp)).json().error).toBe('access_denied');
  });

  it('cannot use the code of another application, and one that has expired gives nothing', async () => {
    const device = await begin();
    const other = await anApplication(idp, {
      redirect_uris: [],
      grant_types: [grant],
      token_endpoint_auth_method: 'none',
    });
    expect((await poll(device, other)).json().error).toBe('invalid_grant');
    const { db } = idp.services;
    for (const row of await db.oidcArtifact.findMany({ where: { model: 'DeviceCode', clientId: tv.clientId } })) {
      const payload = JSON.stringify({ ...JSON.parse(row.payload), exp: 1 });
      await db.oidcArtifact.update({ where: { id: row.id }, data: { payload, mac: '' } });
    }
    await signRows(idp.services);
    expect((await poll(device)).json().error).toBe('expired_token');
    const page = await addClientToSession(httpClient(idp.issuer), device.user_code);
    expect(page.status).toBe(400);
    expect(page.text).toContain('This code has expired');
  });

  it('is rejected without the grant', async () => {
    const web = await anApplication(idp);
    expect((await postAs(idp, web, '/device/code', { scope: 'openid' })).status).toBe(400);
  });
});
