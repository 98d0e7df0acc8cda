// A rule of a protocol that a request broke, as the code that decided reports it.

/** Every rule that a rejection can name. Their texts are in diagnostics/rejections/rule-texts.ts. */
export const ruleIds = [
  'access',
  'account',
  'acs',
  'address',
  'algorithm',
  'allow_create',
  'answer',
  'api_access',
  'assertion',
  'audience',
  'base64',
  'binding',
  'browser',
  'canonicalization',
  'certificate',
  'charset',
  'claim',
  'client',
  'code',
  'code_client',
  'code_redirect_uri',
  'compression',
  'conditions',
  'confirmation',
  'connection',
  'context',
  'context_declaration',
  'credential',
  'decryption',
  'denied_network',
  'destination',
  'device_code',
  'digest',
  'digest_algorithm',
  'dpop',
  'email',
  'encryption',
  'form',
  'fresh',
  'grant',
  'group',
  'hint',
  'id_jag',
  'in_response_to',
  'issuer',
  'kind',
  'level',
  'method',
  'name_id',
  'network',
  'nonce',
  'parameters',
  'passive',
  'path',
  'path_rule',
  'pkce',
  'post_logout_redirect_uri',
  'principal',
  'qualifier',
  'question',
  'recipient',
  'redirect_uri',
  'reference',
  'refresh_token',
  'registration',
  'replay',
  'request',
  'request_object',
  'request_uri',
  'resource',
  'response_mode',
  'response_type',
  'same_origin',
  'schema',
  'scim_address',
  'scim_filter',
  'scim_owner',
  'scim_request',
  'scim_resource',
  'scim_unique',
  'scim_version',
  'scope',
  'secret',
  'sender',
  'session',
  'session_end',
  'sign_in',
  'signature',
  'signature_form',
  'signature_place',
  'signed',
  'signing_key',
  'size',
  'state',
  'statement',
  'status',
  'subject',
  'subject_token',
  'tenant',
  'time',
  'token_key',
  'token_signature',
  'userinfo',
  'verifier',
  'version',
  'xml',
] as const;
export type RuleId = (typeof ruleIds)[number];

export interface BrokenRule {
  rule: RuleId;
  received?: string | undefined;
  /** What is registered, or what the protocol demands. */
  expected?: string | undefined;
}

export interface RuleResult extends BrokenRule {
  /** `unknown`: the request was rejected before this rule was reached. */
  state: 'passed' | 'failed' | 'unknown';
}

/**
 * Every rule of a request, in the order in which they are checked: those before the broken one passed.
 * `valuesOf` returns what was received and expected for a rule that was not broken, where that is known.
 */
export function ruleResults(
  order: readonly RuleId[],
  brokenRule: BrokenRule,
  valuesOf: (rule: RuleId) => Omit<BrokenRule, 'rule'> = () => ({}),
): RuleResult[] {
  const failedAt = order.indexOf(brokenRule.rule);
  return order.map((rule, at): RuleResult => {
    if (at === failedAt) return { ...brokenRule, state: 'failed' };
    return { rule, ...valuesOf(rule), state: at < failedAt ? 'passed' : 'unknown' };
  });
}
