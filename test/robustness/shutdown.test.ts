// The server as a supervisor runs it: `npm start`, which gets the signals, and must not leave a server behind.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectSqlite } from '../../src/base/storage/sqlite/connections.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
let npm: ChildProcess;
let printed: string;

beforeAll(async () => {
  if (!existsSync('dist/main.js')) throw new Error('run npm run build first');
  idp = await startIdp();
  await idp.stop();
});
afterEach(() => {
  // Its own process group, so that a server that was left behind ends too.
  if (npm?.pid && npm.exitCode === null) process.kill(-npm.pid, 'SIGKILL');
});

/** `npm start` without the build before it, which `npm test` has done. Resolves when the server is ready. */
async function npmStart(
  environment: Record<string, string>,
  isReady = async () => printed.includes('Gatehouse is ready'),
): Promise<void> {
  npm = spawn('npm', ['start', '--ignore-scripts'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...idp.environment, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  printed = '';
  npm.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  while (!(await isReady())) {
    if (npm.exitCode !== null) throw new Error(`npm start ended with ${npm.exitCode}:\n${printed}`);
    await sleep(5);
  }
}

/** The exit code of npm, once it and everything that it started have closed the standard output. */
async function ended(): Promise<number | null> {
  const [code] = (await once(npm, 'close')) as [number | null];
  return code;
}

describe('the server', () => {
  it('ends the server when SIGTERM reaches npm alone, after /readyz has answered 503 for DRAIN_SECONDS', async () => {
    await npmStart({ TRUST_PROXY: '1', DRAIN_SECONDS: '1' });
    const client = httpClient(`http://127.0.0.1:${idp.port}`);
    const host = { headers: { host: new URL(idp.issuer).host } };
    expect((await client.get('/readyz', host)).status).toBe(200);
    const closed = ended();
    npm.kill('SIGTERM');
    await expect.poll(async () => (await client.get('/readyz', host)).status).toBe(503);
    const jwks = await client.get('/jwks', host);
    expect([jwks.status, jwks.headers.connection]).toEqual([200, 'close']);
    expect(await closed).toBe(0);
    expect(printed).toContain('"msg":"stopped"');
  });

  it('ends in order after a SIGTERM that comes as soon as /readyz answers', async () => {
    const readyz = new URL(`http://127.0.0.1:${idp.port}/readyz`);
    await npmStart({}, () =>
      fetch(readyz).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const closed = ended();
    npm.kill('SIGTERM');
    expect(await closed).toBe(0);
    expect(printed).toContain('"msg":"stopped"');
  });

  it('ends in order after a Ctrl-C, which reaches the server from the terminal and from npm', async () => {
    await npmStart({});
    const closed = ended();
    process.kill(-(npm.pid ?? expect.fail()), 'SIGINT');
    expect(await closed).toBe(0);
    expect(printed).toContain('"msg":"stopped"');
  });

  it('ends at once at a second signal', async () => {
    await npmStart({ DRAIN_SECONDS: '600' });
    const closed = ended();
    npm.kill('SIGTERM');
    await expect.poll(() => printed).toContain('"seconds":600');
    await sleep(600); // a signal within half a second is the same one, passed on by npm
    npm.kill('SIGTERM');
    expect(await closed).toBe(130);
  });

  it('ends with 1 when the database could not be written any more after the server had begun to listen', async () => {
    const database = await connectSqlite((idp.environment.DATABASE_URL ?? '').slice('file:'.length));
    await database.executeScript(
      "CREATE TRIGGER no_more BEFORE INSERT ON audit_events BEGIN SELECT RAISE(ABORT, 'no more events'); END",
    );
    await database.dispose();
    await expect(npmStart({})).rejects.toThrow(/npm start ended with 1:.*no more events/s);
  });
});
