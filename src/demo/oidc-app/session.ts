// What the OpenID Connect application keeps: of a person who is signed in, and of a sign-in on its way.

export interface Session {
  subject: string;
  /** The session at Gatehouse that this one came from. */
  sid: string | undefined;
  idToken: string;
  refreshToken: string | undefined;
  claims: Record<string, unknown>;
  userinfo: Record<string, unknown>;
  accessTokenSeconds: number | undefined;
  tokensAt: Date;
  refreshes: number;
}

/** What must come back with the answer to a started sign-in. */
export interface StartedSignIn {
  state: string;
  nonce: string;
  codeVerifier: string;
}
