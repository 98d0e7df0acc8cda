// The server as a supervisor runs it: `node dist/main.js`, which gets the signals.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectSqlite } from '../../src/base/storage/sqlite/connections.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { itInLongRun } from '../support/it-in-long-run.ts';

let idp: TestIdp;
let server: ChildProcess;
let printed: string;

beforeAll(async () => {
  if (!existsSync('dist/main.js')) throw new Error('run npm run build first');
  idp = await startIdp();
  await idp.stop();
});
afterEach(() => {
  server?.kill('SIGKILL');
});

/** Resolves when the server is ready. */
async function start(
  environment: Record<string, string>,
  isReady = async () => printed.includes('Gatehouse is ready'),
): Promise<void> {
  server = spawn(process.execPath, ['dist/main.js'], {
    env: { ...idp.environment, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  printed = '';
  server.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  while (!(await isReady())) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}:\n${printed}`);
    await sleep(5);
  }
}

/** The exit code, once the standard output is closed. */
async function ended(): Promise<number | null> {
  const [code] = (await once(server, 'close')) as [number | null];
  return code;
}

describe('the server', () => {
  it('ends after a SIGTERM, after /readyz has answered 503 for DRAIN_SECONDS', async () => {
    await start({ TRUST_PROXY: '1', DRAIN_SECONDS: '1' });
    const client = httpClient(`http://127.0.0.1:${idp.port}`);
    const host = { headers: { host: new URL(idp.issuer).host } };
    expect((await client.get('/readyz', host)).status).toBe(200);
    const closed = ended();
    server.kill('SIGTERM');
    await expect.poll(async () => (await client.get('/readyz', host)).status).toBe(503);
    const jwks = await client.get('/jwks', host);
    expect([jwks.status, jwks.headers.connection]).toEqual([200, 'close']);
    expect(await closed).toBe(0);
    expect(printed).toContain('"msg":"stopped"');
  });

  itInLongRun('ends in order after a SIGTERM that comes as soon as /readyz answers', async () => {
    const readyz = new URL(`http://127.0.0.1:${idp.port}/readyz`);
    await start({}, () =>
      fetch(readyz).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const closed = ended();
    server.kill('SIGTERM');
    expect(await closed).toBe(0);
    expect(printed).toContain('"msg":"stopped"');
  });

  it('ends in order after a Ctrl-C', async () => {
    await start({});
    const closed = ended();
    server.kill('SIGINT');
    expect(await closed).toBe(0);
    expect(printed).toContain('"msg":"stopped"');
  });

  itInLongRun('ends at once at a second signal', async () => {
    await start({ DRAIN_SECONDS: '600' });
    const closed = ended();
    server.kill('SIGTERM');
    await expect.poll(() => printed).toContain('"seconds":600');
    await sleep(600); // a signal within half a second is the same one, passed on by npm as well
    server.kill('SIGTERM');
    expect(await closed).toBe(130);
  });

  it('ends with 1 when the database could not be written any more after the server had begun to listen', async () => {
    const database = await connectSqlite((idp.environment.DATABASE_URL ?? '').slice('file:'.length));
    await database.executeScript(
      "CREATE TRIGGER no_more BEFORE INSERT ON audit_events BEGIN SELECT RAISE(ABORT, 'no more events'); END",
    );
    await database.dispose();
    await expect(start({})).rejects.toThrow(/the server ended with 1:.*no more events/s);
  });
});
