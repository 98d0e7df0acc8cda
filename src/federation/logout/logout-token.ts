// Verifies the logout token of an OpenID Connect upstream (OIDC Back-Channel Logout 1.0 section 2.6), and its Security Event Tokens (RFC 8417).

import { createLocalJWKSet, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { messageOf } from '../../base/platform/errors.ts';
import { sha256 } from '../../base/platform/random.ts';
import { isFirstUse } from '../../base/storage/seen-ids.ts';
import type { RuleId } from '../../core/rejections/rules.ts';
import type { OidcConnection } from '../connections/connection.ts';
import type { ConnectionDocuments } from '../connections/documents.ts';
import { FederationError } from '../faults.ts';
import { TENANT } from '../oidc/client.ts';

/** What a logout names: a session, all sessions of a user, or both. */
export type NamedSessions = { sid: string; sub?: string | undefined } | { sid?: undefined; sub: string };

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** A type that says nothing is accepted (section 2.4), that of another token is not. */
const TYPES = [undefined, 'jwt', 'logout+jwt'];
const maxAge = limits.upstream.logoutTokenSeconds;
const skew = limits.clockSkew.seconds;

const claimsSchema = z
  .object({
    jti: z.string().min(1).max(256),
    sub: z.string().min(1).max(255).optional(),
    sid: z.string().min(1).max(255).optional(),
    events: z.looseObject({ [EVENT]: z.looseObject({}) }),
    nonce: z.never().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined, 'names neither sub nor sid');

/** The sessions that the token names. Throws upstream_answer_invalid, and upstream_unavailable when there are no keys. */
export async function verifyLogoutToken(
  dependencies: Base & { connectionDocuments: ConnectionDocuments },
  connection: OidcConnection,
  token: string,
): Promise<NamedSessions> {
  const { sql, now } = dependencies;
  const kind = { types: TYPES, audience: connection.settings.client_id, maxAge, claims: ['events'] };
  const payload = await verifiedOf(dependencies, connection, token, kind);
  const claims = claimsSchema.safeParse(payload);
  if (!claims.success) {
    const [issue] = claims.error.issues;
    const claim = String(issue?.path[0] ?? 'sub or sid');
    throw invalid(claim === 'nonce' ? 'nonce' : 'answer', `The claim ${claim} of the logout token is invalid.`, claim);
  }
  const { jti, sid, sub } = claims.data;
  // Longer than the token could be accepted again.
  const until = new Date(now().getTime() + (maxAge + 2 * skew) * 1000);
  if (!(await isFirstUse(sql, sha256(`logout_token\0${connection.id}\0${jti}`), until)))
    throw invalid('replay', 'The logout token was used before.', 'a new jti', jti);
  if (sid !== undefined) return { sid, sub };
  return { sub: sub ?? '' };
}

const person = z.looseObject({ iss: z.string().max(2048), sub: z.string().min(1).max(255) });
const subjectSchema = z.union([
  // RFC 9493, and SSF 1.0 for a session of the person.
  z.looseObject({ user: person, session: z.looseObject({ id: z.string().min(1).max(255) }).optional() }),
  person.transform((user) => ({ user, session: undefined })),
]);
const eventClaims = z.object({
  jti: z.string().min(1).max(256),
  sub_id: z.unknown().optional(),
  iat: z.number(),
  events: z.record(
    z.string().max(300),
    z.looseObject({ subject: z.unknown().optional(), event_timestamp: z.number().optional().catch(undefined) }),
  ),
});

const EVENTS = 'https://schemas.openid.net/secevent';
/** The events that mean something here (CAEP 1.0, RISC 1.0). */
const MEANT = new Map<string, SecurityEvents['types'][number]>([
  [`${EVENTS}/caep/event-type/session-revoked`, 'session-revoked'],
  [`${EVENTS}/risc/event-type/sessions-revoked`, 'session-revoked'],
  [`${EVENTS}/risc/event-type/account-disabled`, 'account-disabled'],
  [`${EVENTS}/risc/event-type/account-purged`, 'account-purged'],
]);

export interface SecurityEvents {
  /** Who is meant; undefined for a person who is not named by issuer and subject. */
  named: NamedSessions | undefined;
  types: ('session-revoked' | 'account-disabled' | 'account-purged')[];
  /** When they happened: a provider can push what waited for days. */
  at: Date;
  /** Marks the token as received. It is done afterwards, because what fails in between is sent again. */
  done(): Promise<void>;
}

/**
 * The events of a Security Event Token (RFC 8417), which the provider pushed; undefined for one that was received before. Throws as
 * `verifyLogoutToken` does.
 */
export async function verifySecurityEvents(
  dependencies: Base & { connectionDocuments: ConnectionDocuments },
  connection: OidcConnection,
  token: string,
  audience: string,
): Promise<SecurityEvents | undefined> {
  const { db, sql, now } = dependencies;
  const { upstreamSeconds } = limits.ssf;
  const kind = { types: ['secevent+jwt'], audience, maxAge: upstreamSeconds, claims: ['events'] };
  const payload = await verifiedOf(dependencies, connection, token, kind);
  const claims = eventClaims.safeParse(payload);
  if (!claims.success) throw invalid('answer', 'The claims of the security event are invalid.', 'events');
  const { jti, iat, sub_id, events } = claims.data;
  const id = sha256(`secevent\0${connection.id}\0${jti}`);
  if (await db.seenMessage.findUnique({ where: { id } })) return undefined;
  // Before version 1.0 the subject was in the event.
  const subject = subjectSchema.safeParse(sub_id ?? Object.values(events)[0]?.subject).data;
  if (subject && !(await issuersOf(dependencies, connection)).includes(subject.user.iss))
    throw invalid('issuer', 'The subject is of another issuer.', 'the issuer of the connection', subject.user.iss);
  const until = new Date(now().getTime() + (upstreamSeconds + 2 * skew) * 1000);
  return {
    named: subject && ({ sub: subject.user.sub, ...(subject.session && { sid: subject.session.id }) } as NamedSessions),
    types: Object.keys(events).flatMap((uri) => MEANT.get(uri) ?? []),
    // Its clock may be behind.
    at: new Date((Math.max(...Object.values(events).map((one) => one.event_timestamp ?? iat)) + skew) * 1000),
    done: async () => void (await isFirstUse(sql, id, until)),
  };
}

/** The issuers whose logout counts: that of the discovery document, or those of the allowed tenants that share it. */
export async function issuersOf(
  { connectionDocuments: documents }: { connectionDocuments: ConnectionDocuments },
  connection: OidcConnection,
): Promise<string[]> {
  const { issuer } = await discoveryOf({ connectionDocuments: documents }, connection);
  return connection.settings.allowed_tenants.length > 0 && issuer.includes(TENANT)
    ? connection.settings.allowed_tenants.map((tid) => issuer.replace(TENANT, tid))
    : [issuer];
}

const discoverySchema = z.looseObject({ issuer: z.string(), end_session_endpoint: z.string().optional() });

export async function discoveryOf(
  { connectionDocuments: documents }: { connectionDocuments: ConnectionDocuments },
  connection: OidcConnection,
): Promise<z.output<typeof discoverySchema>> {
  const { content } = await documents.get(connection, 'discovery');
  return discoverySchema.parse(JSON.parse(content));
}

/** What a JWT of this upstream says. Throws FederationError. */
export async function verifiedOf(
  dependencies: Base & { connectionDocuments: ConnectionDocuments },
  connection: OidcConnection,
  token: string,
  kind: KindOfToken,
): Promise<JWTPayload> {
  return verified(dependencies, connection, token, kind).catch(rejected);
}

interface KindOfToken {
  types: readonly (string | undefined)[];
  audience: string;
  maxAge: number;
  /** Claims that it must have, beside `iat` and `jti`. */
  claims: string[];
}

async function verified(
  { connectionDocuments: documents, now }: Base & { connectionDocuments: ConnectionDocuments },
  connection: OidcConnection,
  token: string,
  { types, audience, maxAge: maxTokenAge, claims }: KindOfToken,
): Promise<JWTPayload> {
  const { settings } = connection;
  const { kid, typ } = decodeProtectedHeader(token);
  if (!types.includes(typ?.toLowerCase().replace(/^application\//, '')))
    throw invalid('answer', 'The token is of another type.', types.at(-1) ?? '', typ);
  let { content } = await documents.get(connection, 'jwks');
  if (kid !== undefined && !content.includes(JSON.stringify(kid)))
    ({ content } = await documents.getWithNewKeys(connection));
  const { payload } = await jwtVerify(token, createLocalJWKSet(JSON.parse(content)), {
    algorithms: settings.id_token_signing_algs,
    issuer: await issuersOf({ connectionDocuments: documents }, connection),
    audience,
    requiredClaims: ['iat', 'jti', ...claims],
    maxTokenAge,
    clockTolerance: skew,
    currentDate: now(),
  });
  return payload;
}

const RULE_OF_CLAIM: Record<string, RuleId> = { iss: 'issuer', aud: 'audience', iat: 'time', exp: 'time', nbf: 'time' };

function rejected(error: unknown): never {
  if (error instanceof FederationError) throw error;
  const isClaim = error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired;
  const claim = isClaim ? error.claim : '';
  const isSignature =
    error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey;
  const rule = isSignature ? 'signed' : error instanceof errors.JOSEAlgNotAllowed ? 'algorithm' : RULE_OF_CLAIM[claim];
  const message = messageOf(error);
  throw invalid(rule ?? 'answer', `The token is invalid: ${message}`, claim || 'a valid token');
}

export function invalid(rule: RuleId, message: string, expected: string, received?: string): FederationError {
  return new FederationError('upstream_answer_invalid', { rule, reason: message, expected, received });
}
