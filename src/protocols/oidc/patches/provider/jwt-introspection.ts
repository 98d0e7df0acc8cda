// Patch: Client.find and AccessToken.find. The engine rejects the introspection of a JWT with an error, because it stores none. Here it finds
// an access token of an API (RFC 9068) in the JWT itself, and goes on as with a stored one: the grant and the account must still be
// there. The answer is for the application that the token was issued to, and for the API: a confidential client that has it among
// its `resources` or `may_exchange`, or its identifier as client_id (RFC 7662 4). Any other JWT is inactive (RFC 7662 2.2).

import { createHash } from 'node:crypto';
import { createLocalJWKSet, type JWK, type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import { includesResource } from '../../../../applications/uris.ts';
import { defined } from '../../../../base/platform/defined.ts';
import type { PrivateJwk } from '../../../../core/keys/key-pair.ts';
import { keyAlgs } from '../../../../core/keys/rotation.ts';
import { withChosenGroup } from '../../claims/chosen-group.ts';
import { type Client, type KoaContextWithOIDC, Provider } from '../../engine/library.ts';
import type { ClientApplication, ClientSource } from '../../store/clients.ts';

const MAX_TOKEN_LENGTH = 16 * 1024;

const accessToken = z.looseObject({
  iat: z.int(),
  exp: z.int(),
  jti: z.string(),
  sub: z.string(),
  client_id: z.string(),
  aud: z.string(),
  scope: z.string().optional(),
  group: z.object({ id: z.string() }).optional(),
  cnf: z.object({ jkt: z.string().optional() }).optional(),
  act: z.looseObject({ sub: z.string() }).optional(),
});

/** The engine's own members of the answer; every other claim is additional. */
const STANDARD = new Set(['iss', 'iat', 'exp', 'jti', 'sub', 'client_id', 'aud', 'scope', 'cnf']);

/** The `jti` of a JWT access token: its own, and the grant that it was issued under. Neither gives any right. */
export function jtiWithGrant(jti: string, grantId: string | undefined): string {
  return grantId === undefined ? jti : `${jti}.${grantId}`;
}

/** What verifies; RFC 7518 6, RFC 8037 2. */
const publicPart = ({ kty, kid, alg, use, n, e, crv, x, y }: PrivateJwk): JWK =>
  defined({ kty, kid, alg, use, n, e, crv, x, y });

export interface JwtTokenDependencies {
  clients: ClientSource;
  /** Whether the API issues JWTs, and this application may have one for it now. */
  mayHoldTokenFor(identifier: string, application: ClientApplication): Promise<boolean>;
  /** The private keys of the moment; a change makes a new Provider. */
  jwks(): { keys: PrivateJwk[] };
}

type JwtClaims = z.output<typeof accessToken> & JWTPayload;

/** The applications that a token came through (RFC 8693 4.1), its own first and that of the sign-in last. */
export function actorsOf({ client_id, act }: JwtClaims): string[] {
  const actors: string[] = [];
  for (let one: unknown = act; typeof one === 'object' && one !== null; one = (one as { act?: unknown }).act)
    actors.push(String((one as { sub?: unknown }).sub));
  return actors.length === 0 ? [client_id] : actors;
}

/** Reads access tokens of APIs (RFC 9068 4). */
export function createJwtAccessTokens(provider: Provider, { clients, mayHoldTokenFor, jwks }: JwtTokenDependencies) {
  const keys = createLocalJWKSet({ keys: jwks().keys.map(publicPart) });
  return {
    /** What the token says; undefined for one that is not of this server, or has expired. */
    async verified(jwt: string): Promise<JwtClaims | undefined> {
      if (jwt.length > MAX_TOKEN_LENGTH) return undefined;
      try {
        const options = { issuer: provider.issuer, typ: 'at+jwt', algorithms: [...keyAlgs] };
        return accessToken.parse((await jwtVerify(jwt, keys, options)).payload);
      } catch {
        return undefined;
      }
    },

    /** The token as a stored one; undefined where its grant has ended, or the application may not use the API any more. */
    async tokenOf(payload: JwtClaims) {
      const { client_id: clientId, iat, exp, jti, aud, scope, sub, cnf } = payload;
      const actors = actorsOf(payload);
      // There is no client when the application is disabled.
      for (const actor of actors) if (!(await provider.Client.find(actor))) return undefined;
      const application = await clients.applicationOf(clientId);
      // An administrator may have removed the API, or have taken it from the application.
      if (!application || !(await mayHoldTokenFor(aud, application))) return undefined;
      const extra = Object.fromEntries(Object.entries(payload).filter(([claim]) => !STANDARD.has(claim)));
      const common = { iat, exp, jti, aud, scope, clientId, extra, jkt: cnf?.jkt };
      const grantId = jti.split('.')[1];
      if (grantId === undefined) return sub === clientId ? new provider.ClientCredentials(common as never) : undefined;
      const grant = await provider.Grant.find(grantId);
      const isExchanged = actors.length > 1;
      // A token that was exchanged has the grant of the first application.
      if (!grant?.accountId || (isExchanged && grant.clientId !== actors.at(-1))) return undefined;
      return new provider.AccessToken({
        ...common,
        // The engine compares the client of the grant with that of the token.
        ...(!isExchanged && { grantId }),
        accountId: grant.accountId,
        claims: withChosenGroup({}, payload.group?.id),
      } as never);
    },
  };
}

export function introspectJwts(provider: Provider, dependencies: JwtTokenDependencies): void {
  const { clients } = dependencies;
  const { verified, tokenOf } = createJwtAccessTokens(provider, dependencies);
  const jwts = new WeakMap<object, string>();

  const { find: findClient } = provider.Client;
  provider.Client.find = async function findAtIntrospection(id: string) {
    const { ctx } = Provider;
    const token: unknown = ctx?.oidc.route === 'introspection' ? ctx.oidc.params?.token : undefined;
    if (ctx?.oidc.params && typeof token === 'string' && token.includes('.')) {
      jwts.set(ctx.req, token);
      // What the engine looks up as an opaque token, and does not find.
      ctx.oidc.params.token = createHash('sha256').update(token).digest('base64url');
    }
    return findClient.call(provider.Client, id);
  };

  const { find } = provider.AccessToken;
  provider.AccessToken.find = async function findWithJwts(value: string, options?: object) {
    const { ctx } = Provider;
    const jwt = ctx && jwts.get(ctx.req);
    return ctx && jwt !== undefined ? introspected(ctx, jwt) : find.call(provider.AccessToken, value, options);
  } as typeof find;

  async function introspected(ctx: KoaContextWithOIDC, jwt: string) {
    const payload = await verified(jwt);
    const caller = ctx.oidc.client;
    return payload && caller && (await mayReceive(caller, payload)) ? tokenOf(payload) : undefined;
  }

  async function mayReceive(caller: Client, { client_id, aud }: { client_id: string; aud: string }): Promise<boolean> {
    if (caller.clientId === client_id) return true;
    if (caller.clientAuthMethod === 'none') return false;
    const { resources = [], may_exchange = [] } = (await clients.applicationOf(caller.clientId))?.metadata ?? {};
    return caller.clientId === aud || includesResource([...resources, ...may_exchange], aud);
  }
}
