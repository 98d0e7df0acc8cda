// What a start prints beside the log.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../src/platform/logger.ts';
import { announce, firstAdminBox, terminalOf } from '../../src/server/announce.ts';
import { freePort } from '../support/idp.ts';
import { programArguments } from '../support/program.ts';

const never = new Promise<never>(() => {});

it('a first start ends with a box that holds the address of the console, the username and the password', async () => {
  const log: string[] = [];
  const logger = createLogger({
    level: 'error',
    format: 'json',
    destination: { write: (line) => void log.push(line) },
  });
  const firstAdmin = { username: 'admin', password: 'for-now' };
  const server = { url: 'https://id.example.com', firstAdmin, firstJobs: Promise.resolve() };
  announce(server, logger);
  const lines = (await firstAdminBox(server, never))?.trim().split('\n');
  expect(lines).toEqual([
    '┌───────────────────────────────────────────────────────────────────┐',
    '│  Console              https://id.example.com/admin                │',
    '│  First administrator  username admin, temporary password for-now  │',
    '└───────────────────────────────────────────────────────────────────┘',
  ]);
  // Once: no log has the password.
  expect(log.join('')).toContain('Gatehouse is ready at https://id.example.com');
  expect(log.join('')).not.toContain('for-now');
  expect([terminalOf({ logFormat: 'pretty' }), terminalOf({ logFormat: 'json' })]).toEqual([
    process.stdout,
    process.stderr,
  ]);
  // A signal does not lose a password that is stored.
  expect(await firstAdminBox({ ...server, firstJobs: never }, Promise.resolve())).toContain('for-now');
  expect(await firstAdminBox({ ...server, firstAdmin: undefined, firstJobs: never }, never)).toBeUndefined();
});

it.each(['1', '2'])(
  'nothing is printed after the box, with WORKERS=%s',
  async (workers) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-box-'));
    const port = String(await freePort());
    const environment = { DATA_DIR: folder, PORT: port, ISSUER: `http://localhost:${port}`, LOG_FORMAT: 'pretty' };
    const child = spawn(process.execPath, programArguments('main'), {
      env: { PATH: process.env.PATH, ...environment, WORKERS: workers },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
    await expect.poll(() => printed, { timeout: 60_000 }).toContain('First administrator');
    // Jobs log within two seconds of a start.
    await sleep(4000);
    const [, afterBox] = printed.split('┘');
    expect(afterBox?.trim()).toBe('');
    if (workers === '2') expect(printed).toContain('2 workers are ready');
  },
  90_000,
);
