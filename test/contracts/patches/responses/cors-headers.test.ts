import { afterAll, describe, expect, it } from 'vitest';
import type { Configuration } from '../../../../src/protocols/oidc/engine/library.ts';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { limitCors } from '../../../../src/protocols/oidc/patches/http.ts';
import { httpClient } from '../../../support/http.ts';
import { type Engine, startBareEngine } from '../../bare-engine.ts';

const registered = 'https://app.example.com';
const client = { redirect_uris: ['https://spa.example.com/cb'], token_endpoint_auth_method: 'none' } as const;
const configuration: Configuration = {
  clientBasedCORS: () => true,
  clients: [{ ...client, client_id: 'spa' }],
  features: { introspection: { enabled: true } },
};
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({
  configuration,
  async around(ctx, next) {
    await next();
    await limitCors(ctx, {
      isRegisteredOrigin: async (origin: string) => origin === registered,
      applicationOf: async () => ({ metadata: { allowed_cors_origins: ['capacitor://localhost'] } }),
    } as never);
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

async function allowed(engine: Engine, path: string, origin: string, clientId?: string) {
  const headers = { origin };
  const form = { client_id: clientId ?? 'unknown', grant_type: 'authorization_code' };
  const options = { headers, form };
  const url = `${engine.origin}${path}`;
  const response =
    path === routes.jwks ? await httpClient().get(url, { headers }) : await httpClient().post(url, options);
  return response.headers['access-control-allow-origin'];
}

describe('cors-headers', () => {
  it('is needed: the engine names every origin in its documents, and in its answers to unknown clients', async () => {
    const origin = 'https://evil.example.com';
    expect(await allowed(bare, routes.jwks, origin)).toBe(origin);
    expect(await allowed(bare, routes.token, origin)).toBe(origin);
  });

  it('allows an endpoint to registered origins only, as long as no client is known', async () => {
    expect(await allowed(patched, routes.token, registered)).toBe(registered);
    expect(await allowed(patched, routes.token, 'https://evil.example.com')).toBeUndefined();
  });

  it('allows its documents to every origin by `*`', async () => {
    expect(await allowed(patched, routes.jwks, registered)).toBe('*');
    expect(await allowed(patched, routes.jwks, 'https://evil.example.com')).toBe('*');
  });

  it('allows a known client its own origins', async () => {
    for (const origin of ['https://spa.example.com', 'capacitor://localhost'])
      expect(await allowed(patched, routes.token, origin, 'spa')).toBe(origin);
    expect(await allowed(patched, routes.token, 'https://evil.example.com', 'spa')).toBeUndefined();
  });

  it('allows no origin at an endpoint for servers', async () => {
    expect(await allowed(patched, routes.introspection, registered)).toBeUndefined();
  });
});
