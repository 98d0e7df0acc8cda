// Sign-in at an OpenID Connect upstream: authorization code with PKCE and nonce; the answer, the ID token (OIDC Core 3.1.3.7, its
// signature included) and userinfo are verified by openid-client.

import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import { z } from 'zod';
import type { ErrorCode } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { OutgoingError } from '../../base/network/outgoing-fetch.ts';
import { causesOf } from '../../base/platform/errors.ts';
import { randomToken } from '../../base/platform/random.ts';
import type { Core } from '../../core/core.ts';
import type { RuleId } from '../../core/rejections/rules.ts';
import { claimAt, groupNames, textOf } from '../accounts/mapping.ts';
import type { Connection, OidcConnection } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';
import type { ConnectionDocuments } from '../connections/documents.ts';
import type { Quirks } from '../connections/presets/presets.ts';
import { quirksOf } from '../connections/presets/presets.ts';
import { FederationError, type UpstreamRejection } from '../faults.ts';
import type { UpstreamLogoutProtocol } from '../logout/upstream-participants.ts';
import type {
  PassedCheck,
  Redeemed,
  SentRequest,
  UpstreamAnswer,
  UpstreamIdentity,
  UpstreamProtocol,
} from '../upstream.ts';
import { createOidcClient, idTokenIn, type OidcClient, TENANT } from './client.ts';

const memorySchema = z.object({ nonce: z.string().optional(), verifier: z.string().optional() });
type Memory = z.output<typeof memorySchema>;

export function createOidcProtocol(
  dependencies: Core & { documents: ConnectionDocuments; connections: Connections },
): UpstreamProtocol {
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
        reason: 'The token endpoint accepts any code.',
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
  dependencies: Core & { documents: ConnectionDocuments; connections: Connections },
  connection: OidcConnection,
  answer: UpstreamAnswer,
  request: SentRequest,
): Promise<Redeemed> {
  const { settings } = connection;
  if (answer.code === undefined && answer.error === undefined) {
    throw new FederationError('upstream_answer_invalid', {
      rule: 'parameters',
      reason: 'The answer has neither a code nor an error.',
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
  dependencies: Core & { documents: ConnectionDocuments; connections: Connections },
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
      reason: 'The user isn’t from an allowed tenant (tid).',
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
    reason: 'The ID token was issued before the request.',
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
  { settings }: Pick<OidcConnection, 'settings'>,
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
    reason: `The user isn’t from an allowed organization (${claim}).`,
    expected: allowed.join(', '),
    received: value === undefined ? 'nothing' : String(value),
  });
}

// Maps an error of openid-client to the rule that was broken, with what was expected and received.

const RULE_OF_CLAIM: Record<string, RuleId> = {
  iss: 'issuer',
  aud: 'audience',
  azp: 'audience',
  nonce: 'nonce',
  sub: 'subject',
  exp: 'time',
  iat: 'time',
};
const isText = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number';
const TYPE_OF_CLAIM: Record<string, (value: unknown) => boolean> = {
  iss: isText,
  aud: (value) => isText(value) || Array.isArray(value),
  sub: isText,
  exp: isNumber,
  iat: isNumber,
  // Always sent with the request, so it must be in the ID token.
  nonce: isText,
};
const RULE_OF_CODE: Record<string, RuleId> = {
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: 'time',
  OAUTH_KEY_SELECTION_FAILED: 'token_key',
  OAUTH_UNSUPPORTED_OPERATION: 'algorithm',
};
/** The user, or the policy of the upstream, rejected the sign-in. */
const DENIED = [
  'access_denied',
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
];
/** Where the library names no value. */
const EXPECTED: Partial<Record<RuleId, string>> = {
  token_key: 'a key in the JWKS of the identity provider',
  token_signature: 'a signature by a key in the JWKS of the identity provider',
  algorithm: 'an algorithm of id_token_signing_algs',
  nonce: 'the nonce of the request',
  time: 'a token that is valid now',
};
const UNAVAILABLE = ['server_error', 'temporarily_unavailable'];

/** The error of the call as a FederationError. */
function asFederationError(error: unknown): FederationError {
  if (error instanceof FederationError) return error;
  const fault = (code: ErrorCode, detail: UpstreamRejection) => new FederationError(code, { ...detail, cause: error });
  const network = causesOf(error).find((one) => one instanceof OutgoingError);
  if (network instanceof Error || codeOf(error) === 'OAUTH_TIMEOUT') {
    const reason = network instanceof Error ? network.message : 'The identity provider didn’t answer in time.';
    return fault('upstream_unavailable', { rule: 'answer', reason, expected: 'an answer', received: 'none' });
  }
  if (error instanceof openid.AuthorizationResponseError) return deniedBy(error, fault);
  if (error instanceof openid.ResponseBodyError) {
    const { error: code, error_description: description = '', status } = error;
    return fault(status >= 500 ? 'upstream_unavailable' : 'upstream_answer_invalid', {
      rule: code === 'invalid_client' || code === 'unauthorized_client' ? 'secret' : 'answer',
      reason: `The token endpoint answers ${withDescription(code, description)}`,
      expected: 'tokens',
      received: code,
    });
  }
  // RFC 6749 5.2: a client that authenticated in the Authorization header gets 401 with a challenge, whose body the library leaves unread.
  if (error instanceof openid.WWWAuthenticateChallengeError) {
    const { parameters = {} } = error.cause[0] ?? {};
    const code = parameters.error ?? `status ${error.status}`;
    return fault('upstream_answer_invalid', {
      rule: 'secret',
      reason: `The token endpoint answers ${withDescription(code, parameters.error_description)}`,
      expected: 'tokens',
      received: code,
    });
  }
  const status = causesOf(error).find((one) => one instanceof Response)?.status;
  if (status !== undefined && status >= 500) {
    const reason = `The identity provider answers ${status}.`;
    return fault('upstream_unavailable', { rule: 'answer', reason, expected: 'status 200', received: String(status) });
  }
  return fault('upstream_answer_invalid', invalidAnswer(error));
}

const withDescription = (code: string, description?: string) => (description ? `${code}: ${description}` : code);

function deniedBy(
  { error: code, error_description: description = '' }: openid.AuthorizationResponseError,
  fault: (code: ErrorCode, detail: UpstreamRejection) => FederationError,
): FederationError {
  const reason = `The identity provider answers ${withDescription(code, description)}`;
  const detail = { rule: 'answer', reason, expected: 'a code', received: code } as const;
  if (DENIED.includes(code)) return fault('upstream_denied', detail);
  return fault(UNAVAILABLE.includes(code) ? 'upstream_unavailable' : 'upstream_answer_invalid', detail);
}

function invalidAnswer(error: unknown): UpstreamRejection {
  const causes = causesOf(error);
  const reason = [...new Set(causes.flatMap((one) => (one instanceof Error ? [one.message] : [])))].join(': ');
  const { rule, received, expected } = findingOf(causes.at(-1), error);
  return { rule, reason, expected: expected ?? EXPECTED[rule] ?? 'a valid answer', received: received ?? reason };
}

interface Finding {
  rule: RuleId;
  /** Undefined where only the message has it. */
  received?: string | undefined;
  expected?: string | undefined;
}

/** The rule, from the details that the library adds to its error: the last cause. */
function findingOf(cause: unknown, error: unknown): Finding {
  const details = isRecord(cause) ? cause : {};
  const { claims, body, header, parameters } = details;
  const expected = asText(details.expected);
  if (details.signature !== undefined) return { rule: 'token_signature', received: 'another signature' };
  // RFC 9207: the state was checked before, by which the sign-in was found.
  if (parameters instanceof URLSearchParams) {
    return { rule: 'issuer', received: parameters.get('iss') ?? 'nothing', expected };
  }
  if (isRecord(header) && details.reason !== undefined) {
    return { rule: 'algorithm', received: asText(header.alg), expected };
  }
  const values = [claims, body].find(isRecord) ?? {};
  const malformed = malformedClaim(claims);
  // `nonce` and `sub` have rules of their own.
  if (malformed !== undefined && details.claim === undefined && malformed !== 'nonce' && malformed !== 'sub')
    return { rule: 'claim', received: `${malformed}: ${asText(values[malformed]) ?? 'nothing'}`, expected: malformed };
  // The library reads UserInfo for the subject of the ID token (OpenID Connect Core 5.3.2).
  if (details.attribute === 'sub' && isRecord(body))
    return { rule: 'userinfo', received: asText(body.sub) ?? 'nothing', expected };
  const claim = String(details.claim ?? details.attribute ?? malformed ?? '');
  const rule = RULE_OF_CLAIM[claim] ?? RULE_OF_CODE[codeOf(error)] ?? 'answer';
  if (claim === '') return { rule, expected };
  return { rule, received: asText(values[claim]) ?? 'nothing', expected };
}

/** The claim of an ID token that is missing or has another type (OpenID Connect Core 1.0, section 2). The library names none then. */
function malformedClaim(claims: unknown): string | undefined {
  if (!isRecord(claims)) return undefined;
  return Object.keys(TYPE_OF_CLAIM).find((claim) => TYPE_OF_CLAIM[claim]?.(claims[claim]) === false);
}

function codeOf(error: unknown): string {
  return isRecord(error) && typeof error.code === 'string' ? error.code : '';
}

function asText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

// The logout endpoint of an OpenID Connect upstream (OIDC RP-Initiated Logout 1.0).

/** Logout at OpenID Connect upstreams; they return the browser to `/upstream/:id/signed-out`. */
export function createOidcLogout(
  dependencies: Core & { documents: ConnectionDocuments; connections: Connections },
  issuer: string,
): UpstreamLogoutProtocol {
  async function clientOf(connection: Connection) {
    if (connection.kind !== 'oidc') throw new TypeError(`${connection.id} is no OpenID Connect connection`);
    return createOidcClient(dependencies, connection);
  }

  return {
    addressOf: async (connection) => endpointOf(await clientOf(connection)),

    async request(connection, handle) {
      const client = await clientOf(connection);
      if (handle.kind !== 'oidc' || endpointOf(client) === undefined) return undefined;
      const state = randomToken(limits.state.bytes);
      const url = openid.buildEndSessionUrl(client.config, {
        id_token_hint: handle.idToken, // expired or not (section 2)
        post_logout_redirect_uri: `${issuer}/upstream/${connection.id}/signed-out`,
        state,
      });
      return { messageId: state, redirect: { method: 'redirect', url: url.href } };
    },
  };
}

/** Undefined when the upstream has no logout. */
function endpointOf({ metadata: { end_session_endpoint: endpoint } }: OidcClient): string | undefined {
  return endpoint !== undefined && URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol)
    ? endpoint
    : undefined;
}
