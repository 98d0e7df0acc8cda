// The build has to be there: `npm test` makes it first.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { sourceStack } from '../../src/base/platform/source-stack.ts';

// Chunks of the build before are there too, but not in this list.
const { current } = JSON.parse(readFileSync('dist/build.json', 'utf8')) as { current: string[] };
const bundled = current.filter((file) => /^server.*\.js$/.test(file)).map((file) => path.resolve('dist', file));

/** The number of the only line with this text. */
function lineOf(file: string, text: string): number {
  const lines = readFileSync(file, 'utf8').split('\n');
  const found = [...lines.keys()].filter((index) => lines[index]?.includes(text));
  expect(found).toHaveLength(1);
  return (found[0] ?? 0) + 1;
}

/** A line of a stack trace with the position of this text in the bundle. */
function frame(text: string): string {
  const file = bundled.find((name) => readFileSync(name, 'utf8').includes(text)) ?? expect.fail(`no file has ${text}`);
  return `    at work (${pathToFileURL(file)}:${lineOf(file, text)}:9)`;
}

describe('the stack trace of a logged error', () => {
  it.each([
    ['src/server/start.ts', 'function beginStart('],
    ['src/server/stop.ts', 'server.announceStop();'],
    ['src/protocols/saml/metadata/parse.ts', 'function readWithSamlify('],
    ['src/base/storage/seen-ids.ts', 'function isFirstUse('],
  ])('names the line in %s instead of the one in the bundle', (source, text) => {
    expect(sourceStack(`Error: wrong\n${frame(text)}`)).toBe(
      `Error: wrong\n    at work (${source}:${lineOf(source, text)})`,
    );
  });

  it('names each of its lines', () => {
    const stack = sourceStack(`${frame('function beginStart(')}\n${frame('server.announceStop();')}`);
    expect(stack).toMatch(/src\/server\/start\.ts:\d+\)\n.*src\/server\/stop\.ts:\d+\)$/);
  });

  it.each([
    ['of a module of Node', 'at node:internal/process/task_queues:95:5'],
    ['of a file that was not bundled', `at work (${pathToFileURL(path.resolve('build/main.js'))}:3:1)`],
  ])('leaves a position %s as it is', (_case, position) => {
    expect(sourceStack(position)).toBe(position);
  });
});
