// docs/rules.md names a test for every rule: the file is there, and one of its tests reads as that title.
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { hasTitle } from '../support/source/titles.ts';

const lines = readFileSync('docs/rules.md', 'utf8').match(/^\| (?!Rule|---).+$/gm) ?? [];

/** Why a row of the table names no test, or undefined when it does. */
function faultOf(row: string): string | undefined {
  const [, file = '', title = ''] = /^\| .+ \| `(test\/[^`]+)`: (.+) \|$/.exec(row) ?? [];
  if (!title) return `no file and title: ${row}`;
  if (!existsSync(file)) return `no such file: ${file}`;
  if (hasTitle(file, title)) return undefined;
  return `no such title in ${file}: ${title}`;
}

it('docs/rules.md names a test for each rule', () => {
  expect(lines.length).toBeGreaterThan(60);
  expect(lines.map(faultOf).filter((fault) => fault !== undefined)).toEqual([]);
});
