import { afterAll, describe, expect, it } from 'vitest';
import { routes } from '../../../src/oidc/engine/configuration.ts';
import type { PairwiseIdentifier } from '../../../src/oidc/engine/introspection.ts';
import type { Configuration } from '../../../src/oidc/engine/library.ts';
import { translateSubject } from '../../../src/oidc/patches/introspection-subject.ts';
import { httpClient } from '../../support/http.ts';
import { appUri, basic, type Engine, redeem, signIn, startBareEngine } from '../bare-engine.ts';

const pairwiseIdentifier: PairwiseIdentifier = async (_ctx, accountId, client) => `${accountId} for ${client.clientId}`;
const configuration: Configuration = {
  clients: [
    { client_id: 'app', client_secret: 'secret', redirect_uris: [appUri] },
    {
      client_id: 'api',
      client_secret: 'secret',
      redirect_uris: ['https://api.example.com/cb'],
      subject_type: 'pairwise',
    },
  ],
  subjectTypes: ['public', 'pairwise'],
  pairwiseIdentifier: pairwiseIdentifier as never,
  features: { introspection: { enabled: true, allowedPolicy: async () => true } },
};
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({
  configuration,
  async around(ctx, next) {
    await next();
    await translateSubject(ctx, pairwiseIdentifier);
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

async function subject(engine: Engine, clientId: string) {
  const { access_token: token } = await redeem(engine, (await signIn(engine)).code);
  const request = { form: { token }, headers: basic(clientId) };
  return (await httpClient().post(`${engine.origin}${routes.introspection}`, request)).json().sub;
}

describe('introspection-subject', () => {
  it("introspection-subject is needed: the engine gives a pairwise client the subject of the token's own client", async () => {
    expect(await subject(bare, 'api')).toBe('alice');
  });

  it('gives each client its own subject of the user', async () => {
    expect(await subject(patched, 'api')).toBe('alice for api');
    expect(await subject(patched, 'app')).toBe('alice');
  });
});
