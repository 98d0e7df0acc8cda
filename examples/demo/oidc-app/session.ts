// The session of the OpenID Connect application, and the state of a sign-in in progress.

export interface Session {
  subject: string;
  /** The `sid` of the session at Gatehouse. */
  sid: string | undefined;
  idToken: string;
  refreshToken: string | undefined;
  claims: Record<string, unknown>;
  userinfo: Record<string, unknown>;
  accessTokenSeconds: number | undefined;
  tokensAt: Date;
  refreshes: number;
}

/** What the response to a sign-in must match. */
export interface StartedSignIn {
  state: string;
  nonce: string;
  codeVerifier: string;
}
