// docs/rules.md names a test for every rule: the file is there and holds that title.
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const rows = [...readFileSync('docs/rules.md', 'utf8').matchAll(/^\| (.+) \| `(test\/[^`]+)`: (.*) \|$/gm)];
const lines = readFileSync('docs/rules.md', 'utf8').match(/^\| (?!Rule|---).+$/gm) ?? [];

it('has a test in every row', () => {
  expect(rows).toHaveLength(lines.length);
  expect(rows.length).toBeGreaterThan(60);
});

it.each(rows.map(([, rule, file, title]) => [rule, file, title]))('%s: %s', (_rule, file = '', title = '') => {
  expect(existsSync(file)).toBe(true);
  expect(title).not.toBe('');
  expect(readFileSync(file, 'utf8').replaceAll("\\'", "'")).toContain(title);
});
