// openid-client, configured for one connection: from the stored discovery document and JWKS, with the guarded fetch and an
// explicit client authentication.

import { createPrivateKey } from 'node:crypto';
import { decodeProtectedHeader, importPKCS8, SignJWT } from 'jose';
import * as openid from 'openid-client';
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import type { Core } from '../../core/core.ts';
import type { OidcConnection } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';
import type { ConnectionDocuments } from '../connections/documents.ts';
import { quirksOf } from '../connections/presets/presets.ts';

export type OidcClient = Awaited<ReturnType<typeof createOidcClient>>;

/** Placeholder in the issuer of a multi-tenant discovery document (Entra ID); the ID token names the tenant. */
export const TENANT = '{tenantid}';
const APPLE_SECRET_SECONDS = 300;

export interface ClientOptions {
  /** Replaces the issuer of the discovery document, which several tenants share. */
  issuer?: string;
  /** Replaces the response of the token endpoint. */
  tokenResponse?: Response;
}

/** Throws upstream_unavailable when no discovery document was ever read. */
export async function createOidcClient(
  dependencies: Core & { documents: ConnectionDocuments; connections: Connections },
  connection: OidcConnection,
  { issuer, tokenResponse }: ClientOptions = {},
) {
  const { documents, outgoing: guardedFetch } = dependencies;
  const { settings } = connection;
  const { content } = await documents.get(connection, 'discovery');
  const discovered = JSON.parse(content) as openid.ServerMetadata;
  const metadata: openid.ServerMetadata = {
    ...discovered,
    ...(issuer && { issuer }),
    // Only the configured algorithms are accepted, not those of the discovery document: no `none`, no HMAC.
    id_token_signing_alg_values_supported: settings.id_token_signing_algs,
    ...(quirksOf(connection).alwaysSendsIss && { authorization_response_iss_parameter_supported: true }),
  };
  const config = new openid.Configuration(
    metadata,
    settings.client_id,
    { [openid.clockTolerance]: limits.clockSkew.seconds },
    await clientAuth(dependencies, connection, metadata.issuer),
  );
  // Plain http passes only on loopback addresses (federation/connections/kinds/fields.ts), and the guarded fetch checks every address.
  openid.allowInsecureRequests(config);
  openid.enableNonRepudiationChecks(config);
  config.timeout = Math.ceil(limits.outgoing.timeoutMs / 1000) + 1;
  let keyId: string | undefined;
  config[openid.customFetch] = async (url, options) => {
    // Returns the stored JWKS, refreshed if it lacks the `kid` of the ID token.
    if (url === metadata.jwks_uri) return jsonResponse(await keysFor(dependencies, connection, keyId));
    const response =
      url === metadata.token_endpoint && tokenResponse
        ? tokenResponse.clone()
        : await guardedFetch(url, options as RequestInit);
    if (url === metadata.token_endpoint) keyId = await keyIdIn(response.clone());
    return response;
  };
  return { config, metadata };
}

async function keysFor(
  { documents }: { documents: ConnectionDocuments },
  connection: OidcConnection,
  keyId: string | undefined,
): Promise<string> {
  const { content } = await documents.get(connection, 'jwks');
  if (keyId === undefined || content.includes(JSON.stringify(keyId))) return content;
  return (await documents.getWithNewKeys(connection)).content;
}

async function keyIdIn(response: Response): Promise<string | undefined> {
  const token = await idTokenIn(response);
  try {
    return token === undefined ? undefined : decodeProtectedHeader(token).kid;
  } catch {
    return undefined; // openid-client reports the malformed token
  }
}

/** The ID token of a token response, which is not verified yet. */
export async function idTokenIn(response: Response): Promise<string | undefined> {
  const body: unknown = await response.json().catch(() => undefined);
  const token = typeof body === 'object' && body !== null ? Reflect.get(body, 'id_token') : undefined;
  return typeof token === 'string' ? token : undefined;
}

function jsonResponse(body: string): Response {
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}

/** Client authentication as configured, not openid-client's default. */
async function clientAuth(
  { connections, now }: Base & { connections: Connections },
  connection: OidcConnection,
  issuer: string,
): Promise<openid.ClientAuth> {
  const { id, settings } = connection;
  const [secret] = await connections.decryptedSecrets(id, 'client-secret');
  const [key] = await connections.decryptedSecrets(id, 'private-key');
  if (quirksOf(connection).clientSecret === 'apple-jwt')
    return openid.ClientSecretPost(await appleSecret(connection, issuer, key?.value ?? '', now()));
  switch (settings.token_endpoint_auth_method) {
    case 'none':
      return openid.None();
    case 'client_secret_basic':
      return openid.ClientSecretBasic(secret?.value ?? '');
    case 'client_secret_post':
      return openid.ClientSecretPost(secret?.value ?? '');
    case 'client_secret_jwt':
      return openid.ClientSecretJwt(secret?.value ?? '', { [openid.modifyAssertion]: setAudienceTo(issuer) });
    default: {
      const privateKey = await importKey(key?.value ?? '');
      const kid = settings.key_id;
      return openid.PrivateKeyJwt(kid ? { key: privateKey, kid } : privateKey, {
        [openid.modifyAssertion]: setAudienceTo(issuer),
      });
    }
  }
}

/** The issuer is the only audience, so that no other server can use the assertion (draft-ietf-oauth-security-topics-update). */
function setAudienceTo(issuer: string) {
  return (_header: unknown, payload: Record<string, unknown>): void => {
    payload.aud = issuer;
  };
}

async function importKey(pem: string): Promise<openid.CryptoKey> {
  const { asymmetricKeyType } = createPrivateKey(pem);
  const alg = asymmetricKeyType === 'rsa' ? 'RS256' : asymmetricKeyType === 'ec' ? 'ES256' : 'EdDSA';
  return (await importPKCS8(pem, alg)) as openid.CryptoKey;
}

/** Apple's client secret: a JWT (ES256) that is signed for each call. */
async function appleSecret({ settings }: OidcConnection, audience: string, pem: string, now: Date): Promise<string> {
  const at = Math.floor(now.getTime() / 1000);
  return new SignJWT()
    .setProtectedHeader({ alg: 'ES256', ...(settings.key_id && { kid: settings.key_id }) })
    .setIssuer(settings.team_id ?? '')
    .setSubject(settings.client_id)
    .setAudience(audience)
    .setIssuedAt(at)
    .setExpirationTime(at + APPLE_SECRET_SECONDS)
    .sign(await importPKCS8(pem, 'ES256'));
}
