// `allowedPolicy` is documented as a yes or no; that it may set members of the response by `token.extra` is what
// src/protocols/oidc/engine/configuration.ts rests on.
import { decodeJwt } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import type { Configuration } from '../../src/protocols/oidc/engine/library.ts';
import { routes } from '../../src/protocols/oidc/engine/routes.ts';
import { httpClient } from '../support/http.ts';
import { appUri, basic, redeem, signIn, startBareEngine } from './bare-engine.ts';

const configuration: Configuration = {
  clients: [
    { client_id: 'app', client_secret: 'secret', redirect_uris: [appUri] },
    { client_id: 'api', client_secret: 'secret', redirect_uris: ['https://api.example.com/cb'] },
  ],
  features: {
    introspection: {
      enabled: true,
      async allowedPolicy(_ctx, client, token) {
        if (client.clientId === 'api') Object.assign(token, { extra: { sub: 'set by the policy' } });
        return true;
      },
    },
    jwtIntrospection: { enabled: true },
  },
};
const engine = await startBareEngine({ configuration });
afterAll(() => engine.close());

async function introspect(clientId: string, accept: string) {
  const { access_token: token } = await redeem(engine, (await signIn(engine)).code);
  const headers = { ...basic(clientId), accept };
  return httpClient().post(`${engine.origin}${routes.introspection}`, { form: { token }, headers });
}

describe('introspection', () => {
  it('takes the subject from the policy, in JSON', async () => {
    expect((await introspect('api', 'application/json')).json().sub).toBe('set by the policy');
    expect((await introspect('app', 'application/json')).json().sub).toBe('alice');
  });

  it('takes the subject from the policy, in a signed response', async () => {
    const page = await introspect('api', 'application/token-introspection+jwt');
    expect(page.headers['content-type']).toContain('application/token-introspection+jwt');
    expect(decodeJwt(page.text).token_introspection).toMatchObject({ active: true, sub: 'set by the policy' });
  });
});
