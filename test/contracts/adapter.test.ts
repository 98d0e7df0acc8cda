// What the adapter of this server rests on: the engine's documented adapter and `Provider.ctx`, and the moment at which the
// engine calls them.
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createDeviceCodeAdapter } from '../../src/protocols/oidc/engine/configuration.ts';
import type { Configuration } from '../../src/protocols/oidc/engine/library.ts';
import { routes } from '../../src/protocols/oidc/engine/routes.ts';
import {
  createSessionAdapter,
  type EndSessionRequest,
} from '../../src/protocols/oidc/store/sessions/session-adapter.ts';
import { httpClient } from '../support/http.ts';
import { appUri, basic, sharedStore, showForm, signIn, startBareEngine } from './bare-engine.ts';

const deviceCodeGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const ended: (EndSessionRequest & { uid: string })[] = [];
const store = sharedStore();
let isTooSoon = false;

const configuration: Configuration = {
  clients: [
    {
      client_id: 'app',
      client_secret: 'secret',
      redirect_uris: [appUri],
      post_logout_redirect_uris: ['https://app.example.com/bye'],
      grant_types: ['authorization_code', deviceCodeGrant],
    },
  ],
  features: { deviceFlow: { enabled: true }, rpInitiatedLogout: { enabled: true, logoutSource: showForm } },
  adapter(model: string) {
    if (model === 'DeviceCode') return createDeviceCodeAdapter(store(model), async () => isTooSoon);
    if (model !== 'Session') return store(model);
    return createSessionAdapter(store(model), async (uid, _ctx, request) => void ended.push({ uid, ...request }));
  },
};
const engine = await startBareEngine({ configuration });
afterAll(() => engine.close());
beforeEach(() => ended.splice(0));

describe('the adapter for sessions', () => {
  it('ends the session of a confirmed logout, with the client and the address that the engine has checked', async () => {
    const { browser } = await signIn(engine);
    const query = { client_id: 'app', post_logout_redirect_uri: 'https://app.example.com/bye', state: 'a b' };
    const page = await browser.get(`${engine.origin}${routes.end_session}?${new URLSearchParams(query)}`);
    const { location } = await browser.submit(page, { logout: 'yes' });
    const returnUri = 'https://app.example.com/bye?state=a+b';
    expect(ended).toEqual([{ uid: expect.any(String), clientId: 'app', actorId: 'alice', returnUri }]);
    expect(new URL(location ?? '').searchParams.get('state')).toBe('a b');
  });

  it('ends nothing when a user logs out of one client, or signs in again', async () => {
    const { browser } = await signIn(engine);
    await signIn(engine, { prompt: 'login' }, browser);
    const page = await browser.get(`${engine.origin}${routes.end_session}?client_id=app`);
    await browser.submit(page, {});
    expect(ended).toEqual([]);
  });
});

describe('the adapter for device codes', () => {
  it('makes the engine answer a poll that comes too soon with slow_down', async () => {
    const headers = basic('app');
    const started = await httpClient().post(`${engine.origin}${routes.device_authorization}`, { form: {}, headers });
    const form = { grant_type: deviceCodeGrant, device_code: String(started.json().device_code) };
    const poll = async () =>
      (await httpClient().post(`${engine.origin}${routes.token}`, { form, headers })).json().error;
    isTooSoon = false;
    expect(await poll()).toBe('authorization_pending');
    isTooSoon = true;
    expect(await poll()).toBe('slow_down');
  });
});
