import { afterAll, describe, expect, it } from 'vitest';
import { LOOPBACKS, type Provider } from '../../../../src/protocols/oidc/engine/library.ts';
import { extendLoopbackHosts } from '../../../../src/protocols/oidc/patches/clients.ts';
import { startBareEngine } from '../../bare-engine.ts';

const uris = ['http://app.localhost/cb', 'http://127.1.2.3/cb'];
const client = { client_id: 'native', application_type: 'native', token_endpoint_auth_method: 'none' } as const;
const engineFor = (uri: string) =>
  startBareEngine({ configuration: { clients: [{ ...client, redirect_uris: [uri] }] } });
const bare = await Promise.all(uris.map(engineFor));
afterAll(() => Promise.all(bare.map((engine) => engine.close())));

const found = async (provider: Provider, uri: string) => {
  const known = await provider.Client.find('native');
  return (known as unknown as { redirectUriAllowed(value: string): boolean }).redirectUriAllowed(uri);
};

// The list belongs to the module, and other files of this process have patched it: what comes first runs without the patch.
describe('loopback-hosts', () => {
  it.each(uris)('is needed: the engine knows no other loopback hosts than three, so not that of %s', async (uri) => {
    Reflect.deleteProperty(LOOPBACKS, 'has');
    const { provider } = bare[uris.indexOf(uri)] ?? {};
    await expect(provider?.Client.find('native')).rejects.toThrow('invalid_redirect_uri');
  });

  it.each(uris)('lets a native client register %s, and use it on any port', async (uri) => {
    extendLoopbackHosts();
    const engine = await engineFor(uri);
    try {
      expect(await found(engine.provider, uri.replace('/cb', ':51004/cb'))).toBe(true);
      expect(await found(engine.provider, uri.replace('/cb', ':51004/other'))).toBe(false);
    } finally {
      await engine.close();
    }
  });
});
