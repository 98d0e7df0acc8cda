import { afterAll, describe, expect, it } from 'vitest';
import type { Configuration } from '../../../../src/protocols/oidc/engine/library.ts';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { introspectJwts } from '../../../../src/protocols/oidc/patches/provider/jwt-introspection.ts';
import { httpClient } from '../../../support/http.ts';
import { aKey, type Engine, startBareEngine } from '../../bare-engine.ts';

const api = 'https://api.example.com';
const key = await aKey('RS256');
const configuration: Configuration = {
  jwks: { keys: [key] } as never,
  clients: [
    {
      client_id: 'app',
      client_secret: 'secret',
      redirect_uris: [],
      grant_types: ['client_credentials'],
      response_types: [],
    },
  ],
  features: {
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => ({ scope: '', audience: api, accessTokenFormat: 'jwt' }),
    },
  },
};
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({ configuration });
introspectJwts(patched.provider, {
  clients: { applicationOf: async () => ({ metadata: { resources: [api] } }) } as never,
  jwks: () => ({ keys: [key] }),
  mayHoldTokenFor: async (identifier) => identifier === api,
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

async function introspected({ origin }: Engine) {
  const headers = { authorization: `Basic ${btoa('app:secret')}` };
  const form = { grant_type: 'client_credentials', resource: api };
  const { access_token: token } = (await httpClient().post(`${origin}${routes.token}`, { headers, form })).json();
  const page = await httpClient().post(`${origin}${routes.introspection}`, { headers, form: { token: String(token) } });
  return { status: page.status, ...page.json() };
}

describe('jwt-introspection', () => {
  it('is needed: the engine rejects each JWT', async () => {
    expect(await introspected(bare)).toMatchObject({ status: 400, error: 'unsupported_token_type' });
  });

  it('finds an access token in the JWT itself', async () => {
    expect(await introspected(patched)).toMatchObject({ status: 200, active: true, aud: api, client_id: 'app' });
  });
});
