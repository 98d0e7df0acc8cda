// Every override of oidc-provider: three lists, each in the order in which it is applied. One test in
// test/contracts/patches for each; why it exists and what to ask upstream: patches/README.md.

import type { Base } from '../../base/base.ts';
import type { Context } from '../../base/http/context.ts';
import type { Cookies } from '../../base/http/cookies.ts';
import type { PrivateJwk } from '../../core/keys/key-pair.ts';
import type { KoaContextWithOIDC, Provider } from './engine/library.ts';
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
import { acceptEmptySecrets, completeRequestedScope } from './patches/parameters.ts';
import { addApplicationClaims } from './patches/provider/client-claims.ts';
import { type ClientKeySets, limitClientKeys } from './patches/provider/client-key-sets.ts';
import { introspectJwts } from './patches/provider/jwt-introspection.ts';
import { type QueueLogoutToken, queueLogoutTokens } from './patches/provider/logout-token-queue.ts';
import { separateAuthTime } from './patches/provider/session-auth-time.ts';
import { mergeSessionsOnSave, type SessionSavingDependencies } from './patches/provider/session-saving.ts';
import { acceptEveryAlgorithm, deriveSuccessor, includeSessionId } from './patches/tokens.ts';
import type { ReportRejectedClient } from './registration.ts';
import type { ClientSource } from './store/clients.ts';
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
  isRegisteredApi: (identifier: string) => Promise<boolean>;
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
