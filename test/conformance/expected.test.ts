// The list of expected results, and how a run is compared with it (npm run conformance).
import { readFileSync } from 'node:fs';
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

describe('docs/conformance.md', () => {
  const text = readFileSync('docs/conformance.md', 'utf8');
  const kinds = ['warning', 'review', 'skipped', 'failed'];
  const rows = [...text.matchAll(/^\| ([^|]+) \| (\d+) of (\d+) \| (.*) \|$/gm)].map(
    ([, name = '', passed, modules, others = '']) => ({
      name,
      passed: Number(passed),
      modules: Number(modules),
      others: kinds.map((kind) => Number(new RegExp(`(\\d+) ${kind}`).exec(others)?.[1] ?? 0)),
    }),
  );

  it('has a result of every plan, with the counts of expected-results.json', () => {
    expect(rows.map(({ name }) => name)).toEqual(plans.map(({ name }) => name));
    for (const { name, passed, modules, others } of rows) {
      expect(passed + others.reduce((sum, count) => sum + count, 0), name).toBe(modules);
      const listed = readExpected().filter((one) => one.plans.includes(name));
      expect(others, name).toEqual(
        kinds.map((kind) => listed.filter((one) => one.result === kind.toUpperCase()).length),
      );
    }
  });

  it('names the commit and the release of the suite that compose.yaml starts', () => {
    expect(text).toMatch(/commit `[0-9a-f]{40}`/);
    const [, release] = /conformance-suite:(\S+)$/m.exec(readFileSync('test/conformance/compose.yaml', 'utf8')) ?? [];
    expect(text).toContain(`Suite \`${release}\``);
  });
});
