// Protects an API with the access tokens of an authorization server: RFC 9068 (the tokens), RFC 6750 (the errors), RFC 9728 (where to get
// them), RFC 9470 (a stronger or newer sign-in). Copy this file; it needs Node.js and jose, and nothing of Gatehouse.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';

export interface Api {
  /** Its identifier, which is the audience of its tokens: for an MCP server its address. */
  resource: string;
  /** The authorization server. */
  issuer: string;
  /** All its scopes. */
  scopes: readonly string[];
}

/** What a request needs. */
export interface Need {
  scope: string;
  /** The levels of sign-in that are enough. */
  acr?: readonly string[];
  /** How old the sign-in may be, in seconds. */
  maxAge?: number;
}

export interface Caller {
  /** The person. */
  subject: string;
  /** The application, and those that it acts for (RFC 8693 4.1), the newest first. */
  applications: string[];
  scopes: readonly string[];
}

export type Protection = ReturnType<typeof protect>;

export function protect({ resource, issuer, scopes }: Api) {
  const { origin, pathname } = new URL(resource);
  const metadataPath = `/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`;
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));

  return {
    /** Serves the metadata (RFC 9728 3); false for another path. Every origin may read it: clients run in browsers, too. */
    answerMetadata(request: IncomingMessage, response: ServerResponse): boolean {
      if (request.url?.split('?', 1)[0] !== metadataPath) return false;
      const metadata = {
        resource,
        authorization_servers: [issuer],
        scopes_supported: scopes,
        bearer_methods_supported: ['header'],
      };
      response.writeHead(200, { 'content-type': 'application/json', 'access-control-allow-origin': '*' });
      response.end(JSON.stringify(metadata));
      return true;
    },

    /** Who calls; undefined after a request that lacks something was answered with 401 or 403. */
    async caller(request: IncomingMessage, response: ServerResponse, need: Need): Promise<Caller | undefined> {
      const [, token] = /^Bearer ([\w.~+/-]+=*)$/i.exec(request.headers.authorization ?? '') ?? [];
      // Without a token, no error: it says what to ask for (RFC 6750 3).
      if (token === undefined) return challenge(response, 401, { scope: need.scope });
      const payload = await verified(token);
      // A token that is bound to a key (`cnf`, RFC 9449) is none for its bearer.
      if (payload === undefined || payload.cnf !== undefined)
        return challenge(response, 401, { error: 'invalid_token', scope: need.scope });
      const held = String(payload.scope ?? '').split(' ');
      // A client asks for what it has and this scope; with this one alone, it would lose the others.
      const missing = { error: 'insufficient_scope', scope: [...new Set([...held, need.scope])].join(' ').trim() };
      if (!held.includes(need.scope)) return challenge(response, 403, missing);
      if (!isSignedInFor(need, payload))
        return challenge(response, 401, {
          error: 'insufficient_user_authentication',
          ...(need.acr && { acr_values: need.acr.join(' ') }),
          ...(need.maxAge !== undefined && { max_age: String(need.maxAge) }),
        });
      return { subject: String(payload.sub), applications: applicationsIn(payload), scopes: held };
    },
  };

  async function verified(token: string): Promise<JWTPayload | undefined> {
    try {
      return (await jwtVerify(token, keys, { issuer, audience: resource, typ: 'at+jwt', clockTolerance: 10 })).payload;
    } catch (error) {
      // The keys could not be read: the token is not to blame.
      if (!(error instanceof errors.JOSEError) || error instanceof errors.JWKSTimeout) throw error;
      return undefined;
    }
  }

  function challenge(response: ServerResponse, status: 401 | 403, parameters: Record<string, string>): undefined {
    const all = { ...parameters, resource_metadata: `${origin}${metadataPath}` };
    const header = Object.entries(all).map(([name, value]) => `${name}="${value}"`);
    response.writeHead(status, {
      'www-authenticate': `Bearer ${header.join(', ')}`,
      'content-type': 'application/json',
    });
    response.end(JSON.stringify({ error: parameters.error ?? 'unauthorized' }));
    return undefined;
  }
}

function isSignedInFor({ acr, maxAge }: Need, { acr: proven, auth_time: at }: JWTPayload): boolean {
  const isStrong = acr === undefined || acr.includes(String(proven));
  return isStrong && (maxAge === undefined || Date.now() / 1000 - Number(at ?? 0) <= maxAge);
}

function applicationsIn({ client_id, act }: JWTPayload): string[] {
  const found: string[] = [];
  for (let one = act as { sub?: string; act?: unknown } | undefined; one; one = one.act as typeof one)
    found.push(String(one.sub));
  return found.length === 0 ? [String(client_id)] : found;
}
