// A rule of a protocol that a request broke, as the code that decided reports it.
import { hasText, type NamesBelow } from '../../base/texts/text.ts';

/** Every rule that a rejection can name: each has a label for administrators (diagnostics/rejections/rule-texts.ts). */
export type RuleId = Exclude<NamesBelow<'console.rejections.rule'>, 'upstream-replay'>;
export const isRuleId = (text: string): text is RuleId => hasText(`console.rejections.rule.${text}`);

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
