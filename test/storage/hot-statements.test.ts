// docs/performance.md lists every hot statement with its measured gain, and nothing else.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { comparisons } from '../../bench/support/statements.ts';
import type { Database } from '../../src/base/storage/database.ts';
import { filesUnder } from '../support/source/imports.ts';

/** `domain.action` of each statement that src names. */
function namedInSource(): string[] {
  const sources = filesUnder('src', '.ts').map((file) => readFileSync(file, 'utf8'));
  return sources.flatMap((source) =>
    [...source.matchAll(/(?:hot|remote)Statements\('([\w-]+)', \{\n([\s\S]*?)\n\}\)/g)].flatMap(
      ([, domain, body = '']) => [...body.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => `${domain}.${name}`),
    ),
  );
}

function listedInDocument(): string[] {
  const [, section = ''] =
    /^## Hot statements$([\s\S]*?)(?=^## )/m.exec(readFileSync('docs/performance.md', 'utf8')) ?? [];
  return [...section.matchAll(/^\| ([\w-]+\.\w+) \|/gm)].map(([, name = '']) => name);
}

describe('the benchmark of statements', () => {
  it('lists every hot statement in docs/performance.md', () => {
    expect(listedInDocument().sort()).toEqual(namedInSource().sort());
  });

  it('measures every hot statement beside Prisma', () => {
    // Only the names are read: no statement runs.
    const measured = comparisons({} as Database).map(({ name }) => name);
    expect(measured.sort()).toEqual(namedInSource().sort());
  });

  it('gives no two statements one name', () => {
    expect(new Set(namedInSource()).size).toBe(namedInSource().length);
  });
});
