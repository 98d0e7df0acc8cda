// The list of expected results, and how a run is compared with it (npm run conformance).
import { describe, expect, it } from 'vitest';
import { disagreements, type Expected, readExpected } from './expected.ts';
import { plans } from './plans.ts';

const entry: Expected = {
  plans: ['Basic'],
  module: 'prompt-login',
  result: 'WARNING',
  conditions: ['CheckClaims'],
  reason: 'known',
};
const outcome = { plan: 'Basic', module: 'prompt-login', result: 'WARNING', conditions: ['CheckClaims'] };

describe('the expected results of the conformance suite', () => {
  it('name plans that exist, with a reason each', () => {
    const names = plans.map(({ name }) => name);
    for (const { plans: own, reason } of readExpected()) {
      expect(names).toEqual(expect.arrayContaining(own));
      expect(reason).not.toBe('');
    }
  });

  it('agree with a run that has passed, or ended as it is listed', () => {
    const passed = { ...outcome, module: 'other', result: 'PASSED', conditions: [] };
    expect(disagreements([outcome, passed], [entry])).toEqual([]);
  });

  it.each([
    ['another result', { result: 'FAILED' }],
    ['another condition', { conditions: ['CheckClaims', 'CheckScopes'] }],
    ['an interrupted module', { result: 'INTERRUPTED' }],
    ['another plan', { plan: 'Form Post' }],
  ])('disagree with a run that has %s', (_what, other) => {
    const [fault] = disagreements([{ ...outcome, ...other }], [entry]);
    expect(fault).toContain('prompt-login is');
  });

  it('disagree with a run in which what is listed did not happen', () => {
    const [fault] = disagreements([{ ...outcome, result: 'PASSED', conditions: [] }], [entry]);
    expect(fault).toContain('remove it from expected-results.json');
  });
});
