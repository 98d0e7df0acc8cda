// The database away for a while (in `npm run test:long` for longer than a refresh token may be retried): PostgreSQL that is silent, and a SQLite
// file that another process has locked. No chain of refresh tokens ends, and a server that is stopped meanwhile ends within its limit.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { connectSqlite } from '../../src/base/storage/sqlite/connections.ts';
import { type Application, anApplication, authorizeUrl, postAs, signIn } from '../oidc/support.ts';
import { serverProcess } from '../robustness/support.ts';
import { databaseKind, testDatabase } from '../support/database/database.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { isLongRun } from '../support/long-run.ts';
import { tcpProxy } from './tcp-proxy.ts';

const faults = databaseKind() === 'postgresql' ? (['silent', 'refused'] as const) : (['silent'] as const);
const CHAINS = 12;
const OUTAGE_SECONDS = isLongRun ? 35 : 7;

interface Fault {
  begin(): Promise<void>;
  end(): Promise<void>;
}

let idp: TestIdp;
let app: Application;
/** An application that its user may not open. */
let closed: Application;
let browser: HttpClient;
let silent: Fault;
let refused: Fault;
let tokens: string[];

beforeAll(async () => {
  const database = await testDatabase({ keysFrom: new Date() });
  await database.close();
  const url = databaseKind() === 'postgresql' ? await behindProxy(database.url) : await withLock(database.url);
  idp = await startIdp({ environment: { DATABASE_URL: url } });
  await idp.services.settings.set('rate_limits', false);
  app = await anApplication(idp);
  const user = await aUser(idp.services);
  closed = await anApplication(idp, { access: { roles: ['admin'] } });
  browser = httpClient(idp.issuer);
  await signIn(browser, app, user);
  tokens = await Promise.all(Array.from({ length: CHAINS }, () => newChain(user)));
  await idp.stop();
});

async function behindProxy(direct: string): Promise<string> {
  const url = new URL(direct);
  const proxy = await tcpProxy(Number(url.port));
  url.port = String(proxy.port);
  silent = {
    begin: async () => proxy.silenceAll(),
    end: async () => {
      proxy.resetConnections();
      await proxy.serve();
    },
  };
  refused = { begin: proxy.refuse, end: proxy.serve };
  return url.href;
}

async function withLock(url: string): Promise<string> {
  const other = await connectSqlite(url.slice('file:'.length));
  silent = { begin: () => other.executeScript('BEGIN IMMEDIATE'), end: () => other.executeScript('ROLLBACK') };
  refused = silent;
  return url;
}

async function newChain(user: Awaited<ReturnType<typeof aUser>>): Promise<string> {
  const scope = { scope: 'openid offline_access', prompt: 'consent' };
  const { tokens: issued } = await signIn(httpClient(idp.issuer), app, user, scope);
  return issued.refresh_token ?? '';
}

const refresh = (token: string) => postAs(idp, app, '/token', { grant_type: 'refresh_token', refresh_token: token });

/** Uses a chain until the time has come, with the same token until its successor arrives; returns the last token and each status. */
async function use(token: string, until: number): Promise<{ token: string; statuses: Set<number> }> {
  const statuses = new Set<number>();
  let current = token;
  while (performance.now() < until) {
    const answer = await refresh(current);
    statuses.add(answer.status);
    if (answer.status === 200) current = String(answer.json().refresh_token);
    await sleep(answer.status === 200 ? 20 : 500);
  }
  return { token: current, statuses };
}

describe('an outage of the database', () => {
  it('ends no chain of refresh tokens, however long it lasts', async () => {
    const server = await serverProcess(idp.environment);
    const until = performance.now() + (OUTAGE_SECONDS + 3) * 1000;
    const chains = Promise.all(tokens.map((token) => use(token, until)));
    await sleep(1000);
    await silent.begin();
    await sleep(OUTAGE_SECONDS * 1000);
    await silent.end();
    const used = await chains;
    expect(new Set(used.flatMap(({ statuses }) => [...statuses]))).toEqual(new Set([200, 503]));
    const working = async (token: string) => {
      await expect.poll(async () => (await refresh(token)).status, { interval: 500 }).not.toBe(503);
      return (await refresh(token)).status;
    };
    expect(await Promise.all(used.map(({ token }) => working(token)))).toEqual(tokens.map(() => 200));
    expect(await server.kill('SIGTERM')).toEqual({ code: 0 });
  });

  // A SQLite file has one fault.
  it.for(faults)('does not prevent a stop in order when it is %s', async (fault) => {
    const stopping = await serverProcess(idp.environment);
    // The second rejection is only counted, and its number is written at the stop.
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const page = await browser.get(authorizeUrl(idp, closed.clientId), { headers: { accept: 'text/html' } });
      expect((await browser.follow(page)).status).toBe(403);
    }
    const begin = { silent, refused }[fault];
    await begin.begin();
    const failing = Promise.allSettled(tokens.map(refresh));
    await sleep(500);
    const started = performance.now();
    const { code } = await stopping.kill('SIGTERM');
    const seconds = (performance.now() - started) / 1000;
    await begin.end();
    await failing;
    expect(stopping.printed()).toContain('the numbers of repeated audit entries are not written');
    expect(code).toBe(0);
    expect(seconds).toBeLessThan(limits.http.drainSeconds + limits.http.closeSeconds);
  });
});
