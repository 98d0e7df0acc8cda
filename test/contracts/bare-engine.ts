// A bare oidc-provider on a real port, configured only as far as this server relies on it.
import type { Adapter, AdapterPayload, Configuration } from 'oidc-provider';
import type { Context } from '../../src/base/http/context.ts';
import { makeKeyPair, type PrivateJwk, privateJwk } from '../../src/core/keys/key-pair.ts';
import type { KeyAlg } from '../../src/core/keys/rotation.ts';
import { Provider } from '../../src/protocols/oidc/engine/library.ts';
import { routes } from '../../src/protocols/oidc/engine/routes.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
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

const key = await aKey('RS256');

export interface BareEngineOptions {
  configuration?: Configuration;
  /** Applies a patch to the provider's classes. */
  patch?(provider: Provider): void;
  /** Applies a patch in front of the engine or behind it. */
  around?(ctx: Context, next: () => Promise<void>): Promise<void>;
}

/** A bare engine on the routes of this server, with at most one patch. */
export function startBareEngine({
  configuration: options = {},
  patch,
  around,
}: BareEngineOptions = {}): Promise<Engine> {
  return startEngine((issuer) => {
    const provider = new Provider(
      issuer,
      configuration({
        adapter: sharedStore(),
        jwks: { keys: [key as never] },
        routes: { ...routes },
        ...options,
        features: { devInteractions: { enabled: false }, ...options.features },
      }),
    );
    patch?.(provider);
    if (around) provider.use(around as never);
    return provider;
  });
}

/** oidc-provider's `logoutSource`: the engine's form and nothing else. */
export function showForm(ctx: { body?: unknown }, form: string): void {
  ctx.body = form;
}

/** Signs `alice` in to the client `app`. */
export async function signIn(
  { origin }: Engine,
  parameters: Record<string, string> = {},
  browser = httpClient(),
): Promise<{ browser: HttpClient; code: string }> {
  const query = { client_id: 'app', response_type: 'code', scope: 'openid', redirect_uri: appUri, ...parameters };
  const page = await browser.get(`${origin}${routes.authorization}?${new URLSearchParams(query)}`);
  const { location } = await browser.follow(page, (url) => url.startsWith(appUri));
  return { browser, code: new URL(location ?? '').searchParams.get('code') ?? '' };
}

export const basic = (clientId: string, secret = 'secret') => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
});

/** The token endpoint's answer to a code of the client `app`. */
export async function redeem({ origin }: Engine, code: string): Promise<{ access_token: string; id_token: string }> {
  const form = { grant_type: 'authorization_code', code, redirect_uri: appUri };
  return (await httpClient().post(`${origin}${routes.token}`, { form, headers: basic('app') })).json();
}
