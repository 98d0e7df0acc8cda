// `gatehouse upgrade check` as an operator reads it: the last line, the exit code and the fields of --json. storage/released.test.ts has
// the migrations.
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandLine } from './support.ts';

let cli: Awaited<ReturnType<typeof commandLine>>;
beforeAll(async () => {
  cli = await commandLine();
  expect((await cli.gatehouse(['user', 'list'])).code).toBe(0);
  // A start creates the data keys and the first rows.
  expect((await cli.gatehouse(['user', 'add', 'ann', '--password-stdin'], { stdin: 'horses that write' })).code).toBe(
    0,
  );
});
afterAll(() => cli.close());

const check = (...args: string[]) => cli.gatehouse(['upgrade', 'check', ...args]);
const lastLine = (text: string) => text.trim().split('\n').at(-1);

it('warns in the last line when there is no backup', async () => {
  const { code, out } = await check();
  expect({ code, result: lastLine(out) }).toEqual({
    code: 0,
    result: 'Ready, but without a backup: create one with gatehouse backup FILE. Nothing changed.',
  });
  const report = JSON.parse((await check('--json')).out);
  expect(report).toMatchObject({
    ok: true,
    backup: null,
    errors: [],
    warnings: ['no backup is recorded: create one with gatehouse backup FILE'],
  });
});

it('reports a variable that does not exist as an error, as doctor does', async () => {
  const env = { GATEHOUSE_SECRETS: 'x', PORT: 'y' };
  const faults = [expect.stringMatching(/^GATEHOUSE_SECRETS: found a variable/), expect.stringMatching(/^PORT: found/)];
  const json = await cli.gatehouse(['upgrade', 'check', '--json'], { env });
  expect({ code: json.code, err: json.err, report: JSON.parse(json.out) }).toEqual({
    code: 1,
    err: '',
    report: expect.objectContaining({ ok: false, configuration: faults, errors: faults, database: null }),
  });
  const text = await cli.gatehouse(['upgrade', 'check'], { env });
  expect(text).toMatchObject({ code: 1, err: '' });
  expect(text.out).toMatch(/^ERROR: GATEHOUSE_SECRETS: found/m);
  expect(lastLine(text.out)).toBe("Don't start this version yet. Nothing changed.");
});

it('is ready without a warning when a backup is recorded or named', async () => {
  const file = path.join(cli.folder, 'backup');
  expect((await cli.gatehouse(['backup', file])).code).toBe(0);
  for (const args of [[], ['--backup', file]]) {
    const { code, out } = await check(...args);
    expect({ code, result: lastLine(out) }).toEqual({ code: 0, result: 'Ready to upgrade. Nothing changed.' });
    expect(JSON.parse((await check(...args, '--json')).out)).toMatchObject({ ok: true, warnings: [] });
  }
});
