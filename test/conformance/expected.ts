// Compares the results with the committed list of those that are not a plain pass, each with its reason.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const entry = z.strictObject({
  /** The name of one plan, or several. */
  plans: z.array(z.string()),
  module: z.string(),
  result: z.enum(['WARNING', 'REVIEW', 'SKIPPED', 'FAILED']),
  /** The conditions of the suite that warn or fail, all of them. */
  conditions: z.array(z.string()).default([]),
  reason: z.string(),
});
export type Expected = z.output<typeof entry>;

/** What one module of a plan ended with. */
export interface Outcome {
  plan: string;
  module: string;
  result: string;
  /** The conditions that warned or failed. */
  conditions: string[];
}

export function readExpected(): Expected[] {
  const file = path.join(import.meta.dirname, 'expected-results.json');
  return z.array(entry).parse(JSON.parse(readFileSync(file, 'utf8')));
}

/** One line for each outcome that is neither a pass nor in the list, and for each entry of the list that did not happen. */
export function disagreements(outcomes: readonly Outcome[], expected: readonly Expected[]): string[] {
  const matches = (one: Expected, { plan, module }: Outcome) => one.plans.includes(plan) && one.module === module;
  const unexpected = outcomes
    .filter(({ result }) => result !== 'PASSED')
    .filter((outcome) => !expected.some((one) => matches(one, outcome) && isSame(one, outcome)))
    .map(({ plan, module, result, conditions }) => `${plan}: ${module} is ${result} (${conditions.join(', ')})`);
  const unused = expected.flatMap((one) =>
    one.plans
      .filter((plan) => outcomes.some((outcome) => outcome.plan === plan && outcome.module === one.module))
      .filter(
        (plan) => !outcomes.some((outcome) => outcome.plan === plan && matches(one, outcome) && isSame(one, outcome)),
      )
      .map((plan) => `${plan}: ${one.module} is not ${one.result} any more; remove it from expected-results.json`),
  );
  return [...unexpected, ...unused];
}

function isSame({ result, conditions }: Expected, outcome: Outcome): boolean {
  if (result !== outcome.result) return false;
  const found = [...new Set(outcome.conditions)].sort();
  return JSON.stringify([...conditions].sort()) === JSON.stringify(found);
}
