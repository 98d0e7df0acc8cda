// Why a sign-in at an upstream did not succeed: an error with a code for the person, and for administrators the broken rule with what was
// expected and received.
import { AppError, type ErrorCode } from '../base/http/errors.ts';
import type { RuleId } from '../core/rejections/rules.ts';

export interface UpstreamRejection {
  /** A sentence for administrators. */
  reason: string;
  /** The rule that was broken (core/rejections/rules.ts). */
  rule: RuleId;
  expected?: string | undefined;
  received?: string | undefined;
  /** The subject at the connection, and the account that it is about. */
  subject?: string | undefined;
  userId?: string | undefined;
}

/** A class of its own because it is recorded as a rejected sign-in (rejected-sign-ins.ts). */
export class FederationError extends AppError {
  override name = 'FederationError';
  readonly reason: string;
  readonly rule: RuleId;
  readonly expected: string | undefined;
  readonly received: string | undefined;
  readonly subject: string | undefined;
  readonly userId: string | undefined;

  constructor(code: ErrorCode, { cause, ...broken }: UpstreamRejection & { cause?: unknown }) {
    const { reason, rule, expected, received, subject, userId } = broken;
    super(code, { detail: { message: reason, expected, received }, ...(cause !== undefined && { cause }) });
    this.reason = reason;
    this.rule = rule;
    this.expected = expected;
    this.received = received;
    this.subject = subject;
    this.userId = userId;
  }
}
