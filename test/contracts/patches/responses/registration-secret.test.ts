import { afterAll, describe, expect, it } from 'vitest';
import { engineRoute, routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { removeSecretPlaceholder } from '../../../../src/protocols/oidc/patches/http.ts';
import { httpClient } from '../../../support/http.ts';
import { appUri, type Engine, startBareEngine } from '../../bare-engine.ts';

const configuration = { features: { registration: { enabled: true } } };
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({
  configuration,
  async around(ctx, next) {
    await next();
    removeSecretPlaceholder(ctx, engineRoute(ctx.path) ?? '');
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

async function register({ origin }: Engine) {
  const json = { redirect_uris: [appUri] };
  const created = (await httpClient().post(`${origin}${routes.registration}`, { json })).json();
  const headers = { authorization: `Bearer ${created.registration_access_token}` };
  const read = (await httpClient().get(String(created.registration_client_uri), { headers })).json();
  expect(read.client_id).toBe(created.client_id);
  return { created: Object.keys(created), read: Object.keys(read) };
}

describe('the engine', () => {
  it('returns the stored secret at each read of a registration without the patch', async () => {
    expect((await register(bare)).read).toContain('client_secret');
  });

  it('returns the secret once with the patch, when the client is registered', async () => {
    const { created, read } = await register(patched);
    expect(created).toContain('client_secret');
    expect(read).not.toContain('client_secret');
  });
});
