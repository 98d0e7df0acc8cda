// docs/security.md names the test files that prove each promise.
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const [, list = ''] = /^## Promises and their tests$([\s\S]*)/m.exec(readFileSync('docs/security.md', 'utf8')) ?? [];
const rows = (list.match(/^- .+$/gm) ?? []).map((row) => ({
  row,
  files: [...row.matchAll(/`(test[^`]+)`/g)].map(([, file = '']) => file),
}));

it('each promise of docs/security.md has a test file', () => {
  expect(rows.length).toBeGreaterThan(40);
  expect(rows.filter(({ files }) => files.length === 0).map(({ row }) => row)).toEqual([]);
});

it('docs/security.md names test files that exist', () => {
  const files = rows.flatMap((row) => row.files);
  expect(files.filter((file) => !/^test\/.+\.test\.ts$/.test(file) || !existsSync(file))).toEqual([]);
});
