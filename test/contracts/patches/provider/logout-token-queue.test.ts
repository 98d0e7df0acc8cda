import { decodeJwt } from 'jose';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Configuration } from '../../../../src/protocols/oidc/engine/library.ts';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import {
  createLogoutTokenSender,
  queueLogoutTokens,
  type SendLogoutToken,
} from '../../../../src/protocols/oidc/patches/provider/logout-token-queue.ts';
import { appUri, type Engine, showForm, signIn, startBareEngine } from '../../bare-engine.ts';

const sent: string[] = [];
const queued: string[] = [];
let sendLogoutToken: SendLogoutToken | undefined;

const configuration: Configuration = {
  clients: [
    {
      client_id: 'app',
      client_secret: 'secret',
      redirect_uris: [appUri],
      backchannel_logout_uri: 'https://app.example.com/logout',
    },
  ],
  features: {
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: { enabled: true, logoutSource: showForm },
  },
  async fetch(_url: unknown, init: { body?: unknown } = {}) {
    sent.push(new URLSearchParams(String(init.body)).get('logout_token') ?? '');
    return new Response(null, { status: 204 });
  },
} as Configuration;
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({
  configuration,
  patch(provider) {
    sendLogoutToken = createLogoutTokenSender(provider, () => {});
    queueLogoutTokens(provider, async (clientId, accountId) => void queued.push(`${clientId} ${accountId}`));
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));
beforeEach(() => {
  sent.splice(0);
  queued.splice(0);
});

async function logOut(engine: Engine, fields: Record<string, string>) {
  const { browser } = await signIn(engine);
  const page = await browser.get(`${engine.origin}${routes.end_session}?client_id=app`);
  await browser.submit(page, fields);
}

describe('logout-token-queue', () => {
  it('is needed: the engine sends logout tokens during the request', async () => {
    await logOut(bare, { logout: 'yes' });
    expect(sent.map((token) => decodeJwt(token).sub)).toEqual(['alice']);
  });

  it('queues the token of the one client that a user logs out of', async () => {
    await logOut(patched, {});
    expect({ sent, queued }).toEqual({ sent: [], queued: ['app alice'] });
  });

  it('queues nothing when the session ends, which queues tokens for all clients', async () => {
    await logOut(patched, { logout: 'yes' });
    expect({ sent, queued }).toEqual({ sent: [], queued: [] });
  });

  it("sends one token in the engine's own way", async () => {
    expect(await sendLogoutToken?.('app', 'alice', 'sid')).toBe('sent');
    expect(await sendLogoutToken?.('unknown', 'alice', 'sid')).toBe('switched_off');
    expect(sent.map((token) => decodeJwt(token).sub)).toEqual(['alice']);
  });
});
