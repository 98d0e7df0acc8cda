// The command line as a shell sees it: exit codes, streams, and JSON that a script can read.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { some } from '../support/long-run.ts';
import { programArguments } from '../support/program.ts';
import { commandLine } from './support.ts';

let cli: Awaited<ReturnType<typeof commandLine>>;
beforeAll(async () => {
  cli = await commandLine();
});
afterAll(() => cli.close());

describe('the server program', () => {
  const started = (...words: string[]) =>
    spawnSync(process.execPath, [...programArguments('main'), ...words], { encoding: 'utf8' });

  it('prints its help with --help, and does not start', () => {
    const { status, stdout, stderr } = started('--help');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('GATEHOUSE_SECRET');
  });

  it('ends with 2 and a sentence at an argument that it does not know', () => {
    for (const word of some(1, ['--port=80', 'nonsense'])) {
      const { status, stdout, stderr } = started(word);
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^gatehouse serve: .+\nRun: gatehouse serve --help\n$/);
    }
  });
});

describe('the process', () => {
  it('ends with 0 and prints nothing but the result', async () => {
    writeFileSync(
      path.join(cli.folder, 'gh.yaml'),
      'users: [{ username: alice, password: a long pass phrase that is fine }]',
    );
    const { code, out, err } = await cli.process(['apply', 'gh.yaml', '--json']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toMatchObject({ applied: true, create: [{ section: 'users', name: 'alice' }] });
  });

  it('ends with 1 when the command fails', async () => {
    writeFileSync(path.join(cli.folder, 'bad.yaml'), 'user: []');
    const { code, out, err } = await cli.process(['apply', 'bad.yaml']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe('bad.yaml:1:1: user isn’t a known field. Did you mean users?\n');
  });

  it('prints an error as one JSON object with --json', async () => {
    const { code, out, err } = await cli.process(['apply', 'bad.yaml', '--json']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    const error = 'bad.yaml:1:1: user isn’t a known field. Did you mean users?';
    expect(JSON.parse(err)).toEqual({ error, faults: [error], command: 'apply' });
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  it('ends with 1 and one line when a setting is wrong', async () => {
    const { code, out, err } = await cli.process(['user', 'list'], { env: { PORT: 'x' } });
    expect({ code, out, err }).toEqual({
      code: 1,
      out: '',
      err: 'PORT: found "x"; allowed: a whole number from 1 to 65535\n',
    });
  });

  it('ends with 2 when it is called wrongly', async () => {
    expect(await cli.process(['user', 'list', '--wrong'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('--wrong'),
    });
    expect(await cli.process([])).toMatchObject({ code: 2, out: '' });
  });

  it('ends with 1 and one line when its output cannot be written', async () => {
    const commands: string[][] = [['export'], ['user', 'list', '--json'], ['doctor'], ['--help']];
    for (const args of some(2, commands)) {
      const { code, err } = await cli.process(args, { outputFile: '/dev/full' });
      expect({ code, err }).toEqual({
        code: 1,
        err: 'gatehouse: the output cannot be written: ENOSPC: no space left on device, write\n',
      });
    }
  });

  it('reads a password from its standard input', async () => {
    const { code, out } = await cli.process(['user', 'add', 'bob', '--password-stdin', '--json'], {
      stdin: 'horses that write batteries\n',
    });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ id: expect.any(String), username: 'bob' });
  });
});
