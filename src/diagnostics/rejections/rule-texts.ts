// The label and the explanation of each rule, and what a request that broke it did wrong, for administrators.

import { type Text, t, textAt } from '../../base/texts/text.ts';
import { NOT_STORED, type Rejection, type RejectionEndpoint } from '../../core/rejections/rejections.ts';
import type { RuleId } from '../../core/rejections/rules.ts';
import { isDocumentUrl } from '../../protocols/oidc/client-documents.ts';
import { isWithoutToken } from './agents.ts';

/** What a sign-in at an upstream begins with is no message of its own. */
const keyOf = (rule: RuleId, endpoint: RejectionEndpoint) =>
  rule === 'replay' && endpoint === 'upstream' ? 'upstream-replay' : rule;

export const ruleLabel = (rule: RuleId, endpoint: RejectionEndpoint): Text =>
  t(`console.rejections.rule.${keyOf(rule, endpoint)}`);

/** Where an answer of an identity provider breaks the rule, and not a request of an application. */
const OF_UPSTREAMS = ['certificate', 'destination', 'secret', 'signature'] as const;

/** Absent where its label says everything. */
export function ruleExplanation(rule: RuleId, endpoint: RejectionEndpoint): Text | undefined {
  const ofUpstream = endpoint === 'upstream' ? OF_UPSTREAMS.find((one) => one === rule) : undefined;
  if (ofUpstream) return t(`console.rejections.explanation.upstream-${ofUpstream}`);
  return textAt(`console.rejections.explanation.${rule}`);
}

/** Why the request was rejected, in one sentence. What a library or the other server said is among the details for developers. */
export function rejectionText({
  endpoint,
  reason,
  received,
  message = '',
  rules,
}: Pick<Rejection, 'endpoint' | 'reason' | 'received' | 'rules'> & Partial<Pick<Rejection, 'message'>>): Text {
  if (reason === NOT_STORED) return t('console.rejections.failed.unstored', { count: Number(received.count) });
  const failed = rules.find(({ state }) => state === 'failed');
  if (endpoint === 'register' && isWithoutToken(message)) return t('console.rejections.failed.without-token');
  if ((failed?.rule === 'client' || failed?.rule === 'registration') && isDocumentUrl(received.client_id ?? ''))
    return t(`console.rejections.failed.document-${failed.rule}`);
  return t(`console.rejections.failed.${failed ? keyOf(failed.rule, endpoint) : 'other'}`);
}
