// Every override of oidc-provider: three lists, each in the order in which it is applied. One test in
// test/contracts/patches for each; why it exists and what to ask upstream: patches/README.md.

import { decodeProtectedHeader } from 'jose';
import { canonicalResource } from '../../applications/uris.ts';
import type { Base } from '../../base/base.ts';
import type { Context } from '../../base/http/context.ts';
import type { Cookies } from '../../base/http/cookies.ts';
import type { PrivateJwk } from '../../core/keys/key-pair.ts';
import { keyAlgs } from '../../core/keys/rotation.ts';
import { engineScopes, userScopes } from './claims/scopes.ts';
import { type Client, type KoaContextWithOIDC, Provider } from './engine/library.ts';
import type { Published } from './engine/public-documents.ts';
import {
  acceptEverySecret,
  cacheClients,
  extendLoopbackHosts,
  limitClientAuthentication,
  skipRejectedClients,
} from './patches/clients.ts';
import {
  addRejectionCode,
  answerRevocationInJson,
  followSettings,
  limitCors,
  preferJsonErrors,
  redirectPostToGet,
  redirectToLogoutRun,
  removeSecretPlaceholder,
  renderSelfSubmittingForm,
  requireDeviceCookies,
} from './patches/http.ts';
import { addApplicationClaims } from './patches/provider/client-claims.ts';
import { type ClientKeySets, limitClientKeys } from './patches/provider/client-key-sets.ts';
import { introspectJwts } from './patches/provider/jwt-introspection.ts';
import { type QueueLogoutToken, queueLogoutTokens } from './patches/provider/logout-token-queue.ts';
import { separateAuthTime } from './patches/provider/session-auth-time.ts';
import { mergeSessionsOnSave, type SessionSavingDependencies } from './patches/provider/session-saving.ts';
import { acceptOpenRegistration, isUnregistered, OF_UNREGISTERED, type ReportRejectedClient } from './registration.ts';
import type { ClientApplication, ClientSource } from './store/clients.ts';
import type { RefreshTokenRetries } from './store/refresh-token-retries.ts';

/** The release of oidc-provider that every patch was checked against; a test compares it with the installed one. */
export const CHECKED_RELEASE = '9.13.3';

export interface ProviderPatchDependencies {
  clients: ClientSource;
  recordSecretUse: (secretId: string) => void;
  clientKeySets: ClientKeySets;
  /** Throws when the client has failed to authenticate too often. */
  admitClient(ctx: KoaContextWithOIDC, clientId: string): Promise<void>;
  sessionSaving: SessionSavingDependencies;
  queueLogoutToken: QueueLogoutToken;
  reportRejectedClient: ReportRejectedClient;
  refreshTokenRetries: RefreshTokenRetries;
  jwks: () => { keys: PrivateJwk[] };
  mayHoldTokenFor: (identifier: string, application: ClientApplication) => Promise<boolean>;
}

export interface ProviderPatch {
  name: string;
  /** The methods of the provider's classes that are replaced. */
  replaces: string;
  apply(provider: Provider, dependencies: Base & ProviderPatchDependencies): void;
}

/** Applied once to each Provider. `Client.find` is wrapped five times: the last in the list runs first. */
export const providerPatches: readonly ProviderPatch[] = [
  { name: 'client-cache', replaces: 'Client.find', apply: cacheClients },
  // Outside of the cache, because an update of a registration gets a view of its own.
  {
    name: 'client-secrets',
    replaces: 'Client.find, Client.prototype.compareClientSecret',
    apply: acceptEverySecret,
  },
  {
    name: 'client-authentication-limits',
    replaces: 'Client.find',
    apply: (provider, { admitClient }) => limitClientAuthentication(provider, admitClient),
  },
  {
    name: 'clients-at-logout',
    replaces: 'Client.find',
    apply: (provider, { reportRejectedClient }) => skipRejectedClients(provider, reportRejectedClient),
  },
  { name: 'jwt-introspection', replaces: 'Client.find, AccessToken.find', apply: introspectJwts },
  {
    name: 'client-claims',
    replaces:
      'Claims.prototype.scope, Claims.prototype.result, IdToken.prototype.issue, OIDCContext.prototype.requestParamOIDCScopes',
    apply: addApplicationClaims,
  },
  { name: 'requested-scope', replaces: 'OIDCContext.prototype.params', apply: completeRequestedScope },
  { name: 'empty-secrets', replaces: 'OIDCContext.prototype.params', apply: acceptEmptySecrets },
  {
    name: 'session-saving',
    replaces: 'Session.instantiate, Session.get, Session.prototype.save',
    apply: (provider, { sessionSaving }) => mergeSessionsOnSave(provider, sessionSaving),
  },
  {
    name: 'session-auth-time',
    replaces: 'Session.IN_PAYLOAD, Session.prototype.loginAccount, Session.prototype.authTime, Session.prototype.past',
    apply: (provider) => separateAuthTime(provider),
  },
  {
    name: 'logout-token-queue',
    replaces: 'Client.prototype.backchannelLogout',
    apply: (provider, { queueLogoutToken }) => queueLogoutTokens(provider, queueLogoutToken),
  },
  { name: 'session-id-in-id-tokens', replaces: 'Client.prototype.includeSid', apply: includeSessionId },
  {
    name: 'refresh-token-successor',
    replaces: 'RefreshToken.prototype.generateTokenId',
    apply: (provider, { refreshTokenRetries }) => deriveSuccessor(provider, refreshTokenRetries),
  },
  { name: 'id-token-hints', replaces: 'IdToken.validate', apply: acceptEveryAlgorithm },
  {
    name: 'client-key-sets',
    replaces: 'ClientKeyStore.prototype.refresh',
    apply: (provider, { clientKeySets }) => limitClientKeys(provider, clientKeySets),
  },
  { name: 'open-registration', replaces: 'InitialAccessToken.find', apply: acceptOpenRegistration },
  { name: 'loopback-hosts', replaces: 'LOOPBACKS.has', apply: extendLoopbackHosts },
];

export interface EngineRequest {
  /** The engine's route of the request (engine/routes.ts). */
  route: string;
  provider: Provider;
  cookies: Cookies;
}

export interface RequestPatch {
  name: string;
  /** Returns true when it has answered, so that the engine is not called. */
  apply(ctx: Context, request: EngineRequest): Promise<boolean> | undefined;
}

/** Applied to each request in front of the engine. */
export const requestPatches: readonly RequestPatch[] = [
  { name: 'post-as-get', apply: redirectPostToGet },
  {
    name: 'device-step-cookies',
    apply(ctx, request) {
      requireDeviceCookies(ctx, request);
    },
  },
  {
    name: 'json-errors',
    apply(ctx) {
      preferJsonErrors(ctx);
    },
  },
];

export interface EngineResponse {
  route: string;
  /** The header as it was before the engine ran. */
  contentSecurityPolicy: string | string[];
  /** Code of the rejection of this request; undefined when it was not rejected. */
  rejectionCode: string | undefined;
  clients: ClientSource;
  published(): Promise<Published>;
}

export interface ResponsePatch {
  name: string;
  apply(ctx: Context, response: EngineResponse): Promise<void> | void;
}

/** Applied to each response behind the engine. */
export const responsePatches: readonly ResponsePatch[] = [
  { name: 'logout-destination', apply: redirectToLogoutRun },
  { name: 'cors-headers', apply: (ctx, { clients }) => limitCors(ctx, clients) },
  { name: 'public-documents', apply: (ctx, { published }) => followSettings(ctx, published) },
  { name: 'revocation-body', apply: answerRevocationInJson },
  { name: 'registration-secret', apply: (ctx, { route }) => removeSecretPlaceholder(ctx, route) },
  { name: 'rejection-code', apply: (ctx, { rejectionCode }) => addRejectionCode(ctx, rejectionCode) },
  {
    name: 'self-submitting-form',
    apply: (ctx, { contentSecurityPolicy }) => renderSelfSubmittingForm(ctx, contentSecurityPolicy),
  },
];

// Patch: IdToken.validate. Every ID token that this server has signed is an id_token_hint: the engine accepts only those of the algorithm
// that the client is registered with now, not those from before the registration changed.

type Validate = (jwt: string, client: Client) => Promise<unknown>;

export function acceptEveryAlgorithm(provider: Provider): void {
  const idToken = provider.IdToken as unknown as { validate: Validate };
  const { validate } = idToken;
  idToken.validate = async function validateWithItsAlgorithm(jwt, client) {
    const alg = algOf(jwt);
    // Never HS256 for a client that is not registered with it: its secret may be a placeholder (store/clients.ts).
    const isOurs = keyAlgs.some((one) => one === alg);
    const view = isOurs ? (Object.create(client, { idTokenSignedResponseAlg: { value: alg } }) as Client) : client;
    return validate.call(idToken, jwt, view);
  };
}

function algOf(jwt: string): string | undefined {
  try {
    return decodeProtectedHeader(jwt).alg;
  } catch {
    return undefined;
  }
}

// Patch: RefreshToken.prototype.generateTokenId. The value of a rotated refresh token's successor follows from the token, so
// that a retry of the same refresh gets the same successor (store/refresh-token-retries.ts). The engine makes a random one.

interface RefreshTokenPrototype {
  generateTokenId(): string;
}

export function deriveSuccessor(provider: Provider, { successorOf }: RefreshTokenRetries): void {
  const prototype = provider.RefreshToken.prototype as unknown as RefreshTokenPrototype;
  const { generateTokenId } = prototype;
  prototype.generateTokenId = function generateSuccessorId() {
    const rotated = Provider.ctx?.oidc.entities.RotatedRefreshToken;
    return rotated?.grantId ? successorOf(rotated.jti, rotated.grantId) : generateTokenId.call(this);
  };
}

// Patch: Client.prototype.includeSid. The engine puts `sid` into ID tokens only for clients with back-channel logout. Here
// every ID token names its session, so that a logout request can prove which session it means (oidc/pages.ts).

export function includeSessionId(provider: Provider): void {
  provider.Client.prototype.includeSid = () => true;
}

// Patch: OIDCContext.prototype.params. Four parameters get accessors in place of their values.
// - scope, prompt and response_type are sets: white space around and between the members says nothing (OpenID Connect Core 3.1.2.1), and the
//   engine rejects it.
// - resource: an API has one spelling. The MCP SDK adds the slash of an empty path, and what is requested is compared with what was granted.
// - scope: an authorization request without a scope that this server knows has the registered scope of its client, which RFC 6749 3.3 calls a
//   pre-defined default value. With `resource`, the default depends on the API, which is looked up later
//   (engine/requests/request-checks.ts). A client that acts for itself has its registered scopes of the API by default; without an API, a
//   scope has no meaning for it.
// Accessors, because the engine assigns the members of a request object one by one, finds the client after it has set the parameters, and
// checks the scope before any of its hooks that know both.

const PARAMS = Symbol('params');
/** The routes of requests for a user. */
const WITH_DEFAULT = new Set(['authorization', 'pushed_authorization_request', 'device_authorization']);

type Params = Record<string, unknown>;

interface RequestContext {
  route: string;
  client?: { clientId: string };
  params: Params | undefined;
  [PARAMS]?: Params | undefined;
}

export function completeRequestedScope(provider: Provider, { clients }: { clients: ClientSource }): void {
  Object.defineProperty(provider.OIDCContext.prototype, 'params', {
    configurable: true,
    get(this: RequestContext) {
      return this[PARAMS];
    },
    set(this: RequestContext, params: Params | undefined) {
      if (params) {
        defineAccessor(params, 'prompt', asSet);
        defineAccessor(params, 'response_type', asSet);
        defineAccessor(params, 'resource', asCanonical);
        defineAccessor(params, 'scope', asSet, (sent) => effectiveScope(this, params, sent, clients));
      }
      this[PARAMS] = params;
    },
  });
}

/** Replaces a parameter that was sent: `normalize` is applied when it is assigned, `read` each time that it is read. */
function defineAccessor(
  params: Params,
  name: string,
  normalize: (sent: unknown) => unknown,
  read: (value: unknown) => unknown = (value) => value,
): void {
  if (!Object.hasOwn(params, name)) return;
  let value = normalize(params[name]);
  Object.defineProperty(params, name, {
    enumerable: true,
    configurable: true,
    get: () => read(value),
    set: (sent: unknown) => {
      value = normalize(sent);
    },
  });
}

/** The scope of a request: what was sent, or the default; unchanged before the engine has found the client. */
function effectiveScope({ client, route }: RequestContext, params: Params, sent: unknown, clients: ClientSource) {
  const application = client && clients.cachedApplicationOf(client.clientId);
  // A parameter that was sent twice is a list, which the engine rejects.
  if (!application || typeof sent === 'object') return sent;
  const { metadata } = application;
  if (route === 'token') {
    const isOwnRequest = params.grant_type === 'client_credentials' && params.resource !== undefined;
    return (isOwnRequest && defaultOfClient(sent, metadata.scope)) || sent;
  }
  if (!WITH_DEFAULT.has(route)) return sent;
  const registered = params.resource === undefined ? defaultOfUser(sent, metadata) : undefined;
  return registered ?? (isUnregistered(application) ? withoutProfile(sent) : sent);
}

/** The registered scopes of APIs, where none of them was requested. The engine leaves out those of other APIs. */
function defaultOfClient(sent: unknown, scope: string | undefined): string | undefined {
  const registered = scope?.split(' ') ?? [];
  if (requestsOneOf(registered, sent)) return undefined;
  return registered.filter((one) => !engineScopes.includes(one)).join(' ') || undefined;
}

/** The registered scopes about a user, where none of them was requested. */
function defaultOfUser(sent: unknown, metadata: ClientApplication['metadata']): string | undefined {
  const known = userScopes(metadata);
  if (metadata.scope === undefined || requestsOneOf(known, sent)) return undefined;
  const registered = metadata.scope.split(' ').filter((one) => engineScopes.includes(one) || known.includes(one));
  return registered.some((one) => known.includes(one)) ? registered.join(' ') : undefined;
}

const requestsOneOf = (scopes: readonly string[], sent: unknown) =>
  typeof sent === 'string' && sent.split(' ').some((one) => scopes.includes(one));

/** Of a client that nobody registered, only who the person is: some request every scope that discovery lists. */
function withoutProfile(sent: unknown): unknown {
  if (typeof sent !== 'string') return sent;
  const kept = sent.split(' ').filter((one) => !engineScopes.includes(one) || OF_UNREGISTERED.includes(one));
  return kept.join(' ') || undefined;
}

/** Each API once (RFC 8707 2); one alone is no list. */
function asCanonical(sent: unknown): unknown {
  if (typeof sent === 'string') return canonicalResource(sent);
  if (!Array.isArray(sent)) return sent;
  const all = [...new Set(sent.map(asCanonical))];
  return all.length === 1 ? all[0] : all;
}

/** The members with one space between; a parameter that was sent twice stays a list. */
function asSet(sent: unknown): unknown {
  return typeof sent === 'string' ? sent.split(/\s+/).filter(Boolean).join(' ') || undefined : sent;
}

// Patch: OIDCContext.prototype.params. RFC 6749 2.3.1 lets a client identify itself by Basic with an empty password, as golang.org/x/oauth2
// tries first for every public client. The engine rejects it; here it is the `client_id` of a public client.

/** Apply it after `completeRequestedScope`, whose accessor it completes. */
export function acceptEmptySecrets(
  { OIDCContext: { prototype } }: Provider,
  { clients }: { clients: ClientSource },
): void {
  const { get, set } = Object.getOwnPropertyDescriptor(prototype, 'params') ?? {};
  Object.defineProperty(prototype, 'params', {
    configurable: true,
    get,
    set(this: object, params: Params | undefined) {
      const { ctx } = Provider;
      const clientId = ctx && params && idWithoutSecret(ctx);
      const method = clientId && clients.cachedApplicationOf(clientId)?.metadata.token_endpoint_auth_method;
      // A confidential client gets the engine's error with its WWW-Authenticate header. Two different ids stay an error, too.
      if (ctx && params && clientId && (method ?? 'none') === 'none' && (params.client_id ?? clientId) === clientId) {
        delete ctx.req.headers.authorization;
        params.client_id = clientId;
      }
      set?.call(this, params);
    },
  });
}

/** The client_id in `Authorization: Basic` with an empty password. */
function idWithoutSecret(ctx: KoaContextWithOIDC): string | undefined {
  const [, encoded = ''] = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(ctx.get('Authorization')) ?? [];
  const [, id] = /^([^:]+):$/.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  try {
    return id && decodeURIComponent(id.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
