// Why a sign-in at an upstream did not succeed: a code for the person, and for administrators the broken rule with what was
// expected and received.
import type { RuleId } from '../core/rejections/rules.ts';

/** Each has its text in base/http/errors.ts. */
export type FederationFault =
  | 'upstream_unavailable'
  | 'upstream_denied'
  | 'upstream_answer_invalid'
  | 'upstream_signature_invalid'
  | 'upstream_encryption_not_accepted'
  | 'upstream_no_identity'
  | 'upstream_not_allowed'
  | 'upstream_not_fresh'
  | 'connection_disabled'
  | 'upstream_other_account'
  | 'upstream_other_user'
  | 'identity_taken'
  | 'not_invited'
  | 'address_in_use'
  | 'account_inactive';

export interface FaultDetail {
  /** A sentence for administrators. */
  message: string;
  /** The rule that was broken (core/rejections/rules.ts). */
  rule: RuleId;
  expected?: string | undefined;
  received?: string | undefined;
  /** The subject at the connection, and the account that it is about. */
  subject?: string | undefined;
  userId?: string | undefined;
  cause?: unknown;
}

export class FederationError extends Error {
  override name = 'FederationError';
  readonly code: FederationFault;
  readonly rule: RuleId;
  readonly expected: string | undefined;
  readonly received: string | undefined;
  readonly subject: string | undefined;
  readonly userId: string | undefined;

  constructor(code: FederationFault, { message, rule, expected, received, subject, userId, cause }: FaultDetail) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.rule = rule;
    this.expected = expected;
    this.received = received;
    this.subject = subject;
    this.userId = userId;
  }
}
