import { afterAll, describe, expect, it } from 'vitest';
import type { Provider } from '../../../../src/protocols/oidc/engine/library.ts';
import {
  createClientKeySets,
  limitClientKeys,
} from '../../../../src/protocols/oidc/patches/provider/client-key-sets.ts';
import { ec } from '../../../support/applications/registrations.ts';
import { servicesOf } from '../../../support/services-of.ts';
import { startBareEngine } from '../../bare-engine.ts';

let document: unknown;
let calls = 0;
const fetch = async () => {
  calls += 1;
  return new Response(typeof document === 'string' ? document : JSON.stringify(document));
};
let at = Math.floor(Date.now() / 1000);
const logger = { warn: () => undefined };
const clients = [
  {
    client_id: 'signer',
    redirect_uris: ['http://127.0.0.1:4000/cb'],
    token_endpoint_auth_method: 'private_key_jwt' as const,
    jwks_uri: 'https://app.example/jwks',
  },
];
const options = { configuration: { clients, fetch } };
const engine = await startBareEngine({
  ...options,
  patch: (provider) =>
    limitClientKeys(
      provider,
      createClientKeySets(servicesOf({ outgoing: fetch, logger: logger as never }), () => at),
    ),
});
afterAll(() => engine.close());

async function keysOf(provider: Provider): Promise<object[]> {
  const client = await provider.Client.find('signer');
  const store = Reflect.get(client ?? {}, 'asymmetricKeyStore');
  store.freshUntil = undefined;
  await store.refresh();
  return [...store];
}
const many = () => ({ keys: Array.from({ length: 11 }, () => ec()) });

describe('client-key-sets', () => {
  it('is needed: the engine alone accepts any number of keys', async () => {
    const bare = await startBareEngine(options);
    document = many();
    expect(await keysOf(bare.provider)).toHaveLength(11);
    await bare.close();
  });

  it('keeps the last good keys when a document is rejected, and asks again after some seconds', async () => {
    document = many();
    await expect(keysOf(engine.provider)).rejects.toThrow(/invalid_client_metadata/);
    at += 10;
    const good = ec();
    document = { keys: [good] };
    expect(await keysOf(engine.provider)).toEqual([good]);
    at += 100;
    document = many();
    calls = 0;
    expect(await keysOf(engine.provider)).toEqual([good]);
    expect(await keysOf(engine.provider)).toEqual([good]);
    expect(calls).toBe(1);
    at += 10;
    document = 'no JSON';
    expect(await keysOf(engine.provider)).toEqual([good]);
    expect(calls).toBe(2);
  });
});
