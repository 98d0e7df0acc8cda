// Verifies the logout token that Gatehouse posts when a session ends (OpenID Connect Back-Channel Logout 1.0 section 2.6).
import { createRemoteJWKSet, jwtVerify } from 'jose';
import type { Configuration } from 'openid-client';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

export type LogoutTokenCheck = (token: string) => Promise<{ sid: string | undefined; subject: string | undefined }>;

/** Creates the verifier; it throws when the token is not issued by Gatehouse for this client. */
export function logoutTokenCheck(config: Configuration): LogoutTokenCheck {
  const { issuer, jwks_uri } = config.serverMetadata();
  if (!jwks_uri) throw new Error('Discovery names no key set.');
  const keys = createRemoteJWKSet(new URL(jwks_uri));
  const seen = new Set<string>();

  return async (token) => {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: config.clientMetadata().client_id,
      typ: 'logout+jwt',
      algorithms: ['RS256'],
      maxTokenAge: '3 minutes',
      requiredClaims: ['iat', 'jti', 'events'],
    });
    const { events, nonce, jti = '', sid, sub } = payload;
    const isLogout = typeof events === 'object' && events !== null && EVENT in events;
    // A token with a nonce is an ID token, which other applications of the user have.
    if (!isLogout || nonce !== undefined) throw new Error('This is not a logout token.');
    if (seen.has(jti)) throw new Error('This logout token was used before.');
    seen.add(jti);
    if (typeof sid !== 'string' && sub === undefined) throw new Error('The logout token names neither sid nor sub.');
    return { sid: typeof sid === 'string' ? sid : undefined, subject: sub };
  };
}
