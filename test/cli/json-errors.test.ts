// With --json, an error of any kind is one JSON object on standard error, so that a script reads it as it reads a result.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CallOptions, commandLine } from './support.ts';

let cli: Awaited<ReturnType<typeof commandLine>>;
beforeAll(async () => {
  cli = await commandLine();
});
afterAll(() => cli.close());

async function failed(args: string[], options?: CallOptions) {
  const { code, out, err } = await cli.gatehouse(args, options);
  expect(out).toBe('');
  return { code, ...JSON.parse(err) };
}

it('a wrong call is an object with the advice, and exit code 2', async () => {
  expect(await failed(['user', 'list', '--wrong', '--json'])).toEqual({
    code: 2,
    error: "Unknown option '--wrong'",
    command: 'user list',
    advice: 'Run: gatehouse user list --help',
  });
  expect(await failed(['user', 'nothing', '--json'])).toMatchObject({
    code: 2,
    error: 'there is no command "user nothing"',
    advice: 'Run: gatehouse --help',
  });
  // A command without --json rejects it in the form that was asked for.
  expect(await failed(['user', 'export', 'ann', '--json'])).toMatchObject({
    code: 2,
    error: "Unknown option '--json'",
  });
});

it('a wrong environment is an object that names each fault', async () => {
  const env = { PORT: 'x', GATEHOUSE_SECRETS: 'y' };
  const { code, error, faults } = await failed(['user', 'list', '--json'], { env });
  expect(code).toBe(1);
  expect(faults).toEqual([expect.stringMatching(/^GATEHOUSE_SECRETS: found/), expect.stringMatching(/^PORT: found/)]);
  expect(error).toBe(faults.join('\n'));
});

it('what is not found, or breaks a rule, is an object', async () => {
  expect(await failed(['user', 'show', 'nobody', '--json'])).toEqual({
    code: 1,
    command: 'user show',
    error: 'There is no user "nobody". To see all users, run: gatehouse user list',
  });
  expect(await failed(['app', 'add', '--redirect-uri', 'http://shop.example/cb', '--json'])).toMatchObject({
    code: 1,
    command: 'app add',
    type: 'invalid_input',
    errors: [{ path: 'redirect_uris[0]', code: 'https', message: expect.stringContaining('must be https') }],
  });
});

/** A start narrows the mode of the file and warns. */
function readableSecret() {
  const folder = path.join(cli.folder, 'data');
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'secret.key');
  writeFileSync(file, Buffer.alloc(32, 5).toString('base64url'));
  chmodSync(file, 0o644);
  return { GATEHOUSE_SECRET: '' };
}

it('warnings and progress from before the error are in it', async () => {
  const env = readableSecret();
  const { notes } = await failed(['user', 'add', 'ann', '--email', 'nowhere', '--json'], { env });
  expect(notes).toEqual([expect.stringMatching(/^warning: .*secret\.key/)]);
  const file = path.join(cli.folder, 'none.db');
  expect(await failed(['verify', file, '--json'])).toMatchObject({ code: 1, error: expect.stringContaining(file) });
});

it('after a result they are printed as without --json', async () => {
  const { code, out, err } = await cli.gatehouse(['user', 'add', 'ann', '--json'], {
    env: readableSecret(),
  });
  expect({ code, user: JSON.parse(out) }).toEqual({ code: 0, user: expect.anything() });
  expect(err).toMatch(/^warning: .*secret\.key.*\n$/);
});

it('another secret than that of the database is one sentence without a stack', async () => {
  expect((await cli.gatehouse(['user', 'add', 'eve', '--email', 'eve@example.com'])).code).toBe(0);
  const env = { GATEHOUSE_SECRET: Buffer.alloc(32, 9).toString('base64url') };
  expect(await failed(['user', 'list', '--json'], { env })).toEqual({
    code: 1,
    error: expect.stringMatching(/^encrypted with a secret \(.*\) that GATEHOUSE_SECRET no longer holds: add the old/),
    command: 'user list',
  });
});
