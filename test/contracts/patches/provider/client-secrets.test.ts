import { SignJWT } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import type { Configuration } from '../../../../src/protocols/oidc/engine/library.ts';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { acceptEverySecret } from '../../../../src/protocols/oidc/patches/clients.ts';
import { httpClient } from '../../../support/http.ts';
import { servicesOf } from '../../../support/services-of.ts';
import { appUri, basic, type Engine, startBareEngine } from '../../bare-engine.ts';

const newest = 'newest'.repeat(8);
const older = 'older'.repeat(8);
const client = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
const configuration: Configuration = {
  clients: [
    { ...client, client_id: 'app', client_secret: newest },
    { ...client, client_id: 'jwt', client_secret: newest, token_endpoint_auth_method: 'client_secret_jwt' },
  ],
  features: {
    clientCredentials: { enabled: true },
    registration: { enabled: true },
    registrationManagement: { enabled: true },
  },
};
const used: string[] = [];
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({
  configuration,
  patch: (provider) =>
    acceptEverySecret(provider, {
      ...servicesOf({ vault: { macMatches: (value: string, mac: string) => mac === `mac of ${value}` } as never }),
      clients: {
        cachedApplicationOf: () => undefined,
        applicationOf: async () =>
          ({
            secrets: [
              { id: 's1', hash: 'mac of hashed' },
              { id: 's2', value: newest },
              { id: 's3', value: older },
            ],
            secretValues: [newest, older],
          }) as never,
      } as never,
      recordSecretUse: (id) => used.push(id),
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

/** Status of an update of a registration with this secret. */
async function statusOfUpdate({ origin }: Engine, client_secret: string) {
  const json = { redirect_uris: [appUri] };
  const created = (await httpClient().post(`${origin}${routes.registration}`, { json })).json<Record<string, string>>();
  const page = await httpClient().request('PUT', created.registration_client_uri ?? '', {
    headers: { authorization: `Bearer ${created.registration_access_token}` },
    json: { ...json, client_id: created.client_id, client_secret },
  });
  return page.status;
}

describe('client-secrets', () => {
  it('is needed: the engine accepts the one secret that it was given in plain text', async () => {
    expect(await statusWithSecret(bare, newest)).toBe(200);
    expect(await statusWithSecret(bare, older)).toBe(401);
    expect(await statusWithAssertion(bare, newest)).toBe(200);
    expect(await statusWithAssertion(bare, older)).toBe(401);
  });

  it('accepts each secret, compared or as an HMAC key, and no other', async () => {
    for (const secret of [newest, older, 'hashed']) expect(await statusWithSecret(patched, secret), secret).toBe(200);
    expect(await statusWithSecret(patched, 'wrong')).toBe(401);
    expect(used).toEqual(['s2', 's3', 's1']);
    for (const secret of [newest, older]) expect(await statusWithAssertion(patched, secret), secret).toBe(200);
    expect(await statusWithAssertion(patched, 'wrong'.repeat(8))).toBe(401);
  });

  it('is needed in updates: the engine compares the sent secret with its own', async () => {
    expect(await statusOfUpdate(bare, 'hashed')).toBe(400);
  });

  it('accepts in an update the secret of which only the MAC is stored, and no other', async () => {
    expect(await statusOfUpdate(patched, 'hashed')).toBe(200);
    expect(await statusOfUpdate(patched, 'other')).toBe(400);
  });
});
