// docs/rules.md names the file of a test for every rule.
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const rows = readFileSync('docs/rules.md', 'utf8').match(/^\| (?!Rule|---).+$/gm) ?? [];

it('docs/rules.md names an existing test file for each rule', () => {
  const missing = rows.filter((row) => !existsSync(/ \| `(test\/[^`]+\.ts)` \|$/.exec(row)?.[1] ?? ''));
  expect(rows.length).toBeGreaterThan(60);
  expect(missing).toEqual([]);
});
