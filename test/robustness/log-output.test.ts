// A log that cannot be written, because the disk of its file is full.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { logOutput } from '../../src/base/platform/logger.ts';
import { freePort } from '../support/idp.ts';
import { some } from '../support/long-run.ts';
import { programArguments } from '../support/program.ts';

function fileDescriptor(file: string): number {
  const descriptor = openSync(file, 'w');
  onTestFinished(() => closeSync(descriptor));
  return descriptor;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it.each(some(1, ['json', 'pretty']))(
  'a server whose %s log cannot be written serves and stops as usual',
  async (format) => {
    const port = String(await freePort());
    const child = spawn(process.execPath, programArguments('main'), {
      env: {
        PATH: process.env.PATH,
        DATA_DIR: temporaryFolder(),
        PORT: port,
        ISSUER: `http://localhost:${port}`,
        LOG_FORMAT: format,
      },
      // The box of the first administrator is on the terminal, which is standard output with LOG_FORMAT=pretty.
      stdio: ['ignore', fileDescriptor('/dev/full'), 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let errors = '';
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      errors += text;
    });
    const ended = once(child, 'exit');
    const status = () =>
      fetch(`http://localhost:${port}/readyz`).then(
        (answer) => answer.status,
        () => `no answer; ${child.exitCode} ${errors}`,
      );
    await expect.poll(status).toBe(200);
    // Jobs log within two seconds of a start, and each rejected request does.
    await fetch(`http://localhost:${port}/authorize?client_id=nobody`);
    expect(await status()).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(errors).not.toContain('ENOSPC');
  },
  90_000,
);

it('lines arrive in order, whatever their length', async () => {
  const file = path.join(temporaryFolder(), 'log');
  const output = logOutput(4096, fileDescriptor(file));
  const lines = Array.from({ length: 500 }, (_, index) => `${index} ${'ü'.repeat(index * 7)}\n`);
  for (const line of lines) output.write(line);
  await expect.poll(() => readFileSync(file, 'utf8').length).toBe(lines.join('').length);
  expect(readFileSync(file, 'utf8')).toBe(lines.join(''));
});

it('what waits is written at exit, unless the disk is full', () => {
  const file = path.join(temporaryFolder(), 'log');
  for (const name of [file, '/dev/full']) {
    const output = logOutput(4096, fileDescriptor(name));
    output.write('the last line\n');
    output.flushSync();
  }
  expect(readFileSync(file, 'utf8')).toBe('the last line\n');
});
