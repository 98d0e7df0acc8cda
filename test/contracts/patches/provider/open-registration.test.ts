import { afterAll, describe, expect, it } from 'vitest';
import type { Configuration } from '../../../../src/protocols/oidc/engine/library.ts';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import {
  acceptOpenRegistration,
  createOpenRegistration,
  registrationPolicies,
} from '../../../../src/protocols/oidc/registration.ts';
import { httpClient } from '../../../support/http.ts';
import { appUri, type Engine, startBareEngine } from '../../bare-engine.ts';

let isOpen = true;
const configuration: Configuration = {
  features: { registration: { enabled: true, initialAccessToken: true, policies: registrationPolicies } },
};
const admit = createOpenRegistration({
  settings: { latest: () => ({ agents: isOpen ? 'allowed' : 'off', agent_hosts: [] }) },
  rateLimits: { consume: async () => ({ allowed: true, retryAfterSeconds: 0 }) },
  db: {
    asStored: { resource: { findMany: async () => [{ clients: 'self-registered' }] } },
    application: { count: async () => 0 },
  },
} as never);
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({
  configuration,
  patch: acceptOpenRegistration,
  async around(ctx, next) {
    ctx.state.request = { address: '127.0.0.1' } as never;
    await admit(ctx);
    await next();
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

const register = ({ origin }: Engine, headers: Record<string, string> = {}) =>
  httpClient().post(`${origin}${routes.registration}`, {
    json: { redirect_uris: [appUri], grant_types: ['authorization_code', 'client_credentials'], scope: 'openid' },
    headers,
  });

describe('open-registration', () => {
  it('is needed: the engine reads once whether registration needs a token', async () => {
    expect((await register(bare)).status).toBe(401);
  });

  it('registers a client without a token while that is open, for people alone', async () => {
    const page = await register(patched);
    expect([page.status, page.json()]).toEqual([201, expect.objectContaining({ grant_types: ['authorization_code'] })]);
    expect((await register(patched, { authorization: 'Bearer unknown' })).status).toBe(401);
    isOpen = false;
    expect((await register(patched)).status).toBe(401);
  });
});
