// Rejected requests of websites, under a reference that the page displays: what a proxy asked, and the rule that it broke.

import type { Context } from '../../base/http/context.ts';
import { BoundedMap } from '../../base/platform/bounded-map.ts';
import type { Core } from '../../core/core.ts';
import { type BrokenRule, type RuleId, ruleResults } from '../../core/rejections/rules.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { People } from '../../people/people.ts';
import type { AskedRequest } from './asked-request.ts';

/** The rules in the order of their checks: of each request, and then of a page, of a program or of the end of a sign-in. */
const OF_ALL = ['question', 'denied_network', 'client'] as const;
const ORDERS = {
  page: [...OF_ALL, 'path', 'same_origin', 'access', 'network', 'level', 'path_rule'],
  program: [...OF_ALL, 'path', 'same_origin', 'credential', 'access', 'network', 'connection', 'path_rule', 'level'],
  'sign-in': [...OF_ALL, 'state', 'browser', 'sign_in', 'code', 'level'],
} satisfies Record<string, RuleId[]>;

export interface RejectedQuestion extends BrokenRule {
  reason: string;
  /** A sentence for administrators. */
  message: string;
  /** Undefined where the headers do not say which page it is about. */
  asked?: AskedRequest | undefined;
  account?: Account | undefined;
  /** Absent: a page. */
  of?: keyof typeof ORDERS;
}

/** A page has many requests, and a proxy asks about each: the same one has the same reference for this long. */
const SAME_MS = 60_000;
const MAX_KEPT = 1000;

/**
 * Records a rejected request, and returns its reference. How many are stored for one address is limited (limits.rejections), and equal
 * ones within a minute are one.
 */
export function createRejectedQuestions({ rejections, now }: Core & People) {
  const kept = new BoundedMap<string, { code: string; until: number }>(MAX_KEPT);

  return function recordRejection({ state: { request } }: Context, rejected: RejectedQuestion): string {
    const { reason, message, asked, account, of = 'page', rule, received, expected } = rejected;
    const key = [request.address, account?.id, asked?.origin, asked?.path, rule, received].join(' ').slice(0, 2000);
    const at = now().getTime();
    const known = kept.get(key);
    if (known && known.until > at) return known.code;
    const code = rejections.record(request, {
      endpoint: 'website',
      reason,
      message,
      clientId: asked?.origin,
      subjectId: account?.id,
      received: {
        ...(asked && { address: asked.origin, method: asked.method, path: asked.path }),
        ...(account && { user: account.username }),
        ip: request.address,
      },
      rules: ruleResults(ORDERS[of], { rule, received, expected }),
    });
    kept.set(key, { code, until: at + SAME_MS });
    return code;
  };
}
