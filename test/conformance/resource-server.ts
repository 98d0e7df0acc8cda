// The API of the plans without OpenID Connect, whose tokens UserInfo doesn't take: it takes only access tokens that are bound to a
// key (RFC 9449, section 7) and asks Gatehouse about each (RFC 7662).
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { calculateJwkThumbprint, EmbeddedJWK, type JWK, jwtVerify } from 'jose';

/** The members of an introspection response that count here. */
export interface Introspected {
  active: boolean;
  cnf?: { jkt?: string };
}

const SECONDS_OF_A_PROOF = 60;

export function createResourceServer(url: string, introspect: (token: string) => Promise<Introspected>) {
  const seen = new Set<string>();

  return async function answer({ method, headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const fault = await faultOf(method, headers);
    if (fault) response.setHeader('www-authenticate', `DPoP error="${fault}", algs="ES256 PS256 EdDSA"`);
    response.writeHead(fault ? 401 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(fault ? { error: fault } : { records: [] }));
  };

  async function faultOf(method: string | undefined, headers: IncomingMessage['headers']): Promise<string | undefined> {
    const [, token] = /^DPoP (\S+)$/i.exec(headers.authorization ?? '') ?? [];
    if (token === undefined) return 'invalid_token';
    const key = await keyOfProof(String(headers.dpop), { method, token }).catch(() => undefined);
    if (!key) return 'invalid_dpop_proof';
    const { active, cnf } = await introspect(token);
    return active && cnf?.jkt === (await calculateJwkThumbprint(key)) ? undefined : 'invalid_token';
  }

  /** The key that signed a valid proof for this request (RFC 9449, section 4.3). */
  async function keyOfProof(
    proof: string,
    { method, token }: { method: string | undefined; token: string },
  ): Promise<JWK | undefined> {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: ['ES256', 'PS256', 'EdDSA'],
      requiredClaims: ['jti', 'htm', 'htu', 'iat', 'ath'],
    });
    const { jti = '', iat = 0, htm, htu, ath } = payload;
    const called = new URL(String(htu));
    const isForThisRequest = htm === method && called.origin + called.pathname === url;
    const isRecent = Math.abs(Date.now() / 1000 - iat) <= SECONDS_OF_A_PROOF;
    const isForThisToken = ath === createHash('sha256').update(token).digest('base64url');
    if (!isForThisRequest || !isRecent || !isForThisToken || seen.has(jti)) return undefined;
    seen.add(jti);
    return protectedHeader.jwk;
  }
}
