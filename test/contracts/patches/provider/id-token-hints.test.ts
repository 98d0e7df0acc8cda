import { createHmac } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { Client, Provider } from '../../../../src/protocols/oidc/engine/library.ts';
import { acceptEveryAlgorithm } from '../../../../src/protocols/oidc/patches.ts';
import { redeem, signIn, startBareEngine } from '../../bare-engine.ts';

const bare = await startBareEngine();
const patched = await startBareEngine({ patch: acceptEveryAlgorithm });
afterAll(() => Promise.all([bare.close(), patched.close()]));

type Validating = { validate(jwt: string, client: Client): Promise<{ payload: { sub: string } }> };

/** Validates a hint as one of a client that is registered with ES256 by now. */
async function validate(provider: Provider, hint: string) {
  const client = await provider.Client.find('app');
  const changed = Object.create(client ?? {}, { idTokenSignedResponseAlg: { value: 'ES256' } }) as Client;
  return (provider.IdToken as unknown as Validating).validate(hint, changed);
}

describe('id-token-hints', () => {
  it('is needed: the engine rejects an ID token from before the algorithm of the client changed', async () => {
    const { id_token } = await redeem(bare, (await signIn(bare)).code);
    await expect(validate(bare.provider, id_token)).rejects.toThrow();
  });

  it('accepts every ID token that is signed with a key of the provider', async () => {
    const { id_token } = await redeem(patched, (await signIn(patched)).code);
    expect((await validate(patched.provider, id_token)).payload.sub).toBe('alice');
  });

  it('accepts no other signature, and no HMAC for a client that is not registered with one', async () => {
    const { id_token } = await redeem(patched, (await signIn(patched)).code);
    const [, payload] = id_token.split('.');
    const header = Buffer.from('{"alg":"HS256"}').toString('base64url');
    const mac = createHmac('sha256', 'secret').update(`${header}.${payload}`).digest('base64url');
    for (const hint of [`${id_token.slice(0, -8)}AAAAAAAA`, `${header}.${payload}.${mac}`, 'junk'])
      await expect(validate(patched.provider, hint)).rejects.toThrow();
  });
});
