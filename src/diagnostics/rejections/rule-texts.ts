// The label and the explanation of each rule, and what a request that broke it did wrong, for administrators.
import type { Rejection } from '../../rejections/rejections.ts';
import type { RuleId } from '../../rejections/rules.ts';
import { type Text, t } from '../../texts/text.ts';

/** Those that say more than their label. */
const EXPLAINED = [
  'account',
  'acs',
  'address',
  'answer',
  'binding',
  'certificate',
  'code',
  'compression',
  'destination',
  'digest',
  'email',
  'fresh',
  'pkce',
  'post_logout_redirect_uri',
  'qualifier',
  'redirect_uri',
  'secret',
  'signature',
  'signature_place',
  'time',
] as const;

export const ruleLabel = (rule: RuleId): Text => t(`console.rejections.rule.${rule}`);

export function ruleExplanation(rule: RuleId): Text | undefined {
  const explained = EXPLAINED.find((one) => one === rule);
  return explained && t(`console.rejections.explanation.${explained}`);
}

/** Why the request was rejected, in one sentence. What a library or the other server said is among the details for developers. */
export function rejectionText({ rules }: Pick<Rejection, 'rules'>): Text {
  const failed = rules.find(({ state }) => state === 'failed');
  return t(`console.rejections.failed.${failed?.rule ?? 'other'}`);
}
