// The engine's options, one block for each table of the seed (2.1, 2.2, 2.4, 4.1, 5.1, 5.2, 8). Every default of
// oidc-provider that is not ours is set here, so that an upgrade changes nothing unseen.

import { claimsByScope } from '../accounts/claims.ts';
import type { CookieKeys } from '../http/context.ts';
import { limits } from '../limits.ts';
import { ADMISSION_PARAMETER } from './admission.ts';
import { clientBasedCORS } from './cors.ts';
import { createIntrospectionPolicy } from './introspection.ts';
import type { Configuration, FindAccount, KoaContextWithOIDC } from './library.ts';

/** The contract's routes. */
export const routes = {
  authorization: '/authorize',
  token: '/token',
  jwks: '/jwks',
  userinfo: '/userinfo',
  introspection: '/introspect',
  revocation: '/revoke',
  pushed_authorization_request: '/par',
  code_verification: '/device',
  device_authorization: '/device/code',
  registration: '/register',
  end_session: '/end-session',
} as const;

const SIGNING = ['RS256', 'ES256'] as const;
const SIGNING_AND_HMAC = [...SIGNING, 'HS256'] as const;
const CLIENT_SIGNING = [...SIGNING, 'PS256', 'EdDSA', 'Ed25519'] as const;

type Pages = Pick<Configuration, 'renderError'> & {
  logoutSource: NonNullable<NonNullable<Configuration['features']>['rpInitiatedLogout']>['logoutSource'];
  postLogoutSuccessSource: NonNullable<
    NonNullable<Configuration['features']>['rpInitiatedLogout']
  >['postLogoutSuccessSource'];
  device: Pick<
    NonNullable<NonNullable<Configuration['features']>['deviceFlow']>,
    'userCodeInputSource' | 'userCodeConfirmSource' | 'successSource'
  >;
};

export interface ConfigurationNeeds {
  jwks: Configuration['jwks'];
  adapter: Configuration['adapter'];
  findAccount: FindAccount;
  loadExistingGrant: Configuration['loadExistingGrant'];
  prompts: NonNullable<Configuration['interactions']>['policy'];
  admit(ctx: KoaContextWithOIDC): Promise<void>;
  acrValues: string[];
  cookieKeys: CookieKeys;
  secure: boolean;
  sessionCookie: string;
  dpopNonceSecret: Buffer;
  settings(): { sessionHours: number; accessTokenMinutes: number };
  resourceServer: NonNullable<NonNullable<Configuration['features']>['resourceIndicators']>['getResourceServerInfo'];
  pairwiseIdentifier: Configuration['pairwiseIdentifier'];
  extraTokenClaims: Configuration['extraTokenClaims'];
  clientSecret(): string;
  fetch: Configuration['fetch'];
  pages: Pages;
}

/** The engine's own clock, in epoch seconds: its lifetimes are reckoned by it. */
export const engineSeconds = () => Math.floor(Date.now() / 1000);

export function createConfiguration(needs: ConfigurationNeeds): Configuration {
  const accessTokenSeconds = () => needs.settings().accessTokenMinutes * 60;
  return {
    jwks: needs.jwks,
    adapter: needs.adapter,
    routes: { ...routes },

    // 2.2, 5.2: the code flow and nothing else; `none` is the response type of SAML applications alone.
    responseTypes: ['code', 'none'],
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    scopes: ['openid', 'offline_access'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'],
    clientDefaults: {
      grant_types: ['authorization_code'],
      response_types: ['code'],
      id_token_signed_response_alg: 'RS256',
      token_endpoint_auth_method: 'client_secret_basic',
    },
    clientBasedCORS,
    acceptQueryParamAccessTokens: false,
    enableHttpPostMethods: false, // needs SameSite=None cookies; front.ts turns POST into GET instead

    // 2.1, 5.1: explicit algorithm lists; `none` is in none of them.
    enabledJWA: {
      idTokenSigningAlgValues: [...SIGNING_AND_HMAC],
      userinfoSigningAlgValues: [...SIGNING_AND_HMAC],
      introspectionSigningAlgValues: [...SIGNING],
      authorizationSigningAlgValues: [...SIGNING],
      clientAuthSigningAlgValues: [...CLIENT_SIGNING, 'HS256'],
      requestObjectSigningAlgValues: [...CLIENT_SIGNING, 'HS256'],
      dPoPSigningAlgValues: ['ES256', 'EdDSA', 'Ed25519'],
    },
    clockTolerance: limits.clockSkew.seconds,

    // 2.2: claims. They are in the ID token too, as the seed has it and as some clients expect.
    conformIdTokenClaims: false,
    // acr, amr and auth_time are always there: an application need not ask how somebody signed in.
    claims: {
      ...mutable(claimsByScope),
      openid: ['sub', 'acr', 'amr', 'auth_time'],
      iss: null,
      sid: null,
    },
    acrValues: needs.acrValues,
    subjectTypes: ['public', 'pairwise'],
    pairwiseIdentifier: needs.pairwiseIdentifier,
    findAccount: needs.findAccount,
    loadExistingGrant: needs.loadExistingGrant,
    extraTokenClaims: needs.extraTokenClaims,

    // 5.1.4, 8: lifetimes.
    ttl: {
      AccessToken: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? accessTokenSeconds(),
      ClientCredentials: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? accessTokenSeconds(),
      AuthorizationCode: limits.authorizationCode.seconds,
      DeviceCode: limits.deviceCode.seconds,
      IdToken: limits.idToken.seconds,
      Interaction: limits.interaction.seconds,
      // A session ends that long after the sign-in, however much it is used.
      Session: (_ctx, session) => {
        if (!session.accountId) return limits.interaction.seconds;
        return Math.max(
          1,
          (session.loginTs ?? engineSeconds()) + needs.settings().sessionHours * 3600 - engineSeconds(),
        );
      },
      // A grant lives as long as what was made from it can.
      Grant: (ctx, grant) => {
        if (grant.getOIDCScope().split(' ').includes('offline_access')) return limits.grant.seconds;
        const exp = ctx.oidc.session?.exp ?? engineSeconds() + needs.settings().sessionHours * 3600;
        return Math.max(1, exp - engineSeconds()) + accessTokenSeconds();
      },
      RefreshToken: (ctx, token, client) => {
        const rotated = ctx.oidc.entities.RotatedRefreshToken;
        const unbound = client.clientAuthMethod === 'none' && !token.isSenderConstrained();
        // RFC 9700 4.14.2: what a browser keeps without proof of possession can't be stretched for ever.
        return rotated && unbound ? rotated.remainingTTL : limits.refreshToken.seconds;
      },
    },
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client, code) =>
      client.grantTypeAllowed('refresh_token') && code.scopes.has('offline_access'),
    expiresWithSession: async (_ctx, token) => !token.scopes.has('offline_access'),
    revokeGrantPolicy: (ctx) => !(ctx.oidc.route === 'revocation' && ctx.oidc.entities.AccessToken),

    // 2.4, 5.4: cookies.
    cookies: {
      names: {
        session: needs.sessionCookie,
        // The engine ties these two to the path of their own step, which the __Host- prefix forbids.
        interaction: 'gatehouse_interaction',
        resume: 'gatehouse_resume',
      },
      long: { httpOnly: true, sameSite: 'lax', path: '/', signed: true, overwrite: true, secure: needs.secure },
      short: { httpOnly: true, sameSite: 'lax', signed: true, overwrite: true, secure: needs.secure },
      keys: needs.cookieKeys as never,
    },

    interactions: { policy: needs.prompts, url: (_ctx, interaction) => `/signin/${interaction.uid}` },
    extraParams: { [ADMISSION_PARAMETER]: needs.admit },
    renderError: needs.pages.renderError,
    fetch: needs.fetch,

    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: needs.pages.logoutSource,
        postLogoutSuccessSource: needs.pages.postLogoutSuccessSource,
      },
      claimsParameter: { enabled: true },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true, charset: 'base-20', mask: '****-****', ...needs.pages.device },
      dPoP: { enabled: true, nonceSecret: needs.dpopNonceSecret, requireNonce: () => false },
      encryption: { enabled: false },
      introspection: {
        enabled: true,
        allowedPolicy: createIntrospectionPolicy(needs.findAccount),
      },
      pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: false },
      registration: {
        enabled: true,
        initialAccessToken: true,
        issueRegistrationAccessToken: true,
        secretFactory: async () => needs.clientSecret(),
      },
      registrationManagement: { enabled: false },
      requestObjects: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: async (_ctx, _client, oneOf) => oneOf as never,
        // Without `resource` at the token endpoint the token is for userinfo when `openid` was asked for.
        useGrantedResource: async () => false,
        getResourceServerInfo: needs.resourceServer,
      },
      revocation: {
        enabled: true,
        // RFC 7009 2.1: its own tokens only; of others the answer does not even tell whether they exist.
        allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
      },
      userinfo: { enabled: true },
      jwtUserinfo: { enabled: true },
    },
  };
}

/** The engine's typings want arrays that it might change. */
function mutable(table: Record<string, readonly string[]>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(table).map(([scope, claims]) => [scope, [...claims]]));
}
