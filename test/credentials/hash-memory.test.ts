// The memory of password hashes, in a process with the settings of the C library that `npm start` has.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
const HASH_MB = 19;

function settingsOfStart(): Record<string, string> {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  return Object.fromEntries([...scripts.start.matchAll(/(MALLOC_\w+)=(\d+)/g)].map(([, name, value]) => [name, value]));
}

describe.runIf(header.glibcVersionRuntime !== undefined)('the memory of password hashes', () => {
  it('is retained for the next hash, and goes back to the system when it is returned', () => {
    const args = ['--import', import.meta.resolve('tsx'), 'test/credentials/hash-memory.ts'];
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...settingsOfStart() },
    });
    expect(stderr).toBe('');
    const { before, retained, returned } = JSON.parse(stdout) as Record<string, number>;
    expect(retained, 'retained').toBeGreaterThan((before ?? 0) + HASH_MB - 4);
    expect(returned, 'returned').toBeLessThan((retained ?? 0) - HASH_MB + 4);
  });
});
