import { SignJWT } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import { routes } from '../../../src/oidc/engine/configuration.ts';
import type { Configuration } from '../../../src/oidc/engine/library.ts';
import { acceptEverySecret } from '../../../src/oidc/patches/client-secrets.ts';
import { httpClient } from '../../support/http.ts';
import { basic, type Engine, startBareEngine } from '../bare-engine.ts';

const newest = 'newest'.repeat(8);
const older = 'older'.repeat(8);
const client = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
const configuration: Configuration = {
  clients: [
    { ...client, client_id: 'app', client_secret: newest },
    { ...client, client_id: 'jwt', client_secret: newest, token_endpoint_auth_method: 'client_secret_jwt' },
  ],
  features: { clientCredentials: { enabled: true } },
};
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({
  configuration,
  patch: (provider) =>
    acceptEverySecret(provider, {
      clients: {
        applicationOf: async () => ({ secretHashes: ['mac of hashed'], secretValues: [newest, older] }) as never,
      },
      vault: { macMatches: (value, mac) => mac === `mac of ${value}` },
    }),
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

const form = { grant_type: 'client_credentials' };

async function statusWithSecret({ origin }: Engine, secret: string) {
  return (await httpClient().post(`${origin}${routes.token}`, { form, headers: basic('app', secret) })).status;
}

async function statusWithAssertion({ origin }: Engine, secret: string) {
  const assertion = await new SignJWT({ jti: crypto.randomUUID() })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('jwt')
    .setSubject('jwt')
    .setAudience(origin)
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(Buffer.from(secret));
  const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  const proof = { client_assertion: assertion, client_assertion_type: type };
  return (await httpClient().post(`${origin}${routes.token}`, { form: { ...form, ...proof } })).status;
}

describe('client-secrets', () => {
  it('client-secrets is needed: the engine accepts the one secret that it was given in plain text', async () => {
    expect(await statusWithSecret(bare, newest)).toBe(200);
    expect(await statusWithSecret(bare, older)).toBe(401);
    expect(await statusWithAssertion(bare, newest)).toBe(200);
    expect(await statusWithAssertion(bare, older)).toBe(401);
  });

  it('accepts each secret, compared or as an HMAC key, and no other', async () => {
    for (const secret of [newest, older, 'hashed']) expect(await statusWithSecret(patched, secret), secret).toBe(200);
    expect(await statusWithSecret(patched, 'wrong')).toBe(401);
    for (const secret of [newest, older]) expect(await statusWithAssertion(patched, secret), secret).toBe(200);
    expect(await statusWithAssertion(patched, 'wrong'.repeat(8))).toBe(401);
  });
});
