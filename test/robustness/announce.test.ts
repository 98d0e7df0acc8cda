// What a start prints beside the log.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, type TestContext } from 'vitest';
import { createLogger } from '../../src/base/platform/logger.ts';
import { announce, firstAdminBox, terminalOf } from '../../src/server/announce.ts';
import { testDatabase } from '../support/database/database.ts';
import { freePort } from '../support/idp.ts';
import { itInLongRun } from '../support/it-in-long-run.ts';
import { some } from '../support/long-run.ts';
import { programArguments } from '../support/program.ts';
import { testSecret } from '../support/secret.ts';

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

/** A first start; `printed` is both of its streams. */
function firstStart(context: TestContext, environment: Record<string, string>) {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-box-'));
  const child = spawn(process.execPath, programArguments('main'), {
    env: { PATH: process.env.PATH, DATA_DIR: folder, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  context.onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  return { pid: child.pid ?? 0, ended, printed: () => printed };
}

const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    .split(' ')
    .filter((one) => one !== '');

/** An address of its own, and a database with signing keys, which take seconds to make. */
async function ownAddressAndDatabase() {
  const port = String(await freePort());
  const { url, close } = await testDatabase({ keysFrom: new Date() });
  await close();
  const GATEHOUSE_SECRET = testSecret.toString('base64url');
  return { PORT: port, ISSUER: `http://localhost:${port}`, DATABASE_URL: url, GATEHOUSE_SECRET };
}

it.concurrent.for(some(1, ['2', '1']))(
  'nothing is printed after the box, with WORKERS=%s',
  { timeout: 90_000 },
  async (workers, context) => {
    const { expect } = context;
    const { printed } = firstStart(context, {
      ...(await ownAddressAndDatabase()),
      LOG_FORMAT: 'pretty',
      WORKERS: workers,
    });
    await expect.poll(printed).toContain('First administrator');
    // Jobs log within two seconds of a start.
    await sleep(4000);
    const [, afterBox] = printed().split('┘');
    expect(afterBox?.trim()).toBe('');
    if (workers === '2') expect(printed()).toContain('2 workers are ready');
  },
);

itInLongRun.concurrent(
  'a start says so when its first worker is killed, and the next one prints the box',
  async (context) => {
    const { expect } = context;
    const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-killed-start-'));
    const environment = { ...(await ownAddressAndDatabase()), LOG_FORMAT: 'json', WORKERS: '2', DATA_DIR: folder };
    const first = firstStart(context, environment);
    await expect.poll(() => childrenOf(first.pid), { interval: 5 }).toHaveLength(1);
    process.kill(Number(childrenOf(first.pid)[0]), 'SIGKILL');
    expect(await first.ended).toEqual([1, null]);
    expect(first.printed()).toMatch(
      /"level":"error".*"worker":1,"signal":"SIGKILL","msg":"a worker was ended by a signal during its start"/,
    );
    const { printed } = firstStart(context, environment);
    await expect.poll(printed).toContain('First administrator');
  },
  90_000,
);

it.concurrent('the box is printed once when the worker that made the first administrator is killed as soon as it is ready', async (context) => {
  const { expect } = context;
  const { pid, printed } = firstStart(context, {
    ...(await ownAddressAndDatabase()),
    LOG_FORMAT: 'json',
    WORKERS: '2',
  });
  await expect.poll(printed, { interval: 5 }).toContain('Gatehouse is ready');
  process.kill(Number(childrenOf(pid)[0]), 'SIGKILL');
  await expect.poll(printed).toContain('2 workers are ready');
  await expect.poll(printed).toContain('First administrator');
  await sleep(1000);
  expect(printed().split('First administrator')).toHaveLength(2);
}, 90_000);
