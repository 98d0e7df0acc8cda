// The limits of V8's memory, in a process of its own because flags are of the whole process.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-memory-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Bundles the program as the server is, because a loader of TypeScript would use memory before the limit is set; returns what it prints. */
function run(program: string): Record<string, number> {
  const outfile = path.join(folder, 'program.mjs');
  buildSync({ entryPoints: [program], outfile, bundle: true, platform: 'node', format: 'esm' });
  const { stdout, stderr } = spawnSync(process.execPath, [outfile], { encoding: 'utf8', env: {} });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describe('the space for young objects', () => {
  it('has its limit from the start, shrinks in an idle process, and grows to its limit again at work', () => {
    const { limited, idle, atWork, afterWork } = run('test/platform/young-objects.ts');
    expect(limited, 'after the limit was set').toBe(16);
    expect(idle, 'in an idle process').toBeLessThan(8);
    expect(afterWork, 'after work').toBe(16);
    expect(atWork, 'at work').toBe(16);
  });
});
