// Maps an error of openid-client to the rule that was broken, with what was expected and received.
import * as openid from 'openid-client';
import { OutgoingError } from '../../base/network/outgoing-fetch.ts';
import type { RuleId } from '../../core/rejections/rules.ts';
import { type FaultDetail, FederationError, type FederationFault } from '../faults.ts';

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
export function asFederationError(error: unknown): FederationError {
  if (error instanceof FederationError) return error;
  const fault = (code: FederationFault, detail: Omit<FaultDetail, 'cause'>) =>
    new FederationError(code, { ...detail, cause: error });
  const network = causesOf(error).find((one) => one instanceof OutgoingError);
  if (network instanceof Error || codeOf(error) === 'OAUTH_TIMEOUT') {
    const message = network instanceof Error ? network.message : 'The identity provider didn’t answer in time.';
    return fault('upstream_unavailable', { rule: 'answer', message, expected: 'an answer', received: 'none' });
  }
  if (error instanceof openid.AuthorizationResponseError) return deniedBy(error, fault);
  if (error instanceof openid.ResponseBodyError) {
    const { error: code, error_description: description = '', status } = error;
    return fault(status >= 500 ? 'upstream_unavailable' : 'upstream_answer_invalid', {
      rule: code === 'invalid_client' || code === 'unauthorized_client' ? 'secret' : 'answer',
      message: `The token endpoint answers ${code}${description ? `: ${description}` : ''}`,
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
      message: `The token endpoint answers ${code}${parameters.error_description ? `: ${parameters.error_description}` : ''}`,
      expected: 'tokens',
      received: code,
    });
  }
  const status = causesOf(error).find((one) => one instanceof Response)?.status;
  if (status !== undefined && status >= 500) {
    const message = `The identity provider answers ${status}.`;
    return fault('upstream_unavailable', { rule: 'answer', message, expected: 'status 200', received: String(status) });
  }
  return fault('upstream_answer_invalid', invalidAnswer(error));
}

function deniedBy(
  { error: code, error_description: description = '' }: openid.AuthorizationResponseError,
  fault: (code: FederationFault, detail: Omit<FaultDetail, 'cause'>) => FederationError,
): FederationError {
  const message = `The identity provider answers ${code}${description ? `: ${description}` : ''}`;
  const detail = { rule: 'answer', message, expected: 'a code', received: code } as const;
  if (DENIED.includes(code)) return fault('upstream_denied', detail);
  return fault(UNAVAILABLE.includes(code) ? 'upstream_unavailable' : 'upstream_answer_invalid', detail);
}

function invalidAnswer(error: unknown): Omit<FaultDetail, 'cause'> {
  const causes = causesOf(error);
  const message = [...new Set(causes.flatMap((one) => (one instanceof Error ? [one.message] : [])))].join(': ');
  const { rule, received, expected } = findingOf(causes.at(-1), error);
  return { rule, message, expected: expected ?? EXPECTED[rule] ?? 'a valid answer', received: received ?? message };
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
  const expected = textOf(details.expected);
  if (details.signature !== undefined) return { rule: 'token_signature', received: 'another signature' };
  // RFC 9207: the state was checked before, by which the sign-in was found.
  if (parameters instanceof URLSearchParams) {
    return { rule: 'issuer', received: parameters.get('iss') ?? 'nothing', expected };
  }
  if (isRecord(header) && details.reason !== undefined) {
    return { rule: 'algorithm', received: textOf(header.alg), expected };
  }
  const values = isRecord(claims) ? claims : isRecord(body) ? body : {};
  const malformed = malformedClaim(claims);
  if (malformed !== undefined && details.claim === undefined && malformed !== 'nonce' && malformed !== 'sub') {
    const sent = isRecord(claims) ? textOf(claims[malformed]) : undefined;
    return { rule: 'claim', received: `${malformed}: ${sent ?? 'nothing'}`, expected: malformed };
  }
  // The library reads UserInfo for the subject of the ID token (OpenID Connect Core 5.3.2).
  if (details.attribute === 'sub' && isRecord(body))
    return { rule: 'userinfo', received: textOf(body.sub) ?? 'nothing', expected };
  const claim = String(details.claim ?? details.attribute ?? malformed ?? '');
  const rule = RULE_OF_CLAIM[claim] ?? RULE_OF_CODE[codeOf(error)] ?? 'answer';
  if (claim === '') return { rule, expected };
  return { rule, received: textOf(values[claim]) ?? 'nothing', expected };
}

/** The claim of an ID token that is missing or has another type (OpenID Connect Core 1.0, section 2). The library names none then. */
function malformedClaim(claims: unknown): string | undefined {
  if (!isRecord(claims)) return undefined;
  return Object.keys(TYPE_OF_CLAIM).find((claim) => TYPE_OF_CLAIM[claim]?.(claims[claim]) === false);
}

function codeOf(error: unknown): string {
  return isRecord(error) && typeof error.code === 'string' ? error.code : '';
}

function causesOf(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (
    let one: unknown = error;
    one !== undefined && found.length < 8;
    one = one instanceof Error ? one.cause : undefined
  )
    found.push(one);
  return found;
}

function textOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
