import { afterAll, describe, expect, it } from 'vitest';
import type { AdapterPayload, Configuration } from '../../../../src/protocols/oidc/engine/library.ts';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { cacheClients } from '../../../../src/protocols/oidc/patches/clients.ts';
import { httpClient } from '../../../support/http.ts';
import { servicesOf } from '../../../support/services-of.ts';
import { basic, type Engine, sharedStore, startBareEngine } from '../../bare-engine.ts';

let loads = 0;
let revision = 1;
const client = {
  client_id: 'app',
  client_secret: 'secret',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
} as AdapterPayload;
const store = sharedStore();
const configuration: Configuration = {
  clients: [],
  features: { clientCredentials: { enabled: true } },
  adapter(model: string) {
    if (model !== 'Client') return store(model);
    const find = async () => {
      loads += 1;
      return client;
    };
    return { ...store(model), find };
  },
};
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({
  configuration,
  patch: (provider) =>
    cacheClients(provider, {
      ...servicesOf({
        sql: { revision: () => revision, isRemote: false, query: async () => [] } as never,
        now: () => new Date(),
      }),
      clients: { cachedApplicationOf: () => ({ secretsExpire: false }) } as never,
    }),
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

async function loadsOf({ origin }: Engine): Promise<number> {
  const before = loads;
  const form = { grant_type: 'client_credentials' };
  const { status } = await httpClient().post(`${origin}${routes.token}`, { form, headers: basic('app') });
  expect(status).toBe(200);
  return loads - before;
}

describe('client-cache', () => {
  it('is needed: the engine loads the client for each request', async () => {
    expect(await loadsOf(bare)).toBeGreaterThan(0);
    expect(await loadsOf(bare)).toBeGreaterThan(0);
  });

  it('loads the client once for each revision of the database', async () => {
    expect(await loadsOf(patched)).toBe(1);
    expect(await loadsOf(patched)).toBe(0);
    revision = 2;
    expect(await loadsOf(patched)).toBe(1);
  });
});
