import { afterAll, describe, expect, it } from 'vitest';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { completeRequestedScope } from '../../../../src/protocols/oidc/patches.ts';
import { httpClient } from '../../../support/http.ts';
import { appUri, type Engine, startBareEngine } from '../../bare-engine.ts';

const registered = (metadata: object) => ({ clients: { cachedApplicationOf: () => ({ metadata }) } as never });
const configuration = { scopes: ['openid', 'email'] };
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({
  configuration,
  patch: (provider) => completeRequestedScope(provider, registered({ scope: 'openid email articles:read' })),
});
const unregistered = await startBareEngine({
  configuration,
  patch: (provider) => completeRequestedScope(provider, registered({})),
});
afterAll(() => Promise.all([bare.close(), patched.close(), unregistered.close()]));

/** The scope of the interaction that the request starts, or its error. */
async function scopeOf({ origin, provider }: Engine, more: Record<string, string>): Promise<unknown> {
  const parameters = { client_id: 'app', redirect_uri: appUri, response_type: 'code', ...more };
  const { location } = await httpClient().get(`${origin}${routes.authorization}?${new URLSearchParams(parameters)}`);
  const url = new URL(location ?? expect.fail('no redirect'));
  const error = url.searchParams.get('error_description');
  if (error) return error;
  const interaction = await provider.Interaction.find(url.pathname.split('/').pop() ?? '');
  return interaction?.params.scope;
}

describe('requested-scope', () => {
  it('is needed: the engine alone rejects white space, and starts a sign-in without any scope', async () => {
    expect(await scopeOf(bare, { scope: 'openid  email' })).toContain('invalid characters');
    expect(await scopeOf(bare, {})).toBeUndefined();
    expect(await scopeOf(bare, { nonce: 'n' })).toContain('openid scope must be requested');
  });

  it('makes the scope a set, and replaces none or unknown ones by the registered scope', async () => {
    expect(await scopeOf(patched, { scope: ' email  openid ' })).toBe('email openid');
    for (const scope of ['', ' ', 'unknown'])
      expect(await scopeOf(patched, { scope, nonce: 'n' })).toBe('openid email');
    expect(await scopeOf(patched, { nonce: 'n' })).toBe('openid email');
  });

  it('invents no scope where none is registered', async () => {
    expect(await scopeOf(unregistered, {})).toBeUndefined();
  });
});
