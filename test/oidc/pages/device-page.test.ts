// The page where the user enters the code of a device: its messages, whose forms it accepts, and guessed codes.
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Application, anApplication, completeSignIn, postAs } from '../support.ts';

const grant = 'urn:ietf:params:oauth:grant-type:device_code' as const;
let idp: TestIdp;
let user: TestUser;
let tv: Application;

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
  tv = await anApplication(idp, { redirect_uris: [], grant_types: [grant], token_endpoint_auth_method: 'none' });
});
afterAll(() => idp?.stop());

const begin = () => oidc.initiateDeviceAuthorization(tv.rp.config, { scope: 'openid' });
const poll = (device: oidc.DeviceAuthorizationResponse) =>
  postAs(idp, tv, '/token', { grant_type: grant, device_code: device.device_code, client_id: tv.clientId });
const addClientToSession = async (browser: HttpClient, code: string) =>
  browser.submit(await browser.get('/device'), { user_code: code });

describe('the device page', () => {
  it('says why a code is rejected, and that it was used', async () => {
    const browser = httpClient(idp.issuer);
    for (const code of ['BCDF-GHJK', '', '<b>', '\0', 'ü'.repeat(32), 'A'.repeat(3000)]) {
      const page = await addClientToSession(browser, code);
      expect(page.status, code).toBe(400);
      expect(page.text, code).toContain('aria-invalid');
      expect(page.text, code).not.toContain('<b>');
    }
    const device = await begin();
    await completeSignIn(browser, await browser.submit(await addClientToSession(browser, device.user_code)), { user });
    expect((await addClientToSession(browser, device.user_code)).text).toContain('already used');
  });

  it('accepts only its own form in its own browser', async () => {
    const device = await begin();
    const browser = httpClient(idp.issuer);
    const xsrf = (await browser.get('/device')).forms[0]?.fields.xsrf ?? '';
    const otherBrowser = httpClient(idp.issuer);
    await otherBrowser.get('/device');
    for (const form of [{}, { xsrf }, { xsrf: 'guess' }] as Record<string, string>[]) {
      const answer = await otherBrowser.post('/device', {
        form: { ...form, user_code: device.user_code, confirm: 'yes' },
      });
      expect(answer.status).toBe(400);
    }
    expect((await poll(device)).json().error).toBe('authorization_pending');
    expect((await otherBrowser.get('/device/anything')).status).toBe(400);
    const blank = httpClient(idp.issuer);
    for (const form of [{}, { xsrf }, { user_code: device.user_code, confirm: 'yes' }] as Record<string, string>[]) {
      expect((await blank.post('/device', { form })).status).toBe(400);
    }
    blank.cookies.set({ name: 'gatehouse_session', value: 'x', host: 'localhost', path: '/', attributes: new Map() });
    expect((await blank.post('/device', { form: { user_code: 'x' } })).status).toBe(400);
    expect((await blank.get('/device/anything')).status).toBe(400);
  });

  it('limits how many wrong codes one address may enter', async () => {
    const guesser = httpClient(idp.issuer);
    let last = await guesser.get('/device');
    for (let guess = 0; guess < 25 && last.status !== 429; guess += 1) {
      last = await guesser.submit(last, { user_code: 'ZZZZ-ZZZZ' });
    }
    expect(last.status).toBe(429);
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
    expect(last.text).toContain('Too many attempts');
  });
});
