import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { limitClientAuthentication } from '../../../../src/protocols/oidc/patches/clients.ts';
import { TooManyAttempts } from '../../../../src/protocols/oidc/rate-limits.ts';
import { httpClient } from '../../../support/http.ts';
import { basic, startBareEngine } from '../../bare-engine.ts';

const admitted: string[] = [];
const engine = await startBareEngine({
  configuration: {
    features: {
      deviceFlow: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      pushedAuthorizationRequests: { enabled: true },
    },
  },
  patch: (provider) =>
    limitClientAuthentication(provider, async ({ oidc }, clientId) => {
      admitted.push(`${oidc.route} ${clientId}`);
      if (clientId === 'limited') throw new TooManyAttempts(30);
    }),
});
afterAll(() => engine.close());
beforeEach(() => admitted.splice(0));

const post = (path: string, clientId: string) =>
  httpClient().post(`${engine.origin}${path}`, { form: { token: 'x' }, headers: basic(clientId, 'wrong') });

describe('client-authentication-limits', () => {
  it('is needed: the engine alone limits no failures', async () => {
    const bare = await startBareEngine({});
    const fail = () => httpClient().post(`${bare.origin}${routes.token}`, { form: {}, headers: basic('app', 'wrong') });
    const statuses: number[] = [];
    for (let tries = 0; tries < 40; tries += 1) statuses.push((await fail()).status);
    await bare.close();
    expect(new Set(statuses)).toEqual(new Set([401]));
  });

  it.each([
    ['token', routes.token],
    ['introspection', routes.introspection],
    ['revocation', routes.revocation],
    ['pushed_authorization_request', routes.pushed_authorization_request],
    ['device_authorization', routes.device_authorization],
  ])('checks the limit once at the %s endpoint, for known and unknown clients', async (route, path) => {
    for (const clientId of ['app', 'unknown']) expect((await post(path, clientId)).status).toBe(401);
    expect(admitted).toEqual([`${route} app`, `${route} unknown`]);
  });

  it('rejects a limited client before its credential is checked', async () => {
    const response = await post(routes.token, 'limited');
    expect(response.status).toBe(429);
    expect(response.json()).toMatchObject({ error: 'temporarily_unavailable' });
  });
});
