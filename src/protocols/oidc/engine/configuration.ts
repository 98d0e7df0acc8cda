// The engine's options as one table. Each default of oidc-provider that this server relies on is set here too, so that an
// upgrade changes nothing unnoticed.

import { needsPkce } from '../../../applications/fields/oidc-client.ts';
import { limits } from '../../../base/limits.ts';
import { randomToken } from '../../../base/platform/random.ts';
import { keyAlgs } from '../../../core/keys/rotation.ts';
import { claimsByScope } from '../../../people/accounts/claims.ts';
import { acrValues, FEDERATED_ACR } from '../../../people/mfa/acr.ts';
import { createExtraTokenClaims, createFindAccount, createIntrospectionPolicy } from '../claims/find-account.ts';
import { sectorOfClient } from '../claims/pairwise-subjects.ts';
import { createResourceServers } from '../claims/resource-servers.ts';
import { ID_JAG } from '../identity-assertions.ts';
import type { OidcServices } from '../oidc-services.ts';
import { createDevicePages, createErrorPage, createLogoutPages } from '../pages.ts';
import { jtiWithGrant } from '../patches/provider/jwt-introspection.ts';
import { extraClientMetadata, newClientId, registrationPolicies } from '../registration.ts';
import { createArtifactAdapter } from '../store/adapter.ts';
import { createGrantLoader } from '../store/grants.ts';
import { createRefreshTokenAdapter } from '../store/refresh-token-retries.ts';
import { createSessionAdapter } from '../store/sessions/session-adapter.ts';
import { createPrompts } from './interaction-policy.ts';
import {
  type Adapter,
  type AdapterPayload,
  type Client,
  type Configuration,
  engineSeconds,
  errors,
  type FindAccount,
  type KoaContextWithOIDC,
  Provider,
} from './library.ts';
import { createProfileChecks, profileOf } from './profile-checks.ts';
import { createRequestCheck, REQUEST_CHECK_PARAMETER } from './requests/request-checks.ts';
import { routes } from './routes.ts';

const SIGNING_AND_HMAC = [...keyAlgs, 'HS256'] as const;
const CLIENT_SIGNING = [...keyAlgs, 'Ed25519'] as const;

type Features = NonNullable<Configuration['features']>;

const profileChecks = createProfileChecks(engineSeconds);

/** Entries of the discovery document beside the engine's own. */
const discovery = {
  // OpenID Connect Front-Channel Logout 1.0, section 3: served by src/protocols/logout.
  frontchannel_logout_supported: true,
  frontchannel_logout_session_supported: true,
  // draft-ietf-oauth-identity-assertion-authz-grant: issued (6.2), and accepted (6.3).
  identity_chaining_requested_token_types_supported: [ID_JAG],
  authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
  prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
};

export function createConfiguration(services: OidcServices): Configuration {
  const { clients, keyring, outgoing, settings, subjects } = services;
  const findAccount = createFindAccount(services);
  const resources = createResourceServers(services);
  const logoutPages = createLogoutPages(services);
  return {
    jwks: keyring.jwks() as never,
    adapter: createEngineAdapters(services),
    routes: { ...routes },

    // Flows: authorization code, with PKCE unless the registration says otherwise, and nothing else; `none` is the response type of SAML service providers only.
    responseTypes: ['code', 'none'],
    pkce: { required: (_ctx, { clientId }) => needsPkce(clients.cachedApplicationOf(clientId)?.metadata ?? {}) },
    allowOmittingSingleRegisteredRedirectUri: false,
    scopes: ['openid', 'offline_access'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'],
    clientDefaults: {
      grant_types: ['authorization_code'],
      response_types: ['code'],
      id_token_signed_response_alg: 'RS256',
      token_endpoint_auth_method: 'client_secret_basic',
      // Products such as Synapse and Nextcloud reject a logout token without `sid`, and no one rejects it for having one.
      backchannel_logout_session_required: true,
    },
    extraClientMetadata: extraClientMetadata(() => settings.latest().signing_algorithms),
    assertJwtClientAuthClaimsAndHeader: profileChecks.assertClientAssertion,
    // An error for an unknown origin would end native apps that send one; patches/http.ts decides.
    clientBasedCORS: () => true,
    acceptQueryParamAccessTokens: false,
    enableHttpPostMethods: false, // needs SameSite=None cookies; patches/http.ts serves POST instead

    enabledJWA: signingAlgorithms(),
    clockTolerance: limits.clockSkew.seconds,

    // Claims are in the ID token as well as in userinfo, because some clients read only the former.
    conformIdTokenClaims: false,
    // acr, amr and auth_time are in every ID token.
    claims: {
      ...mutable(claimsByScope),
      openid: ['sub', 'acr', 'amr', 'auth_time'],
      iss: null,
      sid: null,
      group: null,
    },
    acrValues: [...acrValues, FEDERATED_ACR],
    subjectTypes: ['public', 'pairwise'],
    pairwiseIdentifier: async (_ctx, accountId, client) => subjects.of(sectorOfClient(client), accountId),
    findAccount,
    loadExistingGrant: createGrantLoader(services),
    extraTokenClaims: createExtraTokenClaims(services),
    formats: {
      customizers: {
        jwt(_ctx, token, { payload }) {
          if (payload) payload.jti = jtiWithGrant(token.jti, 'grantId' in token ? token.grantId : undefined);
        },
      },
    },

    ...tokenOptions(services),
    cookies: cookieOptions(services),

    interactions: { policy: createPrompts(services), url: (_ctx, interaction) => `/signin/${interaction.uid}` },
    // `connection`: the upstream identity provider to go to, without the choice on the sign-in page. `group`: claims/chosen-group.ts.
    extraParams: {
      [REQUEST_CHECK_PARAMETER]: createRequestCheck(services, resources.registeredScopes),
      connection: null,
      group: null,
    },
    discovery,
    renderError: createErrorPage(services, logoutPages),
    fetch: outgoing as never,

    features: features(services, { findAccount, resources, logoutPages }),
  };
}

/** Algorithms (RFC 8725 3.1): explicit lists, none of which holds `none`. */
function signingAlgorithms(): Configuration['enabledJWA'] {
  return {
    idTokenSigningAlgValues: [...SIGNING_AND_HMAC],
    userinfoSigningAlgValues: [...SIGNING_AND_HMAC],
    introspectionSigningAlgValues: [...keyAlgs],
    authorizationSigningAlgValues: [...keyAlgs],
    clientAuthSigningAlgValues: [...CLIENT_SIGNING, 'HS256'],
    requestObjectSigningAlgValues: [...CLIENT_SIGNING, 'HS256'],
    dPoPSigningAlgValues: ['PS256', 'ES256', 'EdDSA', 'Ed25519'],
  };
}

/** Lifetimes of tokens, and when they are issued, rotated and revoked. */
function tokenOptions(services: OidcServices): Configuration {
  return {
    ttl: lifetimes(services),
    // FAPI 2.0 Security Profile 5.3.2.1-9: rotation protects nothing where the client proves itself and each token is bound to a key.
    rotateRefreshToken: ({ oidc: { client } }) => client === undefined || rotatesRefreshTokens(client),
    issueRefreshToken: async (_ctx, client, code) =>
      client.grantTypeAllowed('refresh_token') && code.scopes.has('offline_access'),
    expiresWithSession: async (_ctx, token) => !token.scopes.has('offline_access'),
    revokeGrantPolicy: (ctx) => !(ctx.oidc.route === 'revocation' && ctx.oidc.entities.AccessToken),
  };
}

/** Names and attributes of the engine's cookies (docs/security.md). */
function cookieOptions({
  config: { secure },
  cookies,
  cookieKeys,
}: OidcServices): NonNullable<Configuration['cookies']> {
  return {
    names: {
      session: cookies.nameOf('session'),
      // The engine limits these two to the path of their own step, which the __Host- prefix forbids.
      interaction: 'gatehouse_interaction',
      resume: 'gatehouse_resume',
    },
    long: { httpOnly: true, sameSite: 'lax', path: '/', signed: true, overwrite: true, secure },
    short: { httpOnly: true, sameSite: 'lax', signed: true, overwrite: true, secure },
    keys: cookieKeys as never,
  };
}

/** The parts of the protocol that are switched on, and how each is bounded. */
function features(
  services: OidcServices,
  {
    findAccount,
    resources,
    logoutPages,
  }: {
    findAccount: FindAccount;
    resources: ReturnType<typeof createResourceServers>;
    logoutPages: ReturnType<typeof createLogoutPages>;
  },
): Features {
  const { logoutSource, postLogoutSuccessSource } = logoutPages;
  return {
    devInteractions: { enabled: false },
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: { enabled: true, logoutSource, postLogoutSuccessSource },
    claimsParameter: { enabled: true },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true, charset: 'base-20', mask: '****-****', ...createDevicePages(services) },
    dPoP: {
      enabled: true,
      nonceSecret: services.vault.deriveKey('dpop-nonce'),
      requireNonce: profileChecks.requireNonce,
    },
    encryption: { enabled: false },
    introspection: {
      enabled: true,
      allowedPolicy: createIntrospectionPolicy(services, findAccount),
    },
    pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: false },
    registration: {
      enabled: true,
      initialAccessToken: true,
      issueRegistrationAccessToken: true,
      idFactory: newClientId,
      secretFactory: async () => randomToken(),
      policies: registrationPolicies,
    },
    registrationManagement: { enabled: true, rotateRegistrationAccessToken: true },
    requestObjects: { enabled: true, assertJwtClaimsAndHeader: profileChecks.assertRequestObject },
    jwtResponseModes: { enabled: true },
    jwtIntrospection: { enabled: true },
    // What it adds to the checks of engine/profile-checks.ts is little, and may grow with the engine.
    fapi: { enabled: true, profile: (_ctx, client) => (profileOf(client) ? '2.0' : undefined) },
    resourceIndicators: {
      enabled: true,
      defaultResource: async (ctx, _client, oneOf) => (oneOf ?? resources.defaultResource(ctx)) as never,
      // Without `resource` at the token endpoint the token is for userinfo when `openid` was granted.
      useGrantedResource: async () => false,
      getResourceServerInfo: resources.resourceServer,
    },
    revocation: {
      enabled: true,
      // RFC 7009 2.1: a client's own tokens only; the response does not say whether others exist.
      allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
    },
    userinfo: { enabled: true },
    jwtUserinfo: { enabled: true },
  };
}

/** oidc-provider's types require mutable arrays. */
function mutable(table: Record<string, readonly string[]>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(table).map(([scope, claims]) => [scope, [...claims]]));
}

const DAY_SECONDS = 24 * 3600;

/** Whether each use of a refresh token of this client replaces it: not for a confidential client whose tokens are bound to a key. */
function rotatesRefreshTokens({ clientAuthMethod, dpopBoundAccessTokens }: Client): boolean {
  return clientAuthMethod === 'none' || dpopBoundAccessTokens !== true;
}

/** Seconds without use after which a refresh token ends; a use that replaces nothing leaves no trace to count from. */
function idleLimit(client: Client): number {
  return rotatesRefreshTokens(client) ? limits.refreshToken.seconds : Number.MAX_SAFE_INTEGER;
}

/** No token outlives an account that has an end: an API that verifies it itself does not ask here. */
function withinAccount(ctx: KoaContextWithOIDC | undefined, seconds: number): number {
  // Without a request of the engine: a hint for its sign-out.
  const { activeUntil } = (ctx?.oidc.account?.record ?? {}) as { activeUntil?: Date | null };
  if (!activeUntil) return seconds;
  return Math.max(1, Math.min(seconds, Math.floor(activeUntil.getTime() / 1000) - engineSeconds()));
}

/** oidc-provider's `ttl`: lifetimes in seconds. */
function lifetimes({ clients, settings }: OidcServices): NonNullable<Configuration['ttl']> {
  /** Of the lifetimes of a client's own and the setting of its name, the shorter counts. */
  const ownOf = ({ clientId }: Client) => clients.cachedApplicationOf(clientId)?.metadata ?? {};
  const accessTokenSeconds = (client?: Client) => {
    const { access_token_minutes: most } = settings.latest();
    return 60 * Math.min(most, (client && ownOf(client).access_token_minutes) ?? most);
  };
  const refreshTokenDays = (client: Client) => {
    const { refresh_token_days: most } = settings.latest();
    return Math.min(most, ownOf(client).refresh_token_days ?? most);
  };
  const sessionSeconds = () => settings.latest().session_hours * 3600;
  return {
    AccessToken: (ctx, token, client) =>
      withinAccount(ctx, token.resourceServer?.accessTokenTTL ?? accessTokenSeconds(client)),
    ClientCredentials: (_ctx, token, client) => token.resourceServer?.accessTokenTTL ?? accessTokenSeconds(client),
    AuthorizationCode: limits.authorizationCode.seconds,
    DeviceCode: limits.deviceCode.seconds,
    IdToken: (ctx) => withinAccount(ctx, limits.idToken.seconds),
    Interaction: limits.interaction.seconds,
    // The latest end; the idle limit is in store/sessions/sessions.ts (docs/decisions/0026-idle-and-absolute-session.md).
    Session: (_ctx, { accountId, loginTs = engineSeconds() }) =>
      accountId ? Math.max(1, loginTs + sessionSeconds() - engineSeconds()) : limits.interaction.seconds,
    // A grant outlives every token that was issued under it.
    Grant: (ctx, grant) => {
      if (grant.getOIDCScope().split(' ').includes('offline_access')) return limits.grant.seconds;
      const exp = ctx.oidc.session?.exp ?? engineSeconds() + sessionSeconds();
      return Math.max(1, exp - engineSeconds()) + accessTokenSeconds();
    },
    RefreshToken: (ctx, token, client) => {
      const rotated = ctx.oidc.entities.RotatedRefreshToken;
      const isBearer = client.clientAuthMethod === 'none' && !token.isSenderConstrained();
      // RFC 9700 4.14.2: rotation does not extend a public client's refresh token without proof of possession.
      const idle = rotated && isBearer ? rotated.remainingTTL : idleLimit(client);
      const { iiat = engineSeconds() } = token; // when the first token of the rotation was issued
      const seconds = Math.min(idle, iiat + refreshTokenDays(client) * DAY_SECONDS - engineSeconds());
      return withinAccount(ctx, Math.max(1, seconds));
    },
  };
}

/** oidc-provider's `adapter`: what stores each of its models. */
function createEngineAdapters(services: OidcServices) {
  const { clients, logout, rateLimits, refreshTokenRetries } = services;
  const isTooSoon = async (deviceCode: string) => !(await rateLimits.consume('device:poll', deviceCode)).allowed;
  return function adapterOf(model: string): Adapter {
    if (model === 'Client') return clients.adapter;
    if (model === 'RefreshToken') {
      const adapter = createArtifactAdapter(model, services, refreshTokenRetries.mayRetry);
      return createRefreshTokenAdapter(adapter, refreshTokenRetries);
    }
    const adapter = createArtifactAdapter(model, services);
    if (model === 'Session') return createSessionAdapter(adapter, logout.endSession);
    if (model === 'DeviceCode') return createDeviceCodeAdapter(adapter, isTooSoon);
    return adapter;
  };
}

/**
 * @param adapter stores the device codes
 * @param isTooSoon counts a poll of this device code; true when it came too soon after the last one
 */
export function createDeviceCodeAdapter(
  adapter: Adapter,
  isTooSoon: (deviceCode: string) => Promise<boolean>,
): Adapter {
  return {
    ...adapter,
    async find(deviceCode) {
      const stored = await adapter.find(deviceCode);
      const oidc = Provider.ctx?.oidc;
      const isPoll = oidc?.route === 'token' && stored && stored.clientId === oidc.client?.clientId;
      if (isPoll && isPending(stored) && (await isTooSoon(deviceCode))) throw new errors.SlowDown();
      return stored;
    },
  };
}

function isPending({ accountId, error, exp = 0 }: AdapterPayload): boolean {
  return !accountId && !error && exp > engineSeconds();
}
