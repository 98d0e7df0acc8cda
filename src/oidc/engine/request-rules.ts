// The rules of OpenID Connect requests that can be evaluated again: when the engine rejects a request they name the one
// that was broken, from its error code and the request; the console evaluates them to see whether a fix has helped.
import { claimsByScope } from '../../accounts/claims.ts';
import type { OidcMetadata } from '../../applications/oidc-client.ts';
import type { ReceivedParameters, RejectionEndpoint } from '../../rejections/rejections.ts';
import { type RuleId, type RuleResult, type RuleViolation, ruleResults } from '../../rejections/rules.ts';

/** A request with what is registered for its client. */
export interface EvaluatedRequest {
  endpoint: RejectionEndpoint;
  received: ReceivedParameters;
  clientId?: string | undefined;
  /** Whether the client is registered and enabled. */
  isClientKnown: boolean;
  /** Absent for a SAML application and an unknown client. */
  metadata: Partial<OidcMetadata> | undefined;
  /** Of the account at the application; absent where no account is signed in. */
  access?: (Omit<RuleViolation, 'rule'> & { allowed: boolean }) | undefined;
  /** Whether the engine accepted the ID token hint; only known while the request is handled. */
  isHintAccepted?: boolean | undefined;
  /** What the engine said. */
  message: string;
}

interface RequestRule {
  received?(request: EvaluatedRequest): string | undefined;
  expected?(request: EvaluatedRequest): string | undefined;
  /** Undefined where it cannot be evaluated: secrets and codes are not recorded. */
  holds?(request: EvaluatedRequest): boolean | undefined;
}

/** RFC 7636 4.2: the S256 challenge of a verifier. */
const CHALLENGE = /^[A-Za-z0-9\-._~]{43,128}$/;
const KNOWN_SCOPES = [...Object.keys(claimsByScope), 'offline_access'];

const grantOf = ({ received }: EvaluatedRequest) => received.grant_type ?? 'authorization_code';

const requestRules: Partial<Record<RuleId, RequestRule>> = {
  client: {
    received: ({ clientId }) => clientId,
    holds: ({ isClientKnown }) => isClientKnown,
  },
  method: {
    received: ({ received }) => received.authentication,
    expected: ({ metadata }) => metadata?.token_endpoint_auth_method,
    holds: ({ received, metadata }) => metadata && received.authentication === metadata.token_endpoint_auth_method,
  },
  secret: {
    received: ({ received }) => (received.authentication === 'none' ? 'none' : '(not kept)'),
    expected: () => 'kept as a hash',
  },
  redirect_uri: {
    received: ({ received }) => received.redirect_uri,
    expected: ({ metadata }) => metadata?.redirect_uris?.join('\n'),
    holds: ({ received: { redirect_uri }, metadata }) =>
      metadata && redirect_uri !== undefined && (metadata.redirect_uris ?? []).includes(redirect_uri),
  },
  response_type: {
    received: ({ received }) => received.response_type,
    expected: () => 'code',
    holds: ({ received, metadata }) => metadata && received.response_type === 'code',
  },
  grant: {
    received: grantOf,
    expected: ({ metadata }) => metadata?.grant_types?.join(' '),
    holds: (request) => request.metadata && (request.metadata.grant_types ?? []).includes(grantOf(request) as never),
  },
  pkce: {
    received: ({ received: { code_challenge_method, code_challenge } }) =>
      [code_challenge_method, code_challenge].filter(Boolean).join(' ') || undefined,
    expected: () => 'S256, always',
    holds: ({ received: { code_challenge_method, code_challenge = '' }, metadata }) =>
      metadata && code_challenge_method === 'S256' && CHALLENGE.test(code_challenge),
  },
  scope: {
    received: ({ received }) => received.scope,
    expected: ({ metadata }) => metadata?.scope ?? 'every one',
    holds: ({ received: { scope = '' }, metadata }) => {
      const allowed = metadata?.scope?.split(' ');
      const unknownOrAllowed = (one: string) => !KNOWN_SCOPES.includes(one) || allowed?.includes(one);
      return allowed === undefined || scope.split(' ').filter(Boolean).every(unknownOrAllowed);
    },
  },
  resource: {
    received: ({ received }) => received.resource,
    expected: ({ metadata }) => metadata?.resources?.join('\n') ?? 'every registered one',
    holds: ({ received: { resource }, metadata }) =>
      resource === undefined ? undefined : metadata?.resources?.includes(resource),
  },
  hint: {
    received: ({ received }) => received.id_token_hint,
    holds: ({ isHintAccepted }) => isHintAccepted,
  },
  post_logout_redirect_uri: {
    received: ({ received }) => received.post_logout_redirect_uri,
    expected: ({ metadata }) => metadata?.post_logout_redirect_uris?.join('\n'),
    holds: ({ received: { post_logout_redirect_uri: uri }, metadata }) =>
      metadata && uri !== undefined ? (metadata.post_logout_redirect_uris ?? []).includes(uri) : undefined,
  },
  request: { received: ({ message }) => message },
  code: { received: ({ message }) => message },
  access: {
    received: ({ access }) => access?.received,
    expected: ({ access }) => access?.expected ?? 'everyone',
    holds: ({ access }) => access?.allowed,
  },
};

/** The rules of an endpoint, in the order in which the engine checks them. */
const order: Partial<Record<RejectionEndpoint, readonly RuleId[]>> = {
  authorize: ['client', 'redirect_uri', 'response_type', 'grant', 'pkce', 'scope', 'resource', 'request', 'access'],
  par: [
    ...(['client', 'method', 'secret', 'redirect_uri', 'response_type', 'grant', 'pkce', 'scope', 'resource'] as const),
    ...(['request', 'access'] as const),
  ],
  token: ['client', 'method', 'secret', 'grant', 'request', 'code', 'scope', 'resource'],
  'end-session': ['hint', 'client', 'post_logout_redirect_uri', 'request'],
};

/** The rules that an error code of the engine can be about (RFC 6749 4.1.2.1 and 5.2, RFC 8707 2, OIDC Core 3.1.2.6). */
const rulesOfError: Record<string, readonly RuleId[]> = {
  invalid_client: ['client', 'method'],
  invalid_request: ['redirect_uri', 'grant', 'pkce', 'post_logout_redirect_uri', 'hint'],
  access_denied: ['access'],
};
/** Error codes that are about exactly one rule. */
const ruleOfError: Record<string, RuleId> = {
  invalid_redirect_uri: 'redirect_uri',
  unsupported_response_type: 'response_type',
  unsupported_response_mode: 'response_type',
  unauthorized_client: 'grant',
  unsupported_grant_type: 'grant',
  invalid_scope: 'scope',
  invalid_target: 'resource',
  invalid_grant: 'code',
};

/**
 * The rules of a request that the engine rejected with this error code, in the order of its checks.
 *
 * @param violation what the check itself reported, where it is one of this server
 */
export function evaluateRules(request: EvaluatedRequest, error: string, violation?: RuleViolation): RuleResult[] {
  const rules = order[request.endpoint] ?? [];
  const about = (rule: RuleId) => ({
    received: requestRules[rule]?.received?.(request),
    expected: requestRules[rule]?.expected?.(request),
  });
  const rule = brokenRule(request, error, rules);
  return ruleResults(rules, violation ?? { rule, ...about(rule) }, about);
}

/** Whether the request passes the rule with what is registered now; undefined where that cannot be evaluated. */
export function passesRule(rule: RuleId, request: EvaluatedRequest): boolean | undefined {
  return requestRules[rule]?.holds?.(request);
}

function brokenRule(request: EvaluatedRequest, error: string, rules: readonly RuleId[]): RuleId {
  const only = ruleOfError[error];
  if (only) return only;
  const candidates = rules.filter((rule) => rulesOfError[error]?.includes(rule));
  const broken = candidates.find((rule) => passesRule(rule, request) === false);
  if (broken) return broken;
  // The client is known and authenticates by its registered method, so the proof itself was wrong.
  return error === 'invalid_client' && rules.includes('secret') ? 'secret' : 'request';
}
