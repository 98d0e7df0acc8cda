// A relying party made by another library, openid-client, and configured by discovery alone.
import * as oidc from 'openid-client';

export interface RelyingPartyOptions {
  issuer: string;
  clientId: string;
  /** Left out for a public client. */
  clientSecret?: string;
  /** Instead of client_secret_basic, e.g. `oidc.PrivateKeyJwt(key)`. */
  clientAuth?: oidc.ClientAuth;
  metadata?: Partial<oidc.ClientMetadata>;
  redirectUri: string;
}

/** A started sign-in: where to send the browser, and what the answer must match. */
export interface StartedSignIn {
  url: string;
  checks: oidc.AuthorizationCodeGrantChecks & {
    expectedState: string;
    expectedNonce: string;
    pkceCodeVerifier: string;
  };
}

export type TokenAnswer = oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers;

export interface RelyingParty {
  config: oidc.Configuration;
  /** Makes an authorization request with state, nonce and PKCE; parameters add to it or replace. */
  start(parameters?: Record<string, string>): Promise<StartedSignIn>;
  /** Redeems the code that the browser brought, with every check the library has. */
  finish(callback: string | URL, started: StartedSignIn): Promise<TokenAnswer>;
  refresh(refreshToken: string, parameters?: Record<string, string>): Promise<TokenAnswer>;
  userinfo(tokens: TokenAnswer): Promise<oidc.UserInfoResponse>;
  introspect(token: string): Promise<oidc.IntrospectionResponse>;
  revoke(token: string): Promise<void>;
  endSessionUrl(parameters?: Record<string, string>): string;
}

/** Discovers the provider and stands ready. */
export async function relyingParty(options: RelyingPartyOptions): Promise<RelyingParty> {
  const { clientSecret, redirectUri } = options;
  const config = await oidc.discovery(
    new URL(options.issuer),
    options.clientId,
    { ...(clientSecret ? { client_secret: clientSecret } : {}), ...options.metadata },
    options.clientAuth ?? (clientSecret ? oidc.ClientSecretBasic(clientSecret) : oidc.None()),
    { execute: [oidc.allowInsecureRequests] }, // plain http on loopback
  );

  return {
    config,
    async start(parameters = {}) {
      const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
      const expectedState = oidc.randomState();
      const expectedNonce = oidc.randomNonce();
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid profile email',
        state: expectedState,
        nonce: expectedNonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        ...parameters,
      });
      return { url: url.href, checks: { expectedState, expectedNonce, pkceCodeVerifier } };
    },
    finish: (callback, { checks }) => oidc.authorizationCodeGrant(config, new URL(callback), checks),
    refresh: (refreshToken, parameters) => oidc.refreshTokenGrant(config, refreshToken, parameters),
    userinfo: (tokens) =>
      oidc.fetchUserInfo(config, tokens.access_token, tokens.claims()?.sub ?? oidc.skipSubjectCheck),
    introspect: (token) => oidc.tokenIntrospection(config, token),
    revoke: (token) => oidc.tokenRevocation(config, token),
    endSessionUrl: (parameters) => oidc.buildEndSessionUrl(config, parameters).href,
  };
}
