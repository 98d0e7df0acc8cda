// WORKERS=2: two processes behind one port are one server. They are replaced under load, and one is killed.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Application, anApplication, signIn } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { freePort, startIdp, type TestIdp } from '../support/idp.ts';
import { itInLongRun } from '../support/it-in-long-run.ts';
import { programArguments } from '../support/program.ts';
import { steadyLoad } from './load.ts';
import { type ServerProcess, serverProcess } from './support.ts';

let idp: TestIdp;
let app: Application;
let user: TestUser;
let browser: HttpClient;
let server: ServerProcess;
let metricsPort: number;
/** The process IDs after the workers were replaced. */
let serving: string[];
const agent = new http.Agent({ keepAlive: true });

beforeAll(async () => {
  idp = await startIdp();
  app = await anApplication(idp);
  user = await aUser(idp.services);
  await idp.stop();
  metricsPort = await freePort();
  const environment = { WORKERS: '2', METRICS_PORT: String(metricsPort), LOG_LEVEL: 'info' };
  server = await serverProcess({ ...idp.environment, ...environment });
  while (!server.printed().includes('2 workers are ready')) await sleep(50);
  // Connections that stay open, and new ones: the calls of the application have their own.
  browser = httpClient(idp.issuer, { agent });
  await signIn(browser, app, user, { scope: 'openid email offline_access' });
  return async () => {
    agent.destroy();
    await server.kill('SIGTERM');
  };
});

const workers = () =>
  execFileSync('pgrep', ['-P', String(server.pid)], { encoding: 'utf8' })
    .trim()
    .split('\n');
const metricsPage = () => httpClient(`http://127.0.0.1:${metricsPort}`).get('/metrics');
/** The workers that have served a code flow. */
async function workersInMetrics(): Promise<(string | undefined)[]> {
  const { text } = await metricsPage();
  const served = text.matchAll(/^gatehouse_http_request_duration_seconds_count\{worker="(\d)"/gm);
  return [...new Set([...served].map(([, number]) => number))].sort();
}
const countOf = (text: string) => server.printed().split(text).length - 1;

describe('a server with two workers', () => {
  it('signs in and redeems codes through both workers, whose metrics are on one port', async () => {
    const load = steadyLoad({ app, browser, lanes: 2 });
    await load.more(16);
    await load.end();
    expect(load.failures).toEqual([]);
    // Whichever worker is awake accepts a connection, so one may have had all so far: new ones come until both have served.
    const connectAgain = async () => {
      const connections = Array.from({ length: 8 }, () => signIn(httpClient(idp.issuer), app, user));
      for (const { tokens } of await Promise.all(connections)) expect(tokens).toMatchObject({ token_type: 'bearer' });
    };
    for (let rounds = 0; rounds < 20 && (await workersInMetrics()).length < 2; rounds += 1) await connectAgain();
    expect(await workersInMetrics()).toEqual(['1', '2']);
    const { text } = await metricsPage();
    expect(text.match(/^# TYPE gatehouse_http_request_duration_seconds /gm)).toHaveLength(1);
    expect(countOf('"worker":2')).toBeGreaterThan(0);
  });

  it('loses no request when SIGHUP replaces the workers under load', async () => {
    const before = workers();
    const load = steadyLoad({ app, browser, lanes: 2, pauseMs: 50 });
    await load.more(4);
    process.kill(server.pid, 'SIGHUP');
    await expect.poll(() => server.printed(), { timeout: 90_000 }).toContain('the workers were replaced');
    await load.more(10);
    await load.end();
    expect(load.failures).toEqual([]);
    // The old ones end when their connections have, which takes up to 70 s.
    serving = workers().filter((pid) => !before.includes(pid));
    expect(serving).toHaveLength(2);
  });

  it('replaces a worker that was killed, and serves meanwhile', async () => {
    process.kill(Number(serving[0]), 'SIGKILL');
    const signInAgain = async () => (await signIn(httpClient(idp.issuer), app, user)).tokens;
    expect(await signInAgain()).toMatchObject({ token_type: 'bearer' });
    await expect.poll(() => server.printed()).toContain('a worker ended, and another one is started');
    await expect.poll(() => countOf('"server.started"'), { timeout: 90_000 }).toBe(5);
    expect(await signInAgain()).toMatchObject({ token_type: 'bearer' });
  });

  itInLongRun('ends in order when it is stopped while a worker begins', async () => {
    const child = spawn(process.execPath, programArguments('main'), {
      env: { PATH: process.env.PATH, ...idp.environment, PORT: String(await freePort()), WORKERS: '2' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text;
    });
    const ended = once(child, 'exit');
    const hasWorker = () => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'latin1').trim() !== '';
    while (!hasWorker()) await sleep(5);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(errors).toBe('');
  });
});
