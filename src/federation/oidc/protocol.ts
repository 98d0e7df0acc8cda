// Sign-in at an OpenID Connect upstream: authorization code with PKCE and nonce; the answer, the ID token (OIDC Core 3.1.3.7, its
// signature included) and userinfo are verified by openid-client.

import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { randomToken } from '../../base/platform/random.ts';
import { claimAt, groupNames, textOf } from '../accounts/mapping.ts';
import type { Connection, OidcConnection } from '../connections/connection.ts';
import type { Quirks } from '../connections/presets/preset.ts';
import { quirksOf } from '../connections/presets/presets.ts';
import { FederationError } from '../faults.ts';
import type {
  PassedCheck,
  Redeemed,
  SentRequest,
  UpstreamAnswer,
  UpstreamIdentity,
  UpstreamProtocol,
} from '../upstream.ts';
import { createOidcClient, idTokenIn, type OidcClientDependencies, TENANT } from './client.ts';
import { asFederationError } from './errors.ts';

const memorySchema = z.object({ nonce: z.string().optional(), verifier: z.string().optional() });
type Memory = z.output<typeof memorySchema>;

export function createOidcProtocol(dependencies: OidcClientDependencies): UpstreamProtocol {
  return {
    async begin(connection, requirements, callbackUrl) {
      const oidc = asOidc(connection);
      const { settings } = oidc;
      const { config } = await createOidcClient(dependencies, oidc);
      const state = randomToken(limits.state.bytes);
      const nonce = settings.nonce ? randomToken() : undefined;
      const verifier = settings.pkce ? randomToken(limits.pkceVerifier.bytes) : undefined;
      const { acrValues, forced, maxAgeSeconds, loginHint } = requirements;
      // max_age=0 makes the upstream state auth_time (OIDC Core 3.1.2.1), which proves what prompt=login demands.
      const maxAge = forced ? 0 : maxAgeSeconds;
      const url = openid.buildAuthorizationUrl(config, {
        ...settings.authorization_parameters,
        redirect_uri: callbackUrl,
        scope: settings.scopes.join(' '),
        state,
        ...(nonce && { nonce }),
        ...(verifier && {
          code_challenge: await openid.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        }),
        ...(settings.response_mode === 'form_post' && { response_mode: 'form_post' }),
        ...(acrValues.length > 0 && { acr_values: acrValues.join(' ') }),
        ...(forced && { prompt: 'login' }),
        ...(maxAge !== undefined && { max_age: String(maxAge) }),
        ...(loginHint && { login_hint: loginHint }),
      });
      return { handle: state, redirect: { method: 'redirect', url: url.href }, memory: { nonce, verifier } };
    },

    async tryClient(connection, callbackUrl) {
      try {
        const { config } = await createOidcClient(dependencies, asOidc(connection));
        const form = { code: randomToken(), redirect_uri: callbackUrl, code_verifier: randomToken() };
        await openid.genericGrantRequest(config, 'authorization_code', form);
      } catch (error) {
        throw asFederationError(error);
      }
      throw new FederationError('upstream_answer_invalid', {
        rule: 'answer',
        message: 'The token endpoint accepts any code.',
      });
    },

    async redeem(connection, answer, request) {
      try {
        return await redeem(dependencies, asOidc(connection), answer, request);
      } catch (error) {
        throw asFederationError(error);
      }
    },
  };
}

async function redeem(
  dependencies: OidcClientDependencies,
  connection: OidcConnection,
  answer: UpstreamAnswer,
  request: SentRequest,
): Promise<Redeemed> {
  const { settings } = connection;
  if (answer.code === undefined && answer.error === undefined) {
    throw new FederationError('upstream_answer_invalid', {
      rule: 'parameters',
      message: 'The answer has neither a code nor an error.',
      expected: 'code',
      received: Object.keys(answer).join(', '),
    });
  }
  const memory = memorySchema.parse(request.memory);
  const { config, metadata, tokens } = await redeemCode(dependencies, connection, answer, { ...request, memory });
  const idTokenClaims = tokens.claims();
  if (!idTokenClaims || !tokens.id_token) throw new Error('openid-client returned no ID token');
  assertIssuedNow(idTokenClaims.iat, request.sentAt);
  const quirks = quirksOf(connection);
  const readsUserinfo = settings.userinfo && !quirks.userinfoIsEmpty && metadata.userinfo_endpoint !== undefined;
  const userinfo = readsUserinfo
    ? await openid.fetchUserInfo(config, tokens.access_token, idTokenClaims.sub)
    : undefined;
  // `email_verified` is about the address beside it.
  const isOtherAddress = idTokenClaims.email !== undefined && idTokenClaims.email !== userinfo?.email;
  const claims = {
    ...displayName(answer, quirks.nameField),
    ...userinfo,
    ...(isOtherAddress && { email_verified: undefined }),
    ...idTokenClaims,
  };
  return {
    identity: identityOf(connection, quirks, { claims, signed: idTokenClaims, idToken: tokens.id_token }),
    checks: checksOf(connection, metadata, claims, memory),
  };
}

/** The code grant. Where several tenants share a discovery document, the tenant of the token decides which issuer it must have. */
async function redeemCode(
  dependencies: OidcClientDependencies,
  connection: OidcConnection,
  answer: UpstreamAnswer,
  { callbackUrl, memory }: { callbackUrl: string; memory: Memory },
) {
  const currentUrl = new URL(callbackUrl);
  for (const [name, value] of Object.entries(answer)) currentUrl.searchParams.set(name, value);
  const checks = {
    expectedState: answer.state ?? '',
    idTokenExpected: true,
    ...(memory.nonce && { expectedNonce: memory.nonce }),
    ...(memory.verifier && { pkceCodeVerifier: memory.verifier }),
  };
  const client = await createOidcClient(dependencies, connection);
  if (!client.metadata.issuer.includes(TENANT))
    return { ...client, tokens: await openid.authorizationCodeGrant(client.config, currentUrl, checks) };

  const send = client.config[openid.customFetch] ?? fetch;
  let tokenResponse: Response | undefined;
  client.config[openid.customFetch] = async (url, options) => {
    tokenResponse = await send(url, options as never);
    return tokenResponse.clone();
  };
  // No token has the shared issuer, so this call always fails; by then it has fetched the tokens.
  const failure: unknown = await openid
    .authorizationCodeGrant(client.config, currentUrl, checks)
    .catch((error) => error);
  const idToken = tokenResponse?.ok ? await idTokenIn(tokenResponse.clone()) : undefined;
  const tid = idToken === undefined ? undefined : decodeJwt(idToken).tid;
  if (!tokenResponse || typeof tid !== 'string' || !connection.settings.allowed_tenants.includes(tid)) {
    if (idToken === undefined) throw failure;
    throw new FederationError('upstream_not_allowed', {
      rule: 'tenant',
      message: 'The user isn’t from an allowed tenant (tid).',
      expected: connection.settings.allowed_tenants.join(', '),
      received: String(tid),
    });
  }
  const issuer = client.metadata.issuer.replace(TENANT, tid);
  const ofTenant = await createOidcClient(dependencies, connection, { issuer, tokenResponse });
  return { ...ofTenant, tokens: await openid.authorizationCodeGrant(ofTenant.config, currentUrl, checks) };
}

/** An ID token that is older than the request was issued for another one. */
function assertIssuedNow(iat: number, sentAt: Date): void {
  if (iat * 1000 >= sentAt.getTime() - limits.clockSkew.seconds * 1000) return;
  throw new FederationError('upstream_answer_invalid', {
    rule: 'time',
    message: 'The ID token was issued before the request.',
    expected: `after ${sentAt.toISOString()}`,
    received: new Date(iat * 1000).toISOString(),
  });
}

/** The name from Apple: this field is not signed, so it is for display only; the address in it is not read. */
function displayName({ user }: UpstreamAnswer, field: 'apple-user' | undefined): { name?: string } {
  if (field === undefined || user === undefined) return {};
  const schema = z.object({ name: z.object({ firstName: z.string().optional(), lastName: z.string().optional() }) });
  try {
    const { name } = schema.parse(JSON.parse(user));
    const full = [name.firstName, name.lastName].filter(Boolean).join(' ');
    return full === '' ? {} : { name: full };
  } catch {
    return {};
  }
}

function checksOf(
  { settings }: OidcConnection,
  { issuer }: openid.ServerMetadata,
  claims: Record<string, unknown>,
  { nonce, verifier }: Memory,
): PassedCheck[] {
  const text = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));
  return [
    { name: 'Signature of the ID token', expected: settings.id_token_signing_algs.join(', '), received: 'valid' },
    { name: 'Issuer (iss)', expected: issuer, received: text(claims.iss) },
    { name: 'Audience (aud)', expected: settings.client_id, received: text(claims.aud) },
    { name: 'Nonce', expected: nonce ? 'that of the request' : 'none', received: nonce ? 'the same' : 'none' },
    { name: 'PKCE', expected: settings.pkce ? 'S256' : 'off', received: verifier ? 'S256' : 'off' },
    { name: 'Time of the authentication (auth_time)', expected: 'optional', received: text(claims.auth_time) },
  ];
}

function asOidc(connection: Connection): OidcConnection {
  if (connection.kind !== 'oidc') throw new TypeError(`${connection.id} is no OpenID Connect connection`);
  return connection;
}

type Claims = Readonly<Record<string, unknown>>;

/**
 * Throws upstream_not_allowed for a user of another organization.
 *
 * @param signed the claims of the ID token: only these say how the user authenticated, and for which organization
 */
export function identityOf(
  { settings }: Pick<OidcConnection, 'settings'>,
  quirks: Quirks,
  { claims, signed, idToken }: { claims: Claims; signed: Claims; idToken: string },
): UpstreamIdentity {
  assertMember('tid', signed.tid, settings.allowed_tenants);
  assertMember('hd', signed.hd, settings.allowed_hosted_domains);
  // Attributes that users write themselves may be claims of the userinfo, under any name.
  const { auth_time: authTime, acr, amr, sid } = signed;
  return {
    subject: subjectOf(claims, quirks.subject ?? [settings.subject_claim]),
    claims: { ...claims, ...verifiedAddress(claims, quirks) },
    groups: settings.groups_claim === undefined ? undefined : groupsOf(claims, settings.groups_claim, quirks),
    acr: typeof acr === 'string' ? acr : undefined,
    amr: Array.isArray(amr) ? amr.filter((one) => typeof one === 'string') : [],
    authTime: typeof authTime === 'number' && authTime > 0 ? new Date(authTime * 1000) : undefined,
    session: { kind: 'oidc', sid: textOf(sid), idToken },
  };
}

/** Empty when a part is missing: then nobody is signed in. */
function subjectOf(claims: Claims, parts: readonly string[]): string {
  const values = parts.map((part) => textOf(claimAt(claims, part)));
  return values.every((value) => value !== undefined) ? values.join(':') : '';
}

/** A missing claim means no groups, so that a user who left the last one loses its role. */
function groupsOf(claims: Claims, path: string, quirks: Quirks): UpstreamIdentity['groups'] {
  const names = groupNames(claimAt(claims, path));
  const links = claims._claim_names;
  const isOverage =
    quirks.groups === 'entra-overage' &&
    ((typeof links === 'object' && links !== null && Object.hasOwn(links, path)) || claims.hasgroups !== undefined);
  const isReadable = names !== undefined || claimAt(claims, path) === undefined;
  return { names: names ?? [], isComplete: !isOverage && isReadable };
}

/** When the vendor's address counts as verified. */
function verifiedAddress(claims: Claims, quirks: Quirks): Record<string, unknown> {
  const isVerified = claims.email_verified === true || claims.email_verified === 'true';
  const email = textOf(claims.email) ?? '';
  switch (quirks.email) {
    case 'never':
      return { email_verified: false };
    // Google hosts these addresses; of others it only knows that they were verified once.
    case 'google':
      return { email_verified: isVerified && (/@gmail\.com$/i.test(email) || textOf(claims.hd) !== undefined) };
    // The administrator of any tenant can write any address; Microsoft says whether its domain is proven.
    case 'entra':
      return { email_verified: [true, 1, '1', 'true'].includes(claims.xms_edov as never) ? true : undefined };
    default:
      return {};
  }
}

function assertMember(claim: string, value: unknown, allowed: readonly string[]): void {
  if (allowed.length === 0 || allowed.includes(String(value))) return;
  throw new FederationError('upstream_not_allowed', {
    rule: 'tenant',
    message: `The user isn’t from an allowed organization (${claim}).`,
    expected: allowed.join(', '),
    received: value === undefined ? 'nothing' : String(value),
  });
}
