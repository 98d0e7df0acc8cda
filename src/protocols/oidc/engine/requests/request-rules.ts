// The rules of OpenID Connect requests. The engine reports an error code without a rule, so for a rejected request these
// functions find the broken rule from the code and the request. The console evaluates them again to find out whether a fix helped. A
// check of this server reports its own brokenRule.
import { accessRuleIds, accessRules } from '../../../../applications/access-decision.ts';
import {
  deviceCodeGrant,
  idJagGrant,
  needsPkce,
  type OidcMetadata,
  tokenExchangeGrant,
} from '../../../../applications/fields/oidc-client.ts';
import { includesResource } from '../../../../applications/uris.ts';
import { isLoopback } from '../../../../base/config/addresses.ts';
import type { ReceivedParameters, RejectionEndpoint } from '../../../../core/rejections/rejections.ts';
import { type BrokenRule, type RuleId, type RuleResult, ruleResults } from '../../../../core/rejections/rules.ts';
import { engineScope, engineScopes, userScopes } from '../../claims/scopes.ts';

/** A request with the registration of its client. */
export interface EvaluatedRequest {
  endpoint: RejectionEndpoint;
  received: ReceivedParameters;
  clientId?: string | undefined;
  /** Whether the client is registered and enabled. */
  isClientKnown: boolean;
  /** Absent for a SAML application and an unknown client. */
  metadata: Partial<OidcMetadata> | undefined;
  /** Of the account at the application; absent if no account is signed in. */
  access?: (BrokenRule & { allowed: boolean }) | undefined;
  /** Whether the engine accepted the ID token hint; only known while the request is handled. */
  isHintAccepted?: boolean | undefined;
  /** The message of the engine's error. */
  message: string;
}

interface RequestRule {
  id: RuleId;
  endpoints: readonly RejectionEndpoint[];
  /** Error codes of this rule only (RFC 6749 4.1.2.1 and 5.2, RFC 8707 2). */
  errors?: readonly string[];
  /** What the message says where the engine has one code for several causes; it comes before the codes. */
  says?: RegExp;
  /** Error codes that several rules share: they belong to this rule if the request does not pass it. */
  sharedErrors?: readonly string[];
  /** Whether the request has what the rule is about; absent: every request has it. */
  applies?(request: EvaluatedRequest): boolean;
  received?(request: EvaluatedRequest): string | undefined;
  expected?(request: EvaluatedRequest): string | undefined;
  /** Whether the request passes; undefined if that cannot be evaluated, because secrets and codes are not recorded. */
  passes?(request: EvaluatedRequest): boolean | undefined;
}

/** RFC 7636 4.2: the S256 challenge of a verifier. */
const CHALLENGE = /^[A-Za-z0-9\-._~]{43,128}$/;

/** Also of an endpoint that belongs to one. */
export const grantOf = ({ endpoint, received }: Pick<EvaluatedRequest, 'endpoint' | 'received'>) =>
  received.grant_type ?? (endpoint === 'device' ? deviceCodeGrant : 'authorization_code');

/** Whether a native client may use this URI: that of a loopback address matches on every port (RFC 8252 7.3). */
function matchesAsNative(uri: string | undefined, registered: readonly string[] = []): boolean {
  const portless = (text: string) => {
    if (!URL.canParse(text)) return undefined;
    const { protocol, hostname, pathname, search } = new URL(text);
    return protocol === 'http:' && isLoopback(hostname) ? `${hostname}${pathname}${search}` : undefined;
  };
  const wanted = uri === undefined ? undefined : portless(uri);
  return wanted !== undefined && registered.some((one) => portless(one) === wanted);
}

/** Where a client authenticates. */
const AUTHENTICATED = ['par', 'token', 'device', 'introspect', 'revoke'] as const;
const EVERYWHERE = ['authorize', ...AUTHENTICATED, 'end-session'] as const;
const usesAssertion = ({ received: { authentication = '' } }: EvaluatedRequest) =>
  authentication === 'private_key_jwt' || authentication === 'client_secret_jwt';

/** The rule for everything else. */
const OTHER_PARAMETERS: RequestRule = {
  id: 'request',
  endpoints: [...EVERYWHERE, 'register'],
  received: ({ message }) => message,
};

/** In the order of the engine's checks. */
const requestRules: readonly RequestRule[] = [
  {
    id: 'hint',
    endpoints: ['end-session'],
    sharedErrors: ['invalid_request'],
    received: ({ received }) => received.id_token_hint,
    passes: ({ isHintAccepted }) => isHintAccepted,
  },
  {
    id: 'client',
    endpoints: EVERYWHERE,
    sharedErrors: ['invalid_client'],
    received: ({ clientId }) => clientId,
    passes: ({ isClientKnown }) => isClientKnown,
  },
  // The engine checks a client when it loads it. Whether that passes is asked of the engine, not of the request.
  { id: 'registration', endpoints: [...EVERYWHERE, 'register'] },
  {
    id: 'method',
    endpoints: AUTHENTICATED,
    sharedErrors: ['invalid_client'],
    received: ({ received }) => received.authentication,
    expected: ({ metadata }) => metadata?.token_endpoint_auth_method,
    passes: ({ received, metadata }) => metadata && received.authentication === metadata.token_endpoint_auth_method,
  },
  {
    id: 'assertion',
    endpoints: AUTHENTICATED,
    applies: usesAssertion,
    sharedErrors: ['invalid_client'],
    received: ({ message }) => message,
    expected: ({ clientId }) =>
      `a new JWT with iss and sub ${clientId ?? 'of the client'}, aud of this server, exp and jti (RFC 7523 3)`,
    passes: (request) => !usesAssertion(request),
  },
  {
    id: 'secret',
    endpoints: AUTHENTICATED,
    sharedErrors: ['invalid_client'],
    received: ({ received }) => (received.authentication === 'none' ? 'none' : '(not recorded)'),
    expected: () => 'stored as a hash',
  },
  {
    id: 'dpop',
    endpoints: ['par', 'token'],
    errors: ['invalid_dpop_proof', 'use_dpop_nonce'],
    received: ({ message }) => message,
    expected: () => 'a new proof for this request (RFC 9449 4.2)',
  },
  {
    id: 'request_uri',
    endpoints: ['authorize'],
    applies: ({ received }) => received.request_uri !== undefined,
    errors: ['invalid_request_uri', 'request_uri_not_supported'],
    received: ({ message }) => message,
    expected: () => 'the request_uri of a pushed request, once and in time (RFC 9126 4)',
  },
  {
    id: 'request_object',
    endpoints: ['authorize', 'par'],
    applies: ({ received }) => received.request !== undefined,
    errors: ['invalid_request_object', 'request_not_supported'],
    received: ({ message }) => message,
    expected: () => 'a JWT that the client signed for this server (RFC 9101 4)',
  },
  {
    id: 'hint',
    endpoints: ['authorize', 'par'],
    says: /id_token_hint/,
    applies: ({ received }) => received.id_token_hint !== undefined,
    received: ({ message }) => message,
  },
  {
    id: 'redirect_uri',
    endpoints: ['authorize', 'par'],
    errors: ['invalid_redirect_uri'],
    sharedErrors: ['invalid_request'],
    received: ({ received }) => received.redirect_uri,
    expected: ({ metadata, received: { redirect_uri } }) =>
      metadata?.redirect_uris &&
      [
        ...metadata.redirect_uris,
        ...(matchesAsNative(redirect_uri, metadata.redirect_uris) ? ['every port, with application_type native'] : []),
      ].join('\n'),
    passes: ({ received: { redirect_uri }, metadata }) =>
      metadata &&
      redirect_uri !== undefined &&
      ((metadata.redirect_uris ?? []).includes(redirect_uri) ||
        (metadata.application_type === 'native' && matchesAsNative(redirect_uri, metadata.redirect_uris))),
  },
  {
    id: 'response_type',
    endpoints: ['authorize', 'par'],
    errors: ['unsupported_response_type'],
    received: ({ received }) => received.response_type,
    expected: () => 'code',
    passes: ({ received, metadata }) => metadata && received.response_type === 'code',
  },
  {
    id: 'response_mode',
    endpoints: ['authorize', 'par'],
    errors: ['unsupported_response_mode'],
    received: ({ received }) => received.response_mode,
    expected: ({ metadata }) =>
      metadata?.response_modes?.join(' ') ?? 'query, fragment, form_post or one of them with .jwt',
  },
  {
    id: 'grant',
    endpoints: ['authorize', 'par', 'token', 'device'],
    errors: ['unauthorized_client', 'unsupported_grant_type'],
    says: /is not allowed for this client/,
    sharedErrors: ['invalid_request'],
    received: grantOf,
    expected: ({ metadata }) => metadata?.grant_types?.join(' '),
    passes: (request) => request.metadata && (request.metadata.grant_types ?? []).includes(grantOf(request) as never),
  },
  {
    id: 'pkce',
    endpoints: ['authorize', 'par'],
    sharedErrors: ['invalid_request'],
    received: ({ received: { code_challenge_method, code_challenge } }) =>
      [code_challenge_method, code_challenge].filter(Boolean).join(' ') || undefined,
    expected: ({ metadata }) => (metadata && !needsPkce(metadata) ? 'S256, or none' : 'S256, always'),
    passes: ({ received: { code_challenge_method, code_challenge = '' }, metadata }) =>
      metadata &&
      ((code_challenge_method === 'S256' && CHALLENGE.test(code_challenge)) ||
        (!needsPkce(metadata) && code_challenge_method === undefined && code_challenge === '')),
  },
  {
    id: 'post_logout_redirect_uri',
    endpoints: ['end-session'],
    sharedErrors: ['invalid_request'],
    received: ({ received }) => received.post_logout_redirect_uri,
    expected: ({ metadata }) => metadata?.post_logout_redirect_uris?.join('\n'),
    passes: ({ received: { post_logout_redirect_uri: uri }, metadata }) =>
      metadata && uri !== undefined ? (metadata.post_logout_redirect_uris ?? []).includes(uri) : undefined,
  },
  OTHER_PARAMETERS,
  ...(
    [
      ['code_client', /client mismatch/, undefined],
      ['code_redirect_uri', /redirect_uri/, 'authorization_code'],
      ['verifier', /code_verifier/, 'authorization_code'],
      ['refresh_token', /refresh token/, 'refresh_token'],
      ['device_code', /device code/, deviceCodeGrant],
      ['id_jag', /assertion/, idJagGrant],
      ['subject_token', /subject_token|actor_token|requested_token_type/, tokenExchangeGrant],
    ] as const
  ).map(
    ([id, says, grant]): RequestRule => ({
      id,
      says,
      endpoints: ['token'],
      applies: (request) => grant === undefined || grantOf(request) === grant,
      received: ({ message }) => message,
    }),
  ),
  {
    id: 'code',
    endpoints: ['token'],
    errors: ['invalid_grant'],
    received: ({ message }) => message,
  },
  {
    id: 'scope',
    endpoints: ['authorize', 'par', 'token'],
    errors: ['invalid_scope'],
    received: ({ received }) => received.scope,
    expected: ({ metadata }) => metadata && (metadata.scope ?? 'all of OpenID Connect, none of an API'),
    // Of the scopes of an API, the engine grants those that are registered and ignores the others.
    passes: ({ endpoint, received: { scope = '' }, metadata }) => {
      if (!metadata) return undefined;
      const asked = scope.split(' ');
      // Without a scope of a user, the APIs decide; a token about nobody needs none.
      if (endpoint !== 'token' && !asked.some((one) => userScopes(metadata).includes(one))) return undefined;
      if (metadata.scope === undefined) return true;
      const allowed = engineScope(metadata.scope).split(' ');
      return asked.every((one) => !engineScopes.includes(one) || allowed.includes(one));
    },
  },
  {
    id: 'resource',
    endpoints: ['authorize', 'par', 'token'],
    errors: ['invalid_target'],
    received: ({ received }) => received.resource,
    expected: ({ metadata }) => metadata && (metadata.resources?.join('\n') || 'none'),
    passes: ({ received: { resource }, metadata }) =>
      resource === undefined
        ? undefined
        : metadata && resource.split(' ').every((one) => includesResource(metadata.resources, one)),
  },
  ...accessRuleIds.map(
    (id): RequestRule => ({
      id,
      // The token endpoint says of this one alone that it is broken; after any other, the grant has ended.
      endpoints: id === 'network' ? ['authorize', 'par', 'token'] : ['authorize', 'par'],
      sharedErrors: ['access_denied'],
      applies: ({ metadata }) => accessRules[id].isSet(metadata ?? {}),
      received: ({ access }) => (access?.rule === id ? access.received : undefined),
      expected: ({ access }) => (access?.rule === id ? access.expected : undefined),
      passes: ({ access }) => access && (access.rule !== id || access.allowed),
    }),
  ),
  // Only where a check of this server reports them.
  { id: 'api_access', endpoints: ['authorize', 'token'], applies: () => false },
  { id: 'group', endpoints: ['authorize', 'token'], applies: () => false },
];

/**
 * The rules of a request that the engine rejected with this error code, in the order of its checks.
 *
 * @param reported the broken rule, if a check of this server has rejected the request
 */
export function evaluateRules(request: EvaluatedRequest, error: string, reported?: BrokenRule): RuleResult[] {
  const ofEndpoint = requestRules.filter(({ endpoints }) => endpoints.includes(request.endpoint));
  const brokenId = reported?.rule ?? brokenRuleId(request, error, ofEndpoint);
  const rules = ofEndpoint.filter(({ id, applies }) => id === brokenId || !applies || applies(request));
  const compared = new Map<RuleId, BrokenRule>();
  for (const { id, received, expected } of rules)
    compared.set(id, { rule: id, received: received?.(request), expected: expected?.(request) });
  const broken = reported ?? compared.get(brokenId) ?? { rule: brokenId };
  return ruleResults([...compared.keys()], broken, (id) => compared.get(id) ?? {});
}

/** Whether the request passes the rule with what is registered now; undefined where that cannot be evaluated. */
export function passesRule(rule: RuleId, request: EvaluatedRequest): boolean | undefined {
  return requestRules.find(({ id }) => id === rule)?.passes?.(request);
}

/**
 * The rule that the message names, else the one with this error code. Of those that share the code: the first that does not pass, else the
 * one that cannot be evaluated (a secret).
 */
function brokenRuleId(request: EvaluatedRequest, error: string, rules: readonly RequestRule[]): RuleId {
  const hasSeveralCauses = error === 'invalid_grant' || error === 'invalid_request';
  const sharing = rules.filter(({ sharedErrors }) => sharedErrors?.includes(error));
  const broken =
    (hasSeveralCauses && rules.find(({ says }) => says?.test(request.message))) ||
    rules.find(({ errors }) => errors?.includes(error)) ||
    sharing.find(({ passes }) => passes?.(request) === false) ||
    sharing.find(({ passes }) => !passes);
  return (broken || OTHER_PARAMETERS).id;
}
