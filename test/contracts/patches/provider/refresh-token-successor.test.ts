import { afterAll, describe, expect, it } from 'vitest';
import type { Configuration } from '../../../../src/protocols/oidc/engine/library.ts';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { deriveSuccessor } from '../../../../src/protocols/oidc/patches.ts';
import { httpClient } from '../../../support/http.ts';
import { appUri, basic, type Engine, redeem, signIn, startBareEngine } from '../../bare-engine.ts';

const configuration: Configuration = {
  clients: [
    {
      client_id: 'app',
      client_secret: 'secret',
      redirect_uris: [appUri],
      grant_types: ['authorization_code', 'refresh_token'],
    },
  ],
  rotateRefreshToken: true,
  issueRefreshToken: async () => true,
};
const successorOf = (token: string, grantId: string) => `after ${token} of ${grantId}`;
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({
  configuration,
  patch: (provider) => deriveSuccessor(provider, { successorOf } as never),
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

async function refresh({ origin }: Engine, token: string): Promise<string> {
  const form = { grant_type: 'refresh_token', refresh_token: token };
  const page = await httpClient().post(`${origin}${routes.token}`, { form, headers: basic('app') });
  return String(page.json().refresh_token);
}

async function firstAndSecond(engine: Engine) {
  const answer = await redeem(engine, (await signIn(engine)).code);
  const first = (answer as unknown as { refresh_token: string }).refresh_token;
  const grantId = (await engine.provider.RefreshToken.find(first))?.grantId ?? '';
  return { first, second: await refresh(engine, first), expected: successorOf(first, grantId) };
}

describe('refresh-token-successor', () => {
  it('is needed: the engine replaces a refresh token by a random one', async () => {
    const { second, expected } = await firstAndSecond(bare);
    expect(second).toMatch(/^[\w-]{43}$/);
    expect(second).not.toBe(expected);
  });

  it('replaces a refresh token by the one that follows from it, and makes the first one at random', async () => {
    const { first, second, expected } = await firstAndSecond(patched);
    expect(first).toMatch(/^[\w-]{43}$/);
    expect(second).toBe(expected);
  });
});
