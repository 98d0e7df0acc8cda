// Identity assertions of an upstream (draft-ietf-oauth-identity-assertion-authz-grant): a company's identity provider, to which people of a
// connection sign in, says which of its people a client may act for here, without a page. Only a connection with `accept_id_jag` is believed.
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { sha256 } from '../../base/platform/random.ts';
import { isFirstUse } from '../../base/storage/seen-ids.ts';
import { isStorable } from '../../base/storage/storable-text.ts';
import type { Core } from '../../core/core.ts';
import type { IdentityAssertion } from '../../protocols/oidc/identity-assertions.ts';
import type { OidcConnection } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';
import type { ConnectionDocuments } from '../connections/documents.ts';
import { quirksOf } from '../connections/presets/presets.ts';
import { FederationError } from '../faults.ts';
import type { ExternalIdentities } from '../identities.ts';
import { invalid, verifiedOf } from '../logout/logout-token.ts';
import { TENANT } from './client.ts';
import { identityOf } from './protocol.ts';

const MAX_BYTES = 16 * 1024;
const maxAge = limits.idJag.seconds;
const skew = limits.clockSkew.seconds;

const claimsSchema = z.object({
  aud: z.string(),
  client_id: z.string().max(255),
  exp: z.int(),
  jti: z.string().min(1).max(256),
  scope: z.string().max(4096).optional(),
  resource: z.union([z.string().max(2048), z.array(z.string().max(2048)).max(1)]).optional(),
});

export type ReadAssertion = (assertion: string) => Promise<IdentityAssertion>;

/** Throws FederationError for an assertion that is not believed, or is about a person who is not linked here. */
export function createReadAssertion(
  dependencies: Core & {
    connections: Connections;
    connectionDocuments: ConnectionDocuments;
    identities: ExternalIdentities;
  },
): ReadAssertion {
  const { config, sql, now, identities } = dependencies;
  return async function readAssertion(assertion) {
    const connection = await connectionOf(assertion);
    const kind = { types: ['oauth-id-jag+jwt'], audience: config.issuer, maxAge, claims: ['exp', 'sub', 'client_id'] };
    const payload = await verifiedOf(dependencies, connection, assertion, kind);
    const claims = claimsSchema.safeParse(payload);
    if (!claims.success) {
      const claim = String(claims.error.issues[0]?.path[0]);
      throw invalid(claim === 'aud' ? 'audience' : 'claim', `The claim ${claim} of the assertion is invalid.`, claim);
    }
    const { subject, authTime } = identityOf(connection, quirksOf(connection), {
      claims: payload,
      signed: payload,
      idToken: assertion,
    });
    const isSubject = subject !== '' && isStorable(subject);
    const identity = isSubject ? await identities.find(connection.id, subject) : undefined;
    if (!identity) throw invalid('account', 'No user here is linked to the person of the assertion.', 'a linked user');
    const { client_id: clientId, jti, exp, scope, resource } = claims.data;
    return {
      userId: identity.userId,
      connectionId: connection.id,
      clientId,
      scope,
      resource: [resource ?? []].flat()[0],
      authTime,
      use: () => {
        const until = new Date(Math.max(exp * 1000, now().getTime()) + 2 * skew * 1000);
        return isFirstUse(sql, sha256(`id_jag\0${connection.id}\0${jti}`), until);
      },
    };
  };

  /** The one that may be believed with this issuer, which is not verified yet. */
  async function connectionOf(assertion: string): Promise<OidcConnection> {
    const issuer = assertion.length > MAX_BYTES ? undefined : issuerIn(assertion);
    // An assertion of this server is for others.
    const isOwn = issuer === config.issuer;
    for (const connection of isOwn ? [] : await dependencies.connections.enabled()) {
      if (connection.kind !== 'oidc' || !connection.settings.accept_id_jag) continue;
      const { issuer: declared, allowed_tenants: tenants } = connection.settings;
      const issuers = declared.includes(TENANT) ? tenants.map((tid) => declared.replace(TENANT, tid)) : [declared];
      if (issuer !== undefined && issuers.includes(issuer)) return connection;
    }
    throw invalid('issuer', 'No connection accepts assertions of this issuer.', 'accept_id_jag', issuer);
  }
}

function issuerIn(assertion: string): string | undefined {
  try {
    return decodeJwt(assertion).iss;
  } catch {
    throw new FederationError('upstream_answer_invalid', { rule: 'answer', reason: 'The assertion is no JWT.' });
  }
}
