// A bare oidc-provider on a real port, set up only as far as our own configuration relies on it.
import type { Adapter, AdapterPayload, Configuration, Provider } from 'oidc-provider';
import { makeKeyPair, type PrivateJwk, privateJwk } from '../../src/keys/key-pair.ts';
import type { KeyAlg } from '../../src/keys/rotation.ts';
import { type Listening, listen } from '../support/listen.ts';

export const appUri = 'http://127.0.0.1:4000/cb';
export const acsUri = 'https://sp.example.com/acs';

export interface Engine extends Listening {
  provider: Provider;
  /** Lets another provider answer from now on. */
  replace(provider: Provider): void;
}

/** A signing key such as the keyring hands out. */
export async function aKey(alg: KeyAlg): Promise<PrivateJwk> {
  return privateJwk(await makeKeyPair(alg), alg);
}

/** An adapter factory over one Map: what every provider that gets it shares. */
export function sharedStore(store = new Map<string, AdapterPayload>()) {
  return (model: string): Adapter => {
    const find = (matches: (payload: AdapterPayload) => boolean) =>
      [...store].find(([key, payload]) => key.startsWith(`${model}:`) && matches(payload))?.[1];
    return {
      upsert: async (id, payload) => void store.set(`${model}:${id}`, payload),
      find: async (id) => store.get(`${model}:${id}`),
      findByUid: async (uid) => find((payload) => payload.uid === uid),
      findByUserCode: async (userCode) => find((payload) => payload.userCode === userCode),
      destroy: async (id) => void store.delete(`${model}:${id}`),
      consume: async (id) => {
        const payload = store.get(`${model}:${id}`);
        if (payload) payload.consumed = Math.floor(Date.now() / 1000);
      },
      revokeByGrantId: async (grantId) => {
        for (const [key, payload] of store) if (payload.grantId === grantId) store.delete(key);
      },
    };
  };
}

export function configuration(options: Configuration): Configuration {
  return {
    clients: [
      { client_id: 'app', client_secret: 'secret', redirect_uris: [appUri], grant_types: ['authorization_code'] },
      {
        client_id: 'urn:sp',
        redirect_uris: [acsUri],
        response_types: ['none'],
        grant_types: [],
        token_endpoint_auth_method: 'none',
      },
    ],
    responseTypes: ['code', 'none'],
    pkce: { required: () => false },
    cookies: { keys: ['cookie key'] },
    interactions: { url: (_ctx, interaction) => `/signin/${interaction.uid}` },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: { devInteractions: { enabled: false } },
    renderError: (ctx, out) => {
      ctx.body = out;
    },
    ttl: { Session: 3600, Grant: 3600, Interaction: 3600, AccessToken: 600, AuthorizationCode: 60, IdToken: 600 },
    ...options,
  };
}

/** Serves the provider that `make` builds; /signin/… signs in as `alice` and consents at once. */
export async function startEngine(make: (issuer: string) => Provider): Promise<Engine> {
  let current: Provider | undefined;
  const server = await listen(async (request, response) => {
    if (!current) throw new Error('no provider yet');
    if (!request.url?.startsWith('/signin/')) return void (await current.callback()(request, response));
    const { params } = await current.interactionDetails(request, response);
    const grant = new current.Grant({ accountId: 'alice', clientId: String(params.client_id) });
    grant.addOIDCScope('openid');
    const login = { accountId: 'alice', amr: ['pwd'] };
    await current.interactionFinished(request, response, { login, consent: { grantId: await grant.save() } });
  });
  const provider = make(server.origin);
  current = provider;
  return {
    ...server,
    provider,
    replace: (other) => {
      current = other;
    },
  };
}
