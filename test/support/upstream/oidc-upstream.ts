// An OpenID Connect upstream for tests: a bare oidc-provider whose users sign in without a page, with a switch for each deviation
// of a vendor and each forgery. Changing `user` and `quirks` changes the next sign-in.
import type { KeyObject } from 'node:crypto';
import { decodeJwt, exportJWK, exportSPKI, SignJWT, UnsecuredJWT } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';
import { anRsaKey } from '../applications/rsa-keys.ts';
import { listen } from '../listen.ts';

export interface OidcQuirks {
  /** Claims that replace those of the ID token; undefined removes one. */
  idToken?: Record<string, unknown>;
  /** How the ID token is signed instead: with an unknown key, not at all, or with the public key as an HMAC secret. */
  signature?: 'other-key' | 'none' | 'hmac' | 'unknown-kid';
  /** The answer of the userinfo endpoint. */
  userinfo?: Record<string, unknown>;
  /** Parameters that replace those of the answer; undefined removes one. */
  answer?: Record<string, string | undefined>;
  /** Status of the token endpoint. */
  tokenStatus?: number;
  /** Every client authentication succeeds; `lastTokenRequest` has what was sent. */
  acceptsAnySecret?: boolean;
  /** Members that replace those of the discovery document, which then is at each address that ends like its usual one. */
  discovery?: Record<string, unknown>;
  /** Parameters of the authorization request that end it with an error. */
  rejects?: readonly string[];
  /** Path of an endpoint -> where it redirects instead of an answer. */
  redirects?: Record<string, string>;
}

export interface OidcUpstream {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Who signs in next, with these claims in the ID token. */
  user: { sub: string; [claim: string]: unknown };
  quirks: OidcQuirks;
  /** The parameters of the last authorization request. */
  lastRequest: URLSearchParams;
  tokenCalls: number;
  /** The body of the last request to the token endpoint. */
  lastTokenRequest: Record<string, unknown>;
  /** Signs with a new key from now on, and publishes it. */
  rotateKey(): void;
  stop(): Promise<void>;
}

interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

const DISCOVERY = '/.well-known/openid-configuration';
const clientId = 'gatehouse';
const clientSecret = 'a-secret-of-the-upstream-with-32-bytes';
let keyCount = 0;

function newKey(): SigningKey {
  keyCount += 1;
  return { kid: `upstream-${keyCount}`, ...anRsaKey() };
}

/** Starts it; `redirectUris` are those of the connections under test, `client` replaces metadata of their client. */
export async function startOidcUpstream(
  redirectUris: string[],
  client: Record<string, unknown> = {},
): Promise<OidcUpstream> {
  let engine: ReturnType<Provider['callback']> | undefined;
  const server = await listen((request, response) => engine?.(request, response));
  const keys = [newKey()];
  const upstream: OidcUpstream = {
    issuer: server.origin,
    clientId,
    clientSecret,
    user: { sub: 'upstream-user' },
    quirks: {},
    lastRequest: new URLSearchParams(),
    tokenCalls: 0,
    lastTokenRequest: {},
    rotateKey: () => void keys.unshift(newKey()),
    stop: server.close,
  };
  const provider = new Provider(server.origin, await configurationOf(keys, redirectUris, client));
  const { prototype } = provider.Client as unknown as { prototype: { compareClientSecret(actual: string): unknown } };
  const compare = prototype.compareClientSecret;
  prototype.compareClientSecret = function (actual) {
    return upstream.quirks.acceptsAnySecret || compare.call(this, actual);
  };
  provider.use((ctx, next) => deviate(upstream, keys, provider, ctx as never, next));
  engine = provider.callback();
  return upstream;
}

async function configurationOf(
  [key]: SigningKey[],
  redirectUris: string[],
  client: Record<string, unknown>,
): Promise<Configuration> {
  if (!key) throw new Error('no key');
  const { kid } = key;
  return {
    jwks: { keys: [{ ...(await exportJWK(key.privateKey)), kid, use: 'sig', alg: 'RS256' }] },
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUris, ...client }],
    scopes: ['openid', 'profile', 'email', 'name'],
    pkce: { required: () => false },
    features: { devInteractions: { enabled: false } },
    findAccount: async (_ctx: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    cookies: { keys: ['upstream'] },
  } as unknown as Configuration;
}

interface ProviderContext {
  path: string;
  req: never;
  res: never;
  query: Record<string, string>;
  status: number;
  body: unknown;
  oidc?: { body?: Record<string, unknown> };
  response: { get(name: string): string };
  redirect(url: string): void;
}

/** Signs the user in, and changes what the engine has answered as the quirks say. */
async function deviate(
  upstream: OidcUpstream,
  keys: SigningKey[],
  provider: Provider,
  ctx: ProviderContext,
  next: () => Promise<void>,
): Promise<void> {
  if (ctx.path === '/auth') upstream.lastRequest = new URLSearchParams(ctx.query);
  const elsewhere = upstream.quirks.redirects?.[ctx.path];
  if (elsewhere !== undefined) return ctx.redirect(elsewhere);
  const isDiscovery = ctx.path.endsWith(DISCOVERY);
  if (isDiscovery) ctx.path = DISCOVERY;
  if (ctx.path === '/auth') reject(upstream, ctx);
  if (ctx.path.startsWith('/interaction/')) return signIn(upstream, provider, ctx);
  if (ctx.path === '/jwks') {
    const published = keys.map(async ({ kid, publicKey }) => ({ ...(await exportJWK(publicKey)), kid, use: 'sig' }));
    ctx.body = { keys: await Promise.all(published) };
    return;
  }
  await next();
  const { quirks, user } = upstream;
  if (isDiscovery) ctx.body = { ...(ctx.body as object), ...quirks.discovery };
  const location = ctx.response.get('Location');
  if (location && quirks.answer && /[?&](code|error)=/.test(location)) ctx.redirect(changed(location, quirks.answer));
  if (ctx.path === '/me') ctx.body = quirks.userinfo ?? user;
  if (ctx.path !== '/token') return;
  upstream.tokenCalls += 1;
  upstream.lastTokenRequest = { ...ctx.oidc?.body };
  if (quirks.tokenStatus) ctx.status = quirks.tokenStatus;
  else if (ctx.status === 200) {
    const body = ctx.body as { id_token: string };
    ctx.body = {
      ...body,
      id_token: await signed({ ...decodeJwt(body.id_token), ...user, ...quirks.idToken }, keys, quirks),
    };
  }
}

/** Takes the user out of the request, so that the engine answers with an error. */
function reject({ quirks }: OidcUpstream, ctx: ProviderContext): void {
  if (quirks.rejects?.some((name) => name in ctx.query)) ctx.query = { ...ctx.query, prompt: 'none' };
}

async function signIn({ user }: OidcUpstream, provider: Provider, ctx: ProviderContext): Promise<void> {
  const { params } = await provider.interactionDetails(ctx.req, ctx.res);
  const grant = new provider.Grant({ accountId: user.sub, clientId: String(params.client_id) });
  grant.addOIDCScope(String(params.scope));
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(ctx.req, ctx.res, { login: { accountId: user.sub, remember: false }, consent });
}

function changed(location: string, parameters: Record<string, string | undefined>): string {
  const url = new URL(location);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}

async function signed(claims: Record<string, unknown>, keys: SigningKey[], { signature }: OidcQuirks): Promise<string> {
  const payload = JSON.parse(JSON.stringify(claims)) as Record<string, unknown>;
  const [key = newKey()] = keys;
  if (signature === 'none') return new UnsecuredJWT(payload).encode();
  if (signature === 'hmac') {
    const secret = Buffer.from(await exportSPKI(key.publicKey));
    return new SignJWT(payload).setProtectedHeader({ alg: 'HS256', kid: key.kid }).sign(secret);
  }
  const { privateKey } = signature === undefined ? key : newKey();
  const kid = signature === 'unknown-kid' ? 'unknown' : key.kid;
  return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey);
}
